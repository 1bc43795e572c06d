"""Lesson 4's game: a child knows its prompt and the file that this names, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.games.be_the_model.panel import BeTheModel
from learnkit.course.lab import Lab
from learnkit.course.lessons.s04 import be_the_parent as game


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, no_thread_is_left: None) -> Any:
    monkeypatch.setenv("LEARNKIT_WORKBOOK", str(tmp_path))
    made = lk.lesson("s04")
    yield made
    made.remove()


def played(lab: Lab, *prompts: str, answer: str = "It was 89.7 °F.") -> BeTheModel:
    """A game in which a learner calls task with each prompt, and then answers."""
    lab.static = False
    made = lab.be_the_model(game.game())
    made.start()
    for prompt in prompts:
        assert made.phase == "yours"
        made.answer(lk.use("task", prompt=prompt, description="mean"))
    assert made.phase == "yours"
    made.answer(lk.say(answer))
    assert made.phase == "ended"
    return made


def test_the_script_fails_first_and_then_wins(lab: Lab) -> None:
    made = lab.be_the_model(game.game())
    (lacks, first), (nothing, second) = game.told(made.messages)
    assert lacks == ["the unit", "-9999 is no reading", "0.8 too high"]
    assert first == "The mean of cairo is -2475.1 °C, from 4 readings."
    assert (nothing, second) == ([], f"The mean of cairo is {game.RIGHT}, from 3 readings.")
    assert str(made.remarks[0]) == "✓ 89.7 °F is right, with 2 prompts."


@pytest.mark.slow
@pytest.mark.parametrize(
    "prompt",
    [
        "Mean of stations/cairo.csv in °F; follow docs/rules.md.",
        "cairo: leave out -9999, subtract 0.8 from the mean, convert to Fahrenheit",
        "cairo's mean as °f, without -9,999, less 1.44 °F",
    ],
)
def test_the_rules_reach_a_child_in_either_way(lab: Lab, prompt: str) -> None:
    made = played(lab, prompt)
    assert str(made.remarks[0]) == "✓ 89.7 °F is right, with 1 prompt."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "lacks", "found"),
    [
        (game.QUESTION, "-9999 is no reading and 0.8 too high", "-4423.2 °F"),
        ("docs/rules.md, in °F", "the station", "°F"),
        ("Cairo. Follow docs/rules.md.", "the unit", "32.0 °C"),
    ],
)
def test_what_a_prompt_leaves_out_is_assumed(lab: Lab, prompt: str, lacks: str, found: str) -> None:
    first, heard, listens = played(lab, prompt).remarks
    assert first.good is False
    assert f"{found} isn't right: the prompt left out “" in first.text
    assert heard.text.startswith(f"Child 1 didn't know {lacks}, and reported: The mean of ")
    listed = [line.strip().partition(": ") for line in listens.text.splitlines()[1:]]
    assert " and ".join(fact for fact, _, _ in listed) == lacks
    for fact, _, words in listed:  # what it lists is what a child hears
        shown = [word for word in words.split(", ") if "/" not in word]
        assert all(re.search(game.FACTS[fact][0], word) for word in shown)


def test_a_right_report_and_no_child_at_all_are_told_apart(lab: Lab) -> None:
    prompt = "Mean of stations/cairo.csv in °F; follow docs/rules.md."
    first, *_ = played(lab, prompt, answer="It was hot.").remarks
    assert str(first) == "✗ A report was right, but your answer was: It was hot."
    assert [str(one) for one in played(lab).remarks] == ["✗ No child was asked."]
    assert played(lab, "").remarks[0].good is False


@pytest.mark.parametrize(
    ("said", "lacks"),
    [
        ("calculate the mean if you can", [*game.FACTS]),
        ("Cairo: multiply by 1.8, add 32; in °F, without -9999", ["0.8 too high"]),
        ("Cairo in F, 10.8 or 0.85, and -9999", ["0.8 too high"]),
        ("Cairo in °F, not in °C; don't count -9999. Never add 0.8: subtract it.", []),
    ],
)
def test_a_fact_is_heard_in_its_words(said: str, lacks: list[str]) -> None:
    assert game.lacking(said) == lacks

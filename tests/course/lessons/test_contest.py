"""Lesson 5's contest: two rounds that differ in the descriptions, and a score for each."""

from __future__ import annotations

import pytest

from learnkit.course.lessons.s05 import contest
from learnkit.course.lessons.s05.contest import ROUNDS, SKILLS, Contest


def press(shown: Contest, skill: str) -> None:
    shown.buttons["abcde"[list(SKILLS).index(skill)]].click()


def html(shown: Contest) -> str:
    return "\n".join(getattr(child, "value", "") for child in shown.box.children)


def test_each_skill_is_right_once_in_each_round() -> None:
    for one in ROUNDS:
        assert sorted(one.tasks.values()) == sorted(SKILLS)
    first, second = ROUNDS
    assert list(first.tasks.values()) != list(second.tasks.values())  # or the order would tell
    assert not {*first.tasks} & {*second.tasks}


def test_one_task_after_the_other_and_nothing_is_told_before_the_end() -> None:
    shown = Contest()
    first, second = ROUNDS
    for number, task in enumerate(first.tasks, start=1):
        assert shown.task == task
        assert f"Round 1: vague descriptions. Task {number} of 5" in html(shown)
        assert SKILLS["style"][0] in html(shown)
        press(shown, "style")
    for task, skill in second.tasks.items():
        assert shown.task == task
        assert "right" not in html(shown)
        assert SKILLS["style"][0] not in html(shown)
        press(shown, skill)
    said = html(shown)
    assert shown.task == ""
    assert "Vague descriptions: 1 of 5 right; clear descriptions: 5 of 5 right." in said
    assert said.count("✗ style, but ") == 4
    assert said.count("✓") == 6


def test_an_answer_counts_once() -> None:
    shown = Contest()
    button = shown.buttons["a"]
    button.click()
    button.click()  # a second click of a mouse, before the page has changed
    assert shown.task == list(ROUNDS[0].tasks)[1]


@pytest.mark.parametrize("one", ROUNDS)
def test_without_a_page_everything_can_be_read(one: contest.Round) -> None:
    card = contest.contest()
    assert card.text == "contest: 2 rounds of 5 tasks"
    for text in (*(texts[one.place] for texts in SKILLS.values()), *one.tasks):
        assert text.replace("'", "&#x27;") in card.html.replace("&#39;", "&#x27;")

"""Lesson 6's table of facts: which words count, and what a mark says when it is pointed at."""

from __future__ import annotations

import pytest

from learnkit.course.lessons.s06.shown import own_runs, survivors


@pytest.mark.parametrize(
    ("text", "fact", "found"),
    [
        ("Omit 36 (sensor on car).", "no day 36", True),
        ("Exclude the 36th (sensor was on a car).", "no day 36", True),
        ("Day 36 invalid: Charlie's car.", "no day 36", True),
        ("Day 36 doesn't count.", "no day 36", True),
        ("Drop day 36, ignore its log.", "no day 36", True),
        ("Days 34 to 36 are read. Nothing was left out.", "no day 36", False),
        ("Don't grep.", "… as grep mixes them", True),
        ("grep mixes units.", "… as grep mixes them", True),
        ("No grep over several logs.", "… as grep mixes them", True),
        ("grep gave 90.5.", "… as grep mixes them", False),
        ("Report in whole °C.", "in °C", True),
        ("Report in Celsius.", "in °C", True),
        ("Convert °F.", "in °C", False),
    ],
)
def test_a_fact_is_found_by_the_words_for_it(text: str, fact: str, found: bool) -> None:
    assert (fact not in survivors({"you": [text]}).text) == found


def test_a_mark_in_an_open_notebook_says_by_which_words_it_was_found() -> None:
    live = survivors({"you": ["Omit 36."]}).live
    assert live is not None
    picture = live()["text/html"]
    assert "<title>you 1: no day 36: “Omit 36”</title>" in picture
    assert "<title>you 1: round down: not found (down, floor, truncate)</title>" in picture


def test_what_the_lesson_says_of_the_recorded_summaries() -> None:
    plain, detailed = own_runs().values()
    text = survivors({"plain": plain, "detailed": detailed}).text
    assert text == (
        "plain: missing … for the display 3× and … as grep mixes them 3×.\n"
        "detailed: missing … as grep mixes them 2×."
    )

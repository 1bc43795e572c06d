"""Lesson 10's explorable: with ids, each answer reaches its request, as the tracker has it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cells import cells

from learnkit.backends.files.tracker import Tracker
from learnkit.course.lessons.s10.explorable import (
    ORDERS,
    PLANS,
    WITH,
    WITHOUT,
    draw,
    reaches,
)
from learnkit.views.drawing.display import NARROW, WIDE


@pytest.mark.parametrize("order", ORDERS)
def test_the_tracker_closes_each_request_with_its_own_answer(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    tracker = Tracker(tmp_path / "requests.json", lambda: datetime(2026, 1, 1, tzinfo=UTC))
    ids = [tracker.open("plan", plan.name, "lead", plan.does).id for plan in PLANS]
    for number in order:
        approved = PLANS[number].approved
        tracker.answer(ids[number], "lead", "approved" if approved else "rejected")
    got = reaches(order, WITH)
    for number, id in enumerate(ids):
        assert (tracker.get(id).state == "approved") == PLANS[got[number]].approved


@pytest.mark.parametrize("order", ORDERS)
def test_without_ids_a_queue_of_answers_goes_to_a_queue_of_questions(
    order: tuple[int, ...],
) -> None:
    answers = [PLANS[number].approved for number in order]
    got = reaches(order, WITHOUT)
    for number in range(len(PLANS)):  # the first plan takes the first answer
        assert PLANS[got[number]].approved == answers.pop(0)
    wrong = [n for n, plan in enumerate(PLANS) if PLANS[got[n]].approved != plan.approved]
    answer = draw(WIDE, order)
    for way, failed in ((WITHOUT, wrong), (WITH, [])):
        marks = [answer.canvas[f"plan {way} {plan.id}"].mark for plan in PLANS]
        assert [n for n, mark in enumerate(marks) if mark == "failed"] == failed
    assert answer.canvas[f"cell {ORDERS.index(order)}"].mark == ("failed" if wrong else "done")
    assert ("deletes the archive" in answer.finding) == (2 in wrong)


def test_the_titles_count_what_the_question_asks_for() -> None:
    said = [draw(WIDE, order).finding for order in ORDERS]
    assert sum("deletes the archive" in one for one in said) == 4
    assert sum(one.startswith("Every plan gets the right word") for one in said) == 1
    assert sum(one.startswith("Every plan gets its own answer") for one in said) == 1
    sources = [cell.source for cell in cells("s10")]
    question = sources[sources.index("lab.explore()") - 1]
    assert "how many orders does every plan get the right word" in question
    assert "And its own answer?" in question


def test_two_equal_answers_that_are_swapped_do_no_harm() -> None:
    assert draw(WIDE, (1, 0, 2)).finding == (
        "Every plan gets the right word by luck: Alice and Bob get each other's “ok”."
    )


@pytest.mark.parametrize("width", [WIDE, 600, 599, NARROW])
def test_there_is_room_for_the_lines_between_the_columns(width: float) -> None:
    canvas = draw(width, ORDERS[1]).canvas
    plan, answer = canvas[f"plan {WITHOUT} r1"], canvas[f"answer {WITHOUT} r1"]
    assert answer.x - (plan.x + plan.width) >= 40

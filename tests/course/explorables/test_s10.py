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
    ids = [tracker.open("plan", plan.teammate, "lead", plan.does).id for plan in PLANS]
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
    answer = draw(WIDE, order, WITHOUT)
    marks = [answer.canvas[f"plan {plan.id}"].mark for plan in PLANS]
    assert [n for n, mark in enumerate(marks) if mark == "failed"] == wrong
    assert ("deletes the archive" in answer.finding) == (2 in wrong)


def test_in_four_of_six_orders_the_archive_is_deleted_and_with_ids_in_none() -> None:
    deleted = [order for order in ORDERS if "deletes" in draw(WIDE, order, WITHOUT).finding]
    assert len(deleted) == 4
    assert len({draw(WIDE, order, WITH).finding for order in ORDERS}) == 1


def test_each_order_without_ids_says_itself_what_is_counted_with_ids() -> None:
    """Who counts the titles comes to the numbers that the picture says with ids."""
    said = [draw(WIDE, order, WITHOUT).finding for order in ORDERS]
    right = [one for one in said if one.startswith("Every plan gets the right word")]
    own = [one for one in said if one.startswith("Every plan gets its own answer")]
    (because,) = {draw(WIDE, order, WITH).because for order in ORDERS}
    assert {draw(WIDE, order, WITHOUT).because for order in ORDERS} == {""}
    assert f"the right word in {len(right) + len(own)} of the 6 orders" in because
    assert f"its own answer in {len(own)}." in because


def test_the_question_asks_for_the_counts_that_the_picture_says() -> None:
    sources = [cell.source for cell in cells("s10")]
    question = sources[sources.index("lab.explore()") - 1]
    assert "how many orders does every plan get the right word" in question
    assert "And its own answer?" in question


def test_two_equal_answers_that_are_swapped_do_no_harm() -> None:
    assert draw(WIDE, (1, 0, 2), WITHOUT).finding == (
        "Every plan gets the right word by luck: alice and bob get each other's “ok”."
    )


@pytest.mark.parametrize("width", [WIDE, 560, 559, NARROW])
def test_there_is_room_for_the_lines_between_the_columns(width: float) -> None:
    canvas = draw(width, ORDERS[1], WITHOUT).canvas
    plan, answer = canvas["plan r1"], canvas["answer r1"]
    assert answer.x - (plan.x + plan.width) >= 60

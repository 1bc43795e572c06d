"""Lesson 9's explorable: what it loses is what a real file loses, and a real mailbox doesn't."""

from __future__ import annotations

from pathlib import Path

import pytest

import learnkit as lk
from learnkit.course.lessons.s09.explorable import (
    EMPTY,
    LOCKED,
    ORDERS,
    OWNER,
    READ,
    UNLOCKED,
    WRITERS,
    day,
    draw,
    explorable,
    losing,
)
from learnkit.views.drawing.display import NARROW, WIDE
from learnkit.widget.explore import Answer


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
def test_a_real_file_loses_the_same_messages(tmp_path: Path, order: tuple[str, ...]) -> None:
    path = tmp_path / "inbox"
    path.touch()
    got: list[str] = []
    played = day(order, UNLOCKED)
    for step, moment in zip(order, played.moments, strict=True):
        if step == READ:
            got = path.read_text().split()
        elif step == EMPTY:
            path.write_text("")
        else:
            with path.open("a") as file:
                file.write(f"{step}\n")
        assert moment.step == step
        assert tuple(path.read_text().split()) == moment.inbox
    assert tuple(got) == played.got
    assert played.lost == tuple(n for n in WRITERS if n not in {*got, *path.read_text().split()})


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
def test_a_mailbox_keeps_what_came_in_between(tmp_path: Path, order: tuple[str, ...]) -> None:
    box = lk.Mailbox(tmp_path)
    box.open(OWNER)
    inbox = box.reader(OWNER)
    played = day(order, LOCKED)
    got: list[str] = []
    for moment in played.moments:
        if moment.step == READ:  # and empties: one step under its lock
            taken = inbox.take()
            got = [message.content for message in taken]
        elif moment.step != EMPTY:
            box.send(moment.step, OWNER, moment.step)
    left = [message.content for message in inbox.look()]
    assert tuple(got) == played.got
    assert played.lost == ()
    assert sorted([*got, *left]) == sorted(WRITERS)
    between = set(order[order.index(READ) + 1 : order.index(EMPTY)])
    assert {moment.step for moment in played.moments if moment.waited} == between


def test_all_orders_are_there_once_and_half_of_them_lose_something() -> None:
    assert len(ORDERS) == len(set(ORDERS)) == 12
    assert losing(UNLOCKED) == 6
    assert losing(LOCKED) == 0
    lost = [bool(day(order, UNLOCKED).lost) for order in ORDERS]
    assert lost == sorted(lost)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_picture_says_which_message_is_lost(width: float) -> None:
    for order in ORDERS:
        answer = draw(width, order, UNLOCKED)
        played = day(order, UNLOCKED)
        marks = {name: answer.canvas[f"step {name}"].mark for name in WRITERS}
        assert {name for name, mark in marks.items() if mark == "failed"} == set(played.lost)
        ghosts = {one.lines[0][2:] for one in answer.canvas.shapes if one.style == "dlq"}
        assert ghosts == set(played.lost), "what is lost stays as a ghost"
        xs = [answer.canvas[f"step {step}"].x for step in order]
        assert xs == sorted(xs)
        assert answer.finding.startswith("No message is lost") == (not played.lost)


def names(answer: Answer) -> set[str]:
    return {shape.key for shape in answer.canvas.shapes}


def test_it_opens_on_an_order_that_loses_nothing_and_leaves_the_cause_to_be_found() -> None:
    shown = explorable()
    start = shown.answer(shown.start)
    assert start.finding == "No message is lost in this order, but 6 of 12 orders lose a message."
    assert not {"gap", "in gap"} & names(start)
    for place in range(len(ORDERS)):
        answer = shown.answer({**shown.start, "order": place})
        assert "between" not in answer.finding
        assert "in gap" not in names(answer)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_lock_is_drawn_around_both_steps_and_the_order_that_it_makes_is_named(
    width: float,
) -> None:
    for order in ORDERS:
        answer = draw(width, order, LOCKED)
        lock = answer.canvas["gap"]
        read, empty = (answer.canvas[f"step {step}"] for step in (READ, EMPTY))
        assert lock.x <= read.x < empty.x + empty.width <= lock.x + lock.width
        for name in WRITERS:
            step = answer.canvas[f"step {name}"]
            assert step.x + step.width <= lock.x or step.x >= lock.x + lock.width
        made = day(order, LOCKED).moments
        waits = any(moment.waited for moment in made)
        assert ("No writer has to wait" in answer.finding) == (not waits)
        steps = [
            {READ: "reads", EMPTY: "empties"}.get(one.step, f"{one.step} writes") for one in made
        ]
        assert f": {', '.join(steps)}." in answer.because

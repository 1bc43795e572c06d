"""Lesson 3's repair of the list: its own text and mistakes, tried as the learner tries it."""

from __future__ import annotations

from typing import Any

import pytest
from cells import cell, folded

import learnkit as lk
from learnkit.course.lessons.s03.dropped_items import leave_out

REPAIR = folded("s03", "class Kept")


def verdict(source: str) -> str:
    """What the lesson says to a list."""
    names: dict[str, Any] = {"lk": lk}
    for one in ("MARKS =", "def checked(", "class Plan(", "class MyTodo("):
        exec(compile(cell("s03", one), "<cell>", "exec"), names)
    exec(compile(source, "<Kept>", "exec"), names)
    return leave_out(names["Kept"])


def test_the_repair_passes_and_the_stub_does_not() -> None:
    assert verdict(REPAIR).startswith("✓ It rejected each update that left out an open item")
    assert (
        verdict(cell("s03", "class Kept("))
        == "✗ It accepted an update that left out two open items."
    )


IDS = 'if one["id"] not in given]'


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        (IDS, "if not items]", "It accepted an update that left out two open items."),
        (IDS, "if len(items) < len(self.items)]", "Its error names an item that is there: still"),
        (
            'one["id"] for one in items]\n',
            'one["text"] for one in items]\n',
            "It rejected an update in which an item has its id and another text: still open, but",
        ),
        ('if one["status"] != "completed"]', "]", "It rejected an update that left out a compl"),
        ("checked(items)", "items", "It accepted two items in progress"),
        ("given =", "self.items = given =", "It raised TypeError: string indices must be"),
        (": {', '.join(lost)}", "", "Its error doesn't name 'implement', so the"),
        ('!= "completed"', '== "pending"', "Its error doesn't name 'implement', so the"),
        ("given =", "while True: one = 1\n        given =", "Your code does not come to an end"),
        (
            "self.items = checked(items)",
            "checked(items)",
            "After a first update, its items aren't those",
        ),
    ],
)
def test_a_mistake_is_named(was: str, now: str, says: str) -> None:
    assert was in REPAIR
    source = REPAIR.replace(was, now)
    if "text" in now:
        source = source.replace('one["id"] not in', 'one["text"] not in')
    assert verdict(source).startswith(f"✗ {says}")


def test_an_error_that_is_only_a_text_is_none() -> None:
    told = REPAIR.replace("raise lk.ToolError", "return str")
    assert told != REPAIR
    assert verdict(told) == (
        "✗ It refused an update that left out two open items, but raised no lk.ToolError."
    )


def test_a_list_that_changes_before_it_is_rejected_is_found() -> None:
    moved = REPAIR.replace(
        "        given =", "        before, self.items = self.items, items\n        given ="
    )
    moved = moved.replace("for one in self.items if", "for one in before if")
    assert verdict(moved) == (
        "✗ It rejected an update that left out two open items, but the list changed."
    )

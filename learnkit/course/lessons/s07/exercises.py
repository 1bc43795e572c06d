"""Lesson 7's exercises: what is wrong with an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import first_wrong


def tasks_of(*rows: str) -> list[dict[str, Any]]:
    """Tasks as in their files, from lines like ``3 pending 1,2 alice``."""
    tasks = []
    for row in rows:
        id, status, blockers, owner = [*row.split(), "", ""][:4]
        task = {"id": int(id), "subject": f"task {id}", "status": status, "owner": owner or None}
        waits = [int(blocker) for blocker in blockers.strip("-").split(",") if blocker]
        tasks.append({**task, "blockedBy": waits})
    return tasks


def _board(rows: str) -> tuple[list[dict[str, Any]]]:
    return (tasks_of(*filter(None, rows.split("; "))),)


def check_doomed(doomed: Any) -> Verdict:
    """Check which tasks can never be ready, because something before them has failed."""
    chain, mixed = "1 failed; 2 pending 1; 3 pending 2; 4 pending 3", "10 pending 3; 9 pending 3; "
    cases: Sequence[tuple[str, str, list[Any]]] = (
        ("#1 failed, #2 waits for it, #3 for nothing", "1 failed; 2 pending 1; 3 pending", [2]),
        ("a board without a failure", "1 pending; 2 pending 1", []),
        ("a chain of four whose first task has failed", chain, [2, 3, 4]),
        (
            "a diamond with #2 failed",
            "1 completed; 2 failed 1; 3 pending 1; 4 pending 2,3",
            [4],
        ),
        ("ids in no order", f"{mixed}3 pending 12; 12 failed", [3, 9, 10]),
        ("two failed tasks", "1 failed; 2 failed 1", []),
        ("an empty board", "", []),
    )
    return first_wrong(doomed, [(what, _board(rows), ids) for what, rows, ids in cases], list)


def check_hours(hours: Any) -> Verdict:
    """Check which tasks can be done in which hour, if there are enough workers."""
    diamond, back = "1 pending; 2 pending 1; 3 pending 1; 4 pending 2,3", "1 pending 2; 2 pending 3"
    cases: Sequence[tuple[str, str, list[Any]]] = (
        ("two tasks without blockers", "1 pending; 2 pending", [[1, 2]]),
        ("a chain of three", "1 pending; 2 pending 1; 3 pending 2", [[1], [2], [3]]),
        ("a diamond", diamond, [[1], [2, 3], [4]]),
        ("a chain in which task 1 comes last", f"{back}; 3 pending", [[3], [2], [1]]),
        (
            "a task with two blockers, where one waits for the other",
            "1 pending; 2 pending 1; 3 pending 1,2; 4 pending",
            [[1, 4], [2], [3]],
        ),
        ("an empty board", "", []),
    )
    return first_wrong(
        hours,
        [(what, _board(rows), right) for what, rows, right in cases],
        lambda found: [sorted(one) for one in found],
    )

"""Lesson 7's exercises: what is wrong with an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from learnkit.course.content import Verdict


def tasks_of(*rows: str) -> list[dict[str, Any]]:
    """Tasks as in their files, from lines like ``3 pending 1,2 alice``."""
    tasks = []
    for row in rows:
        id, status, blockers, owner = [*row.split(), "", ""][:4]
        task = {"id": int(id), "subject": f"task {id}", "status": status, "owner": owner or None}
        waits = [int(blocker) for blocker in blockers.strip("-").split(",") if blocker]
        tasks.append({**task, "blockedBy": waits})
    return tasks


_DIAMOND = ("1 completed", "2 pending 1", "3 pending 1", "4 pending 2,3")


def _should(what: str, found: Any, wanted: Any, because: str) -> str:
    """What a check says to a wrong result, in terms of behaviour."""
    return f"For {what}, your function returned {found!r}. It should return {wanted}: {because}."


def check_doomed(doomed: Any) -> Verdict:
    """Check which tasks can never be ready, because something before them has failed."""
    for rows, wanted, what, because in (
        (
            ("1 failed", "2 pending 1", "3 pending"),
            [2],
            "a board whose task 1 has failed",
            "#2 waits for it, and #3 waits for nothing",
        ),
        (
            ("1 pending", "2 pending 1"),
            [],
            "a board without a failure",
            "all can be done",
        ),
        (
            ("1 failed", "2 pending 1", "3 pending 2", "4 pending 3"),
            [2, 3, 4],
            "a chain whose first task has failed",
            "those that wait for #2 wait for #1 as well, and so on",
        ),
        (
            ("1 completed", "2 failed 1", "3 pending 1", "4 pending 2,3"),
            [4],
            "a diamond with #2 failed",
            "#3 doesn't wait for #2, and #4 does",
        ),
        (
            ("10 pending 3", "9 pending 3", "3 pending 12", "12 failed"),
            [3, 9, 10],
            "tasks that come in no order",
            "#3 waits for #12, and #9 and #10 wait for #3; the ids should be sorted, as numbers",
        ),
        (("1 failed", "2 failed 1"), [], "two failed tasks", "they have failed; nothing waits"),
        ((), [], "an empty board", "there is nothing on it"),
    ):
        found = doomed(tasks_of(*rows))
        if not isinstance(found, Iterable) or isinstance(found, str):
            return _should(what, found, wanted, because)
        if (ids := list(found)) != wanted:
            return _should(what, ids, wanted, because)
    return None


def check_hours(hours: Any) -> Verdict:
    """Check which tasks can be done in which hour, if there are enough workers."""
    for rows, wanted, what, because in (
        (
            ("1 pending", "2 pending"),
            [[1, 2]],
            "two tasks without blockers",
            "two workers do them in the same hour",
        ),
        (
            ("1 pending", "2 pending 1", "3 pending 2"),
            [[1], [2], [3]],
            "a chain of three",
            "each task has to wait for the one before",
        ),
        (
            ("1 pending", *_DIAMOND[1:]),
            [[1], [2, 3], [4]],
            "a diamond",
            "tasks 2 and 3 wait only for task 1, and task 4 waits for both",
        ),
        (
            ("1 pending 2", "2 pending 3", "3 pending"),
            [[3], [2], [1]],
            "a chain in which task 1 comes last",
            "the order is that of the blockers, not of the ids",
        ),
        (
            ("1 pending", "2 pending 1", "3 pending 1,2", "4 pending"),
            [[1, 4], [2], [3]],
            "a task with two blockers, where one waits for the other",
            "task 3 has to wait for the later of its two blockers",
        ),
        ((), [], "an empty board", "no hour is needed"),
    ):
        try:
            found = hours(tasks_of(*rows))
        except RecursionError:
            return (
                f"For {what}, your function keeps calling itself. "
                "It should stop at a task without blockers."
            )
        try:
            same = [sorted(one) for one in found] == wanted
        except TypeError:
            return f"{_should(what, found, wanted, because)} Return a list of lists of ids."
        if not same:
            return _should(what, found, wanted, because)
    return None


EXERCISES = {
    "doomed": check_doomed,
    "hours": check_hours,
}

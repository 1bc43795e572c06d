"""The one rule of what can begin, and that the board and the task view both follow it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.backends.task import Task
from learnkit.core.readiness import is_ready, open_blockers
from learnkit.events.log import Event
from learnkit.views import board
from learnkit.views.drawing import theme

#: The tasks as (id, status, owner, blocked_by), and the ids of those that are ready.
CASES: dict[str, tuple[list[tuple[int, Any, str, list[int]]], list[int]]] = {
    "a blocker that failed": ([(1, "failed", "", []), (2, "pending", "", [1])], []),
    "a blocker at work": ([(1, "in_progress", "bob", []), (2, "pending", "", [1])], []),
    "a blocker that is done": ([(1, "completed", "bob", []), (2, "pending", "", [1])], [2]),
    "a blocker that is gone": ([(2, "pending", "", [1])], [2]),
    "two in a circle": ([(1, "pending", "", [2]), (2, "pending", "", [1])], []),
    "one that waits for itself": ([(1, "pending", "", [1]), (2, "pending", "", [])], [2]),
    "one with an owner": ([(1, "pending", "bob", [])], []),
    "one of two is open": (
        [(1, "completed", "", []), (2, "pending", "", []), (3, "pending", "", [1, 2])],
        [2],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rule_the_board_and_the_view_agree(case: str, tmp_path: Path) -> None:
    rows, ready = CASES[case]
    tasks = {
        id: Task(id, f"step {id}", status=status, owner=owner, blocked_by=tuple(blockers))
        for id, status, owner, blockers in rows
    }
    assert [id for id, task in tasks.items() if is_ready(task, tasks)] == ready

    opened = Event(0, 0.0, "lead", "board.opened", {"tasks": [t.to_json() for t in tasks.values()]})
    cards = board.after({}, opened)
    assert [id for id, card in cards.items() if card.mark is theme.READY] == ready
    for id, card in cards.items():
        assert list(card.waits) == open_blockers(tasks[id], tasks)

    for task in tasks.values():
        (tmp_path / task.file).write_text(json.dumps(task.to_json()))
    assert [task.id for task in lk.TaskBoard(tmp_path).ready()] == ready

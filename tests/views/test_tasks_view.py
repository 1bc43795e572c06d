"""The task graph: states, what waits for what, the night, clicks, and boards of any size."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from canvases import apart, drawn, inside, said, words

import learnkit as lk
from learnkit.mechanisms.tasks import clicks
from learnkit.views import Tasks
from learnkit.views.drawing import static
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape

WIDTHS = (WIDE, NARROW)


def task(id: int, status: str = "pending", *after: int, **more: Any) -> dict[str, Any]:
    return {"id": id, "subject": f"step {id}", "status": status, "blockedBy": list(after), **more}


def opened(*tasks: dict[str, Any]) -> lk.EventLog:
    log = lk.EventLog()
    log.append("board.opened", tasks=list(tasks))
    return log


def boxes(canvas: Canvas) -> dict[int, Shape]:
    found = {one.key.partition("task ")[2]: one for one in canvas.shapes}
    return {int(id): one for id, one in found.items() if id}


def test_each_state_has_its_word_and_glyph() -> None:
    view = Tasks(
        opened(
            task(1, "completed"),
            task(2, "in_progress", 1, owner="alice"),
            task(3, "pending", 1),
            task(4, "pending", 2, 3),
            task(5, "failed", 1),
        )
    )
    found = {id: (one.mark, *one.lines) for id, one in boxes(drawn(view)).items()}
    assert found == {
        1: ("done", "✓ #1 completed", "step 1"),
        2: ("active", "▶\ufe0e #2 alice", "step 2"),
        3: ("ready", "◎ #3 ready", "step 3"),
        4: ("blocked", "⊘ #4 blocked", "step 4"),
        5: ("failed", "✗ #5 failed", "step 5"),
    }
    assert said(view) == (
        "1 of 5 tasks completed; in progress: #2; ready: #3. 1 waiting, 1 failed."
    )
    assert "waits for #2, #3" in boxes(drawn(view))[4].says


@pytest.mark.parametrize("status", ["completed", "failed", "in_progress", "pending"])
def test_a_failed_blocker_still_blocks_and_only_a_completed_one_does_not(status: str) -> None:
    view = Tasks(opened(task(1, status), task(2, "pending", 1)))
    canvas = drawn(view)
    done = status == "completed"
    assert boxes(canvas)[2].mark == ("ready" if done else "blocked")
    edge = canvas["edge 1 2"]
    assert (edge.mark, edge.style) == (("done", "") if done else ("blocked", "d"))
    row = "ready" if done else "waits for #1"
    assert f"<td>#2 step 2: {row}</td>" in view.html()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overlaps_and_all_is_inside(width: float) -> None:
    view = Tasks(opened(*(task(n, "pending", *([n // 2] if n > 1 else [])) for n in range(1, 8))))
    canvas = drawn(view, width=width)
    found = boxes(canvas)
    assert len(found) == 7
    assert all(apart(one, other) for one, other in combinations(found.values(), 2))
    assert all(inside(one, canvas) for one in found.values())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_task_that_is_completed_too_early_is_marked_and_said(width: float) -> None:
    view = Tasks(opened(task(1, "completed", 2, 3), task(2, "completed"), task(3)))
    canvas = drawn(view, width=width)
    assert said(view).startswith("Completed before what it depends on: #1 step 1. 2 of 3")
    assert (canvas["edge 3 1"].mark, canvas["edge 2 1"].mark) == ("failed", "done")
    mark, box = canvas["early 1"], boxes(canvas)[1]
    assert box.x < mark.x < box.x + box.width
    assert box.says == "#1 step 1: completed before #3"
    done = Tasks(opened(task(1, "completed", 2), task(2, "completed")))
    assert "early 1" not in drawn(done)


def test_of_many_tasks_the_open_ones_and_the_newest_are_drawn() -> None:
    view = Tasks(opened(task(1), *(task(n, "completed") for n in range(2, 21))))
    assert list(boxes(drawn(view, rows=4))) == [1, *range(14, 21)]


def night() -> lk.EventLog:
    """A task is begun, the kernel dies, and the next run completes it."""
    log = lk.EventLog()
    log.append("run.started", prompt="x", time=0.0)
    log.append("task.created", task=task(1), time=1.0)
    log.append("task.created", task=task(2, "pending", 1), time=1.0)
    log.append("task.started", task=task(1, "in_progress", owner="lead"), time=2.0)
    begun = [task(1, "in_progress", owner="lead"), task(2, "pending", 1)]
    log.append("board.opened", tasks=begun, time=6.0)
    log.append("task.completed", task=task(1, "completed", owner="lead"), freed=[2], time=8.0)
    return log


@pytest.mark.parametrize("width", WIDTHS)
def test_the_night_is_a_line_and_a_task_is_in_progress_across_it(width: float) -> None:
    view = Tasks(night())
    canvas = drawn(view, width=width)
    line, bar = canvas["opened 0"], canvas["bar 0"]
    assert "d" in line.style
    assert bar.mark == "done"
    assert bar.x < line.x < bar.x + bar.width
    assert "a new run opens the board" in words(canvas)
    assert said(view) == (
        "1 of 2 tasks completed; ready: #2. A new run finds #1 in progress, and completes it."
    )
    before, after = view.at(4), view.at(5)
    assert before != after
    assert said(view, after).endswith("A new run finds #1 in progress.")


def test_a_teammate_that_opens_the_board_is_no_night() -> None:
    log = opened(task(1))
    log.append("board.opened", lane="alice", tasks=[task(1)], time=3.0)
    view = Tasks(log)
    assert "opened 0" not in drawn(view)
    assert view.at(1) == view.at(2)
    log.append("board.opened", tasks=[task(2)], time=4.0)
    assert list(boxes(drawn(view))) == [2], "what somebody removed meanwhile is gone"


def test_with_an_intent_open_tasks_are_buttons_and_a_click_frees_the_next(tmp_path: Path) -> None:
    board, log = lk.TaskBoard(tmp_path), lk.EventLog()
    for name in ("a", "b"):
        board.create(name)
    board.update(2, add_blocked_by=[1])
    log.append("board.opened", tasks=[one.to_json() for one in board.tasks()])
    board.news()
    view = Tasks(log, on_intent=clicks(board, log))
    assert view.on_intent is not None
    view.on_intent(json.loads(boxes(drawn(view))[2].intent))
    refused = "The board refuses: task 2 is blocked by 1; complete them first."
    assert said(view) == f"{refused} 0 of 2 tasks completed; ready: #1. 1 waiting."
    assert words(drawn(view)).endswith(f"✗ {refused.rstrip('.')}")
    view.on_intent(json.loads(boxes(drawn(view))[1].intent))
    found = boxes(drawn(view))
    assert [bool(one.intent) for one in found.values()] == [False, True]
    assert not any(one.intent for one in drawn(Tasks(log)).shapes), "nobody would hear a click"
    assert found[2].lines[0] == "◎ #2 ready"
    assert said(view) == "1 of 2 tasks completed; ready: #2."


def chain(count: int, done: int) -> list[dict[str, Any]]:
    return [
        task(n, "completed" if n <= done else "pending", *([n - 1] if n % 5 and n > 1 else []))
        for n in range(1, count + 1)
    ]


@pytest.mark.parametrize("count", [1, 5, 40, 119, 1000])
def test_a_board_of_any_size_has_a_picture_and_its_words(count: int) -> None:
    view = Tasks(opened(*chain(count, count // 2)))
    html = view.html()
    assert len(html.encode()) < static.LIMIT
    assert f"{count // 2} of {count:,} task" in html
    assert len(re.findall("<td>#", html)) >= min(count, 20)


def test_blockers_that_nobody_knows_and_circles_are_survived() -> None:
    view = Tasks(opened(task(1, "pending", 2, 9), task(2, "pending", 1), task(3, "pending", 3)))
    assert view.html()
    found = boxes(drawn(view))
    assert found[1].lines[0] == "⊘ #1 blocked"
    assert found[3].mark == "blocked", "as the board sees it"

"""The task graph: states, what waits for what, clicks, and boards of any size."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import learnkit as lk
from learnkit.mechanisms.tasks import clicks
from learnkit.views import Tasks
from learnkit.views.drawing import static
from learnkit.views.tasks import DRAWN


def task(id: int, status: str = "pending", *after: int, **more: Any) -> dict[str, Any]:
    return {"id": id, "subject": f"step {id}", "status": status, "blockedBy": list(after), **more}


def opened(*tasks: dict[str, Any]) -> lk.EventLog:
    log = lk.EventLog()
    log.append("board.opened", tasks=list(tasks))
    return log


def words(view: Tasks) -> dict[str, str]:
    """Each task's text, without its tags."""
    frame = view.frame(view.at())
    shown = {key: re.sub("<[^>]+>", " ", html) for key, html in frame.items()}
    return {key.rpartition("/")[2]: " ".join(text.split()) for key, text in shown.items()}


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
    shown = words(view)
    assert shown["1"] == "✓ #1 completed step 1"
    assert shown["2"] == "▶\ufe0e #2 alice step 2"
    assert shown["3"] == "◎ #3 ready step 3"
    assert shown["4"] == "⊘ #4 blocked step 4"
    assert shown["5"] == "✗ #5 failed step 5"
    assert shown["said"] == (
        "1 of 5 tasks completed; in progress: #2; ready: #3; 1 waiting; 1 failed."
    )
    frame = view.frame(view.at())
    assert "waits for #2, #3" in frame["graph/4"]


def test_a_failed_blocker_still_blocks_and_only_a_completed_one_does_not() -> None:
    for status, state, kind in (
        ("completed", "ready", "done"),
        ("failed", "blocked", "wait"),
        ("in_progress", "blocked", "wait"),
        ("pending", "blocked", "wait"),
    ):
        view = Tasks(opened(task(1, status), task(2, "pending", 1)))
        frame = view.frame(view.at())
        assert f'class="task m-{state}"' in frame["graph/2"]
        assert ("waits for #1" in frame["graph/2"]) == (state == "blocked")
        assert f'<path class="{kind}" data-pair="t1 e1-2"' in frame["graph/edges"]
        row = "<td>waits for #1</td>" if state == "blocked" else "ready</td>"
        assert row.removeprefix("<td>") in view.html()


def shapes(view: Tasks) -> list[tuple[str, str, str]]:
    """Each element of the static picture: its tag, its classes, and its text or path."""
    root = ElementTree.fromstring(view.picture(view.at(), 48).svg())
    tags = [(one.tag.rpartition("}")[2], one.get("class", ""), one) for one in root.iter()]
    return [(tag, kind, one.text or one.get("d", "")) for tag, kind, one in tags]


def test_the_static_picture_has_the_same_states_and_edges() -> None:
    view = Tasks(
        opened(
            task(1, "completed"),
            task(2, "failed"),
            task(3, "pending", 1),
            task(4, "pending", 1, 2),
            task(5, "in_progress", owner="bob"),
        )
    )
    found = shapes(view)
    boxes = [kind for tag, kind, _ in found if tag == "rect" and kind]
    assert boxes == ["g done", "g failed", "g ready", "g blocked", "g active"]
    words = [text for tag, _, text in found if tag == "text"]
    for said in ("✓ #1 completed", "✗ #2 failed", "◎ #3 ready", "⊘ #4 blocked"):
        assert said in words
    assert words.index("no dependencies") + 1 == words.index("▶\ufe0e #5 step 5")
    edges = {kind: path.count("M") for tag, kind, path in found if tag == "path"}
    assert edges == {"l done": 2, "l blocked": 1}  # of #1 both, of #2 the only one


def test_a_blocker_stands_before_what_waits_for_it() -> None:
    few = Tasks(opened(task(1), task(2, "pending", 1), task(3, "pending", 2)))
    many = Tasks(opened(*(task(n, "pending", n - 1) if n > 1 else task(n) for n in range(1, 9))))
    for view, axis in ((few, 0), (many, 1)):
        frame = view.frame(view.at())
        at = {
            int(key.partition("/")[2]): float(found[1].split()[axis])
            for key, html in frame.items()
            if (found := re.search(r'data-at="([^"]*)"', html))
        }
        assert list(at) == sorted(at, key=at.__getitem__)
        assert len(set(at.values())) == len(at)


def test_what_depends_on_nothing_has_its_own_strip() -> None:
    view = Tasks(opened(task(1), task(2, "pending", 1), task(3), task(4)))
    keys = list(view.frame(view.at()))
    assert [key for key in keys if key.startswith("graph/")] == [
        "graph/edges",
        "graph/1",
        "graph/2",
    ]
    assert [key for key in keys if key.startswith("loose/")] == [
        "loose/title",
        "loose/3",
        "loose/4",
    ]


def test_neighbours_are_paired_through_their_edge() -> None:
    view = Tasks(opened(task(1), task(2, "pending", 1), task(3, "pending", 2)))
    frame = view.frame(view.at())
    pairs = {key: set(re.findall(r'data-pair="([^"]*)"', html)) for key, html in frame.items()}
    assert pairs["graph/2"] == {"t2 e1-2"}
    assert pairs["graph/edges"] == {"t1 e1-2", "t2 e2-3"}


def test_a_run_is_followed_event_by_event(tmp_path: Path) -> None:
    script = [
        lk.reply(*(lk.use("task_create", subject=name) for name in ("a", "b"))),
        lk.use("task_update", task_id=2, addBlockedBy=[1]),
        lk.use("task_update", task_id=1, status="completed"),
        lk.use("task_update", task_id=2, addBlockedBy=[2]),
        lk.use("task_update", task_id=1, status="deleted"),
        lk.say("done"),
    ]
    agent = lk.Agent(lk.scripted(script), [lk.Tasks(lk.TaskBoard(tmp_path))])
    agent.run("go")
    view = Tasks(agent.events)
    heads = {}
    for k, event in enumerate(agent.events, start=1):
        heads.setdefault(event.type, view.head(view.at(k)))
    assert heads["task.created"] == "Task #1 (a) is on the board."
    assert heads["task.updated"] == "Task #1 (a) is changed."
    assert heads["task.completed"] == "Task #1 (a) is completed; #2 is ready now."
    assert heads["task.refused"] == "The board refuses: task 2 cannot wait for itself."
    assert heads["task.deleted"] == "Task #1 (a) is deleted."
    assert heads["run.ended"].endswith("0 of 1 task completed; ready: #2.")


def test_with_an_intent_open_tasks_are_buttons_and_a_click_frees_the_next(tmp_path: Path) -> None:
    board, log = lk.TaskBoard(tmp_path), lk.EventLog()
    for name in ("a", "b"):
        board.create(name)
    board.update(2, add_blocked_by=[1])
    log.append("board.opened", tasks=[one.to_json() for one in board.tasks()])
    board.news()
    view = Tasks(log, on_intent=clicks(board, log))
    frame = view.frame(view.at())
    assert frame["graph/1"].startswith("<button")
    (intent,) = re.findall(r'data-intent="([^"]*)"', frame["graph/1"])
    assert view.on_intent is not None
    view.on_intent(json.loads(intent.replace("&quot;", '"')))
    frame = view.frame(view.at())
    assert frame["graph/1"].startswith("<div")  # nothing is left to be done
    assert words(view)["2"] == "◎ #2 ready b"
    assert view.head(view.at()) == "Task #1 (a) is completed; #2 is ready now."


def test_without_an_intent_nothing_looks_like_a_button() -> None:
    view = Tasks(opened(task(1), task(2, "pending", 1)))
    assert "<button" not in "".join(view.frame(view.at()).values())


def test_only_what_changed_is_drawn_anew() -> None:
    log = opened(*(task(n, "pending", n - 1) if n > 1 else task(n) for n in range(1, 13)))
    view = Tasks(log)
    before = view.frame(view.at())
    log.append("task.completed", task=task(1, "completed"), freed=[2])
    after = view.frame(view.at())
    changed = {key for key in after if after[key] is not before.get(key)}
    state = view.at(1)
    again = view.frame(view.step(state, log[1]))
    same = {key for key in again if again[key] is view.frame(state)[key]}
    assert {f"graph/{n}" for n in range(3, 13)} <= same
    assert {"graph/1", "graph/2", "graph/edges", "sum/said"} <= changed


def chain(count: int, done: int) -> list[dict[str, Any]]:
    return [
        task(n, "completed" if n <= done else "pending", *([n - 1] if n % 5 and n > 1 else []))
        for n in range(1, count + 1)
    ]


@pytest.mark.parametrize("count", [1, 5, 40, 119, 1000])
def test_a_board_of_any_size_has_a_picture_and_a_table(count: int) -> None:
    view = Tasks(opened(*chain(count, count // 2)))
    html = view.html()
    assert len(html.encode()) < static.LIMIT
    assert f"{count // 2} of {count:,} task" in html
    if count <= 40:
        for n in range(1, count + 1):
            assert f"<td>#{n}</td>" in html


def test_of_a_large_board_what_is_open_is_drawn() -> None:
    view = Tasks(opened(*chain(1000, 900)))
    state = view.at()
    shown = [id for id, _ in state.shape]
    assert len(shown) == DRAWN
    assert set(range(901, 1001)) <= set(shown)
    assert words(view)["said"] == "880 completed tasks not drawn"


def test_blockers_that_nobody_knows_and_circles_are_survived() -> None:
    view = Tasks(opened(task(1, "pending", 2, 9), task(2, "pending", 1), task(3, "pending", 3)))
    assert view.html()
    assert words(view)["1"] == "⊘ #1 blocked step 1"
    assert words(view)["3"] == "⊘ #3 blocked step 3", "as the board sees it"

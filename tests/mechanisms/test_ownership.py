"""Who may complete, release or delete a task that somebody has in progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from teams import Ran, spawn, when

import learnkit as lk

pytestmark = pytest.mark.usefixtures("no_thread_is_left")

ENDS = ["completed", "failed", "pending", "deleted"]


@pytest.fixture
def board(tmp_path: Path) -> lk.TaskBoard:
    made = lk.TaskBoard(tmp_path / ".tasks")
    made.create("parse")
    made.claim(1, "alice")
    return made


def update(status: str | None = None, **more: Any) -> Any:
    return lk.use("task_update", task_id=1, status=status, **more)


def results(agent: lk.Agent) -> list[tuple[str, bool]]:
    ended = [event.data for event in agent.events if event.type == "tool.ended"]
    return [(data["output"], data["is_error"]) for data in ended]


@pytest.mark.parametrize("status", ENDS)
def test_another_agent_cannot_end_what_alice_has_in_progress(
    board: lk.TaskBoard, status: str
) -> None:
    before = board.get(1)
    client = lk.scripted([update(status, result_summary="mine", addBlocks=[]), lk.say("x")])
    bob = lk.Agent(client, [lk.Tasks(board)], name="bob")
    bob.run("Go.")
    assert results(bob) == [
        (
            "task 1 is in progress and owned by alice; only alice or the team's lead may set it to "
            + status,
            True,
        )
    ]
    assert board.get(1) == before
    assert [event.data["tool"] for event in bob.events if event.type == "task.refused"]


@pytest.mark.parametrize("status", ENDS)
def test_the_lead_of_a_team_can_and_it_is_said(
    tmp_path: Path, board: lk.TaskBoard, status: str
) -> None:
    team = lk.Team(tmp_path / ".team", lambda *_: [])
    boss = lk.Agent(
        lk.scripted([update(status), lk.say("x")]), [team, lk.Tasks(board)], name="boss"
    )
    boss.run("Go.")
    ((said, error),) = results(boss)
    assert not error
    assert said.endswith("\nalice had it in progress. You changed it as the lead; mention it.")


def test_a_teammate_cannot_though_its_lead_could(tmp_path: Path, board: lk.TaskBoard) -> None:
    ran = Ran(
        tmp_path,
        {"lead": when(("Go.", spawn("bob"))), "bob": when(("Begin.", update("completed")))},
        factory=lambda *_: [lk.Tasks(board)],
        mechanisms=[lk.Tasks(board)],
    )
    ran.go()
    assert [
        "in progress and owned by alice" in said for said in ran.outputs("task_update", "bob")
    ] == [True]
    assert board.get(1).status == "in_progress"


def test_what_is_not_in_progress_belongs_to_everybody(board: lk.TaskBoard) -> None:
    board.update(1, "completed", by="alice")
    board.update(1, "pending", by="bob")
    board.update(1, "failed", by="bob")
    board.update(1, "deleted", by="carol")
    assert board.tasks() == []

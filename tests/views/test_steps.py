"""The slider steps over visible changes: in its own lesson a view has at most 60."""

from __future__ import annotations

from pathlib import Path

import pytest
from canvases import stops

import learnkit as lk
from learnkit.course.lessons.s11 import crew
from learnkit.events.log import EventLog
from learnkit.mechanisms.autonomy.lead import additions
from learnkit.views import Tasks, Team, Worktrees

MOST = 60


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> EventLog:
    """Lesson 11's game to its end: twelve stations, four teammates, and two more tasks."""
    folder: Path = tmp_path_factory.mktemp("crew")
    board, client = lk.TaskBoard(folder / ".tasks"), lk.scripted(crew.lanes())
    for role, stations in crew.STATIONS.items():
        for station in stations:
            board.create(f"look at {station}", tags=[role] if role else [])
    with client.clock:
        team = lk.Team(
            folder / ".team",
            lambda name, role: [lk.Tasks(board), lk.Toolbox(crew.look_at)],
            wait=False,
        )
        autonomy = lk.Autonomy(team, board)
        lead = lk.Agent(client, [team, autonomy])
        add = additions(board, lead.events)
        with team:
            lead.run("Start them.")
            for role in ("coder", "tester"):
                add({"add": role})
            autonomy.wait()
    return lead.events


@pytest.mark.slow
def test_the_game_of_lesson_11_has_at_most_60_stops(game: EventLog) -> None:
    assert len(game) > 300
    assert sum(event.type == "task.completed" for event in game) == 14
    for view in (Team(game), Tasks(game)):
        assert 30 < stops(view) <= MOST
    finding = Team(game).finding(Team(game).at())
    assert finding.startswith("14 of 14 tasks completed by ")


def test_an_event_that_changes_nothing_is_no_step() -> None:
    log = EventLog()
    one = {"id": 1, "subject": "x", "status": "pending"}
    log.append("board.opened", tasks=[one])
    tree = {"name": "a", "branch": "wt/a", "task_id": 1, "status": "active"}
    log.append("worktree.create", tree=tree)
    before = [stops(kind(log)) for kind in (Tasks, Team, Worktrees)]
    for type, data in (
        ("message.added", {"index": 0, "message": {"role": "user", "content": "x"}}),
        ("model.requested", {"turn": 1, "messages": 1}),
        ("task.updated", {"task": {**one, "blocks": [2], "description": "more"}}),
        ("mail.sent", {"mail": {"id": "m1", "from": "a", "to": "b", "content": "x"}}),
    ):
        log.append(type, **data)
    assert [stops(kind(log)) for kind in (Tasks, Team, Worktrees)] == before

"""The log has things in the order in which they happened, also where a thread is overtaken.

Between doing something and logging it a thread can lose its turn. What another one does on top of
it must not stand before it in the log: the pictures would be wrong to the end. Each test lets one
thread try to overtake another one just there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from teams import Ran, say, spawn

import learnkit as lk
from learnkit.backends.files.store import Journal
from learnkit.events.background import JobEnded
from learnkit.mechanisms.protocols import TeammateProtocols
from learnkit.mechanisms.tasks import Person, log_news, logged
from learnkit.mechanisms.teams.delivery import Delivery

TIME_ENOUGH = 0.3  # seconds to overtake a thread that does nothing but wait for it


class Overtaking:
    """Another thread, which is given time to overtake."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=act, daemon=True)

    def after(self, done: Callable[..., Any]) -> Callable[..., Any]:
        """A function in whose shadow the other thread acts: what it has done is not logged yet."""

        def slowly(*args: Any, **options: Any) -> Any:
            result = done(*args, **options)
            if not self._thread.ident:
                self._thread.start()
                self._thread.join(TIME_ENOUGH)
            return result

        return slowly

    def end(self) -> None:
        self._thread.join()


def told(log: lk.EventLog, *prefixes: str) -> list[str]:
    return [event.type for event in log if event.type.startswith(prefixes)]


def test_mail_is_sent_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Ran(tmp_path, {"lead": [spawn("alice"), *say("a", "b")], "alice": say("x", "y")})
    run.go()
    lead, mailbox, seen = run.lead, run.team.mailbox, len(run.lead.events)
    reader = Delivery(mailbox, run.team.members[0].agent, Journal(tmp_path / "other.jsonl"))
    reader.deliver()
    overtaking = Overtaking(reader.deliver)
    monkeypatch.setattr(mailbox, "send", overtaking.after(mailbox.send))
    run.team.send(lead, "alice", "hello")
    overtaking.end()
    later = lead.events[seen:]
    assert [e.type for e in later][-2:] == ["mail.sent", "mail.read"]
    assert later[-1].data["ids"] == [later[-2].data["mail"]["id"]]


def test_a_task_is_started_before_it_is_completed(tmp_path: Path) -> None:
    log, board = lk.EventLog(), lk.TaskBoard(tmp_path)
    board.create("a")
    board.open()

    def finish() -> None:
        with logged(board, Person(log)):
            board.update(1, "completed")

    overtaking = Overtaking(finish)
    board.claim(1, "bob")
    board.news = overtaking.after(board.news)  # type: ignore[method-assign]
    log_news(board, Person(log))
    overtaking.end()
    assert told(log, "task.") == ["task.started", "task.completed"]


def test_what_a_task_waits_for_is_completed_before_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, board = lk.EventLog(), lk.TaskBoard(tmp_path)
    board.create("second")
    board.create("first")
    board.update(1, add_blocked_by=[2])
    board.open()

    def claim() -> None:
        with logged(board, Person(log)):
            board.claim(1, "bob")

    overtaking = Overtaking(claim)
    monkeypatch.setattr(board, "update", overtaking.after(board.update))
    with logged(board, Person(log)):
        board.update(2, "completed")
    overtaking.end()
    assert [(e.type, e.data["task"]["id"]) for e in log] == [
        ("task.completed", 2),
        ("task.started", 1),
    ]


@pytest.mark.slow
def test_a_request_is_opened_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = {"lead": [spawn("alice"), *say("a", "b")], "alice": say("x", "y")}
    run = Ran(tmp_path, lanes, lk.SystemClock(), mechanisms=lambda team: [lk.Protocols(team)])
    protocols = run.team.extensions[0]
    assert isinstance(protocols, lk.Protocols)
    tracker = protocols.tracker
    with run.clock, run.team:
        run.lead.run("Go.")
        alice = run.team.members[0]
        overtaking = Overtaking(lambda: protocols.changed(alice, "assigned"))
        monkeypatch.setattr(tracker, "open", overtaking.after(tracker.open))
        TeammateProtocols(protocols, alice, False).plan_approval("first this, then that")
        overtaking.end()
    assert told(run.lead.events, "request.") == ["request.opened", "request.expired"]


def test_a_job_ends_before_its_result_is_delivered(tmp_path: Path) -> None:
    background = lk.Background(workspace=tmp_path)
    agent = lk.Agent(
        lk.scripted([lk.use("background_run", command="true"), *say("ok", "I see")]),
        [background],
    )
    seen: list[str] = []
    overtaking = Overtaking(lambda: seen.append(background.check_background()))
    emit = agent.emit

    def slow(event: object) -> lk.Event:
        if isinstance(event, JobEnded):
            overtaking.after(lambda: None)()
        return emit(event)

    agent.emit = slow  # type: ignore[method-assign]
    agent.run("go")
    overtaking.end()
    assert told(agent.events, "job.") == ["job.started", "job.ended", "job.delivered"]
    assert [": true" in one and "running" in one for one in seen] == [True]

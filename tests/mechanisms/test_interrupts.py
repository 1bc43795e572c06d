"""Ctrl-C at any moment, and tools that raise what no tool should: nothing is left half done."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from profiles import mostly_slow
from simulated import closing_lines, interrupted_line, simulate
from teams import Ran, say, send, spawn

import learnkit as lk
from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.mailbox import Inbox, Mailbox
from learnkit.backends.files.store import Journal
from learnkit.backends.tracker import Tracker

pytestmark = pytest.mark.usefixtures("no_thread_is_left")


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(range(60), 5))
def test_after_an_interrupt_at_any_line_the_team_is_whole_and_the_next_run_works(
    tmp_path: Path, seed: int
) -> None:
    simulate(seed, tmp_path, interrupt=interrupted_line(seed))


@pytest.mark.parametrize("seed", mostly_slow(range(40), 1))
def test_a_team_that_is_interrupted_while_it_closes_is_closed_all_the_same(
    tmp_path: Path, seed: int
) -> None:
    """Also by a second Ctrl-C, and a third."""
    simulate(seed, tmp_path, closing=closing_lines(seed))


@pytest.mark.parametrize("number", mostly_slow(range(16), 6))
def test_an_interrupt_at_any_event_while_a_teammate_starts(tmp_path: Path, number: int) -> None:
    """Also the kind that does not ask whether it may come: a listener's."""
    ran = Ran(
        tmp_path,
        {
            "lead": lambda request: spawn("alice") if _begins(request) else lk.say("ok"),
            "alice": lambda request: lk.say("done"),
        },
        mechanisms=lambda team: [lk.Protocols(team)],
    )

    def interrupt(event: lk.Event) -> None:
        if event.seq == number and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    ran.lead.events.subscribe(interrupt)
    with ran.team:
        try:
            ran.lead.run("Go.")
        except KeyboardInterrupt:
            (alice,) = ran.team.members or [None]
            assert alice is None or alice.worker is not None or alice.status == "shutdown"
        assert ran.lead.run("Go.").reason == "end_turn"
        assert ran.told("lead")[-1] == "done"
    assert [one["status"] for one in ran.team.roster.members()] == ["shutdown"]


def _begins(request: Any) -> bool:
    return request["messages"][-1]["content"] == "Go." or "Go." in str(request["messages"][-1])


def test_an_interrupt_between_two_waits_stops_the_teammates_too(tmp_path: Path) -> None:
    """One that came during a wait always did."""

    @lk.tool
    def think() -> str:
        """Compute something, when the user has had enough."""
        signal.raise_signal(signal.SIGINT)
        return "never"

    ran = Ran(
        tmp_path,
        {
            "lead": [spawn("alice"), lk.use("think"), *say("a", "b")],
            "alice": [lk.say("late", latency=500.0)],
        },
        mechanisms=[lk.Toolbox(think)],
    )
    with ran.team:
        with pytest.raises(KeyboardInterrupt):
            ran.lead.run("Go.")
        (alice,) = ran.team.members
        assert alice.stop.is_set()
        assert ran.lead.run("Go on.").text == "a"
    assert ran.lead.messages[-1]["role"] == "assistant"


def test_mail_that_was_taken_when_the_interrupt_came_is_delivered_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(
        tmp_path,
        {"lead": [spawn("alice"), *say("waits", "x", "y", "z")], "alice": say("the report")},
    )
    take, interrupts = Inbox.take, [signal.SIGINT]

    def taken(inbox: Inbox) -> Any:
        found = take(inbox)
        if found and threading.current_thread() is threading.main_thread() and interrupts:
            signal.raise_signal(interrupts.pop())
        return found

    monkeypatch.setattr(Inbox, "take", taken)
    with ran.team:
        with pytest.raises(KeyboardInterrupt):
            ran.lead.run("Go.")
        ran.lead.run("Go on.")
    assert ran.told("lead") == ["the report"]


def test_a_message_counts_as_kept_only_when_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(
        tmp_path,
        {"lead": [spawn("alice"), *say("waits", "x", "y", "z")], "alice": say("the report")},
    )
    append, interrupts = Journal.append, [signal.SIGINT]

    def appended(journal: Journal, *entries: Any) -> None:
        if "the report" in str(entries) and journal.path.stem == "lead" and interrupts:
            signal.raise_signal(interrupts.pop())
        append(journal, *entries)

    monkeypatch.setattr(Journal, "append", appended)
    with ran.team:
        with pytest.raises(KeyboardInterrupt):
            ran.lead.run("Go.")
        ran.lead.run("Go on.")
    assert (ran.folder / "transcripts" / "lead.jsonl").read_text().count("the report") == 1


CHANGES: dict[str, tuple[type, str, Any, str]] = {
    "a message": (Mailbox, "send", send("alice", "hello"), "mail.sent"),
    "a broadcast": (Mailbox, "broadcast", lk.use("broadcast", content="hello"), "mail.sent"),
    "a task": (TaskBoard, "create", lk.use("task_create", subject="parse"), "task.created"),
    "a request": (Tracker, "open", lk.use("shutdown_request", teammate="alice"), "request.opened"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_done_when_the_interrupt_came_is_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """It is in the files already: a view that lacks it would show another team."""
    kind, name, call, logged = CHANGES[change]
    done, interrupts = getattr(kind, name), [signal.SIGINT]

    def interrupted(*args: Any, **options: Any) -> Any:
        result = done(*args, **options)
        if threading.current_thread() is threading.main_thread() and interrupts:
            signal.raise_signal(interrupts.pop())
        return result

    monkeypatch.setattr(kind, name, interrupted)
    ran = Ran(
        tmp_path,
        {
            "lead": [spawn("alice"), call, *say("a", "b", "c")],
            "alice": lambda request: lk.say("done"),
        },
        mechanisms=lambda team: [lk.Protocols(team), lk.Tasks(lk.TaskBoard(tmp_path / "tasks"))],
    )
    with ran.team:
        with pytest.raises(KeyboardInterrupt):
            ran.lead.run("Go.")
        assert interrupts == []
        assert len(ran.of(logged)) == 1


# What tools raise


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class MuteToolError(lk.ToolError, Mute):
    """The same, for the model to read."""


def _leave() -> None:
    sys.exit(2)


def _cancelled() -> None:
    raise asyncio.CancelledError("by its own loop")


def _mute() -> None:
    raise Mute


def _mute_for_the_model() -> None:
    raise MuteToolError


RAISES = [
    (_leave, "SystemExit: 2"),
    (_cancelled, "CancelledError: by its own loop"),
    (_mute, "Mute: (its text cannot be shown)"),
    (_mute_for_the_model, "(its text cannot be shown)"),
]


@pytest.mark.parametrize(("act", "says"), RAISES)
@pytest.mark.parametrize("parallel", [1, 3])
def test_whatever_a_tool_raises_is_an_error_result(act: Any, says: str, parallel: int) -> None:
    @lk.tool(parallel=parallel)
    def bad() -> str:
        """Fail."""
        act()
        return "never"

    client = lk.scripted([lk.reply(lk.use("bad"), lk.use("bad")), lk.say("went on")])
    agent = lk.Agent(client, [lk.Toolbox(bad)])
    assert agent.run("Go.").text == "went on"
    results = agent.messages[-2]["content"]
    assert [(one["content"], one["is_error"]) for one in results] == [(says, True)] * 2


@pytest.mark.parametrize("error", [SystemExit(3), Mute()])
def test_what_ends_one_teammate_is_reported_and_the_others_are_joined(
    tmp_path: Path, error: BaseException
) -> None:
    class Broken(lk.Mechanism):
        def before_model(self, agent: lk.Agent) -> None:
            raise error

    ran = Ran(
        tmp_path,
        {
            "lead": [lk.reply(spawn("alice"), spawn("bob")), *say("a", "b", "c")],
            "bob": say("done"),
        },
        factory=lambda name, role: [Broken()] if name == "alice" else [],
    )
    with pytest.raises(type(error)):
        ran.go()
    assert ran.told("lead")[0].startswith(f"failed: {type(error).__name__}: ")
    assert ran.told("lead")[1:] == ["done"]
    assert [one.status for one in ran.team.members] == ["shutdown", "shutdown"]
    assert all(one.worker is not None and one.worker.done for one in ran.team.members)

"""A teammate in a process of its own: it leases its tasks, and its lead sees and leads it.

Here lead and teammate share a process and a virtual clock, but only the backend connects them:
``tests/terminal/test_join.py`` has real processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from teams import done, say, send, spawn, work, worker

import learnkit as lk
from learnkit.backends.connect import open_backend
from learnkit.backends.files.store import Journal
from learnkit.backends.leased import LeasedBoard
from learnkit.core.agent import Agent
from learnkit.mechanisms.teams.joined import JoinedTeam
from learnkit.mechanisms.teams.lead import Team

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_thread_is_left")]


class Place:
    """A backend, a lead and any number of joined teammates."""

    def __init__(
        self, folder: Path, lanes: Any, plan_required: Any = False, clock: Any = None
    ) -> None:
        self.folder, self.clock = folder, clock or lk.VirtualClock()
        self.backend = open_backend(f"files:{folder}", clock=self.clock)
        self.client = lk.scripted(lanes, clock=self.clock)
        self.board = self.backend.board()
        self.team = Team(None, lambda name, role: [], backend=self.backend)
        self.protocols = lk.Protocols(self.team, deadline=30.0, plan_required=plan_required)
        board = self.backend.board()
        parts = [lk.Tasks(board), self.team, self.protocols, lk.Autonomy(self.team, board)]
        self.lead = Agent(self.client, parts)

    @contextmanager
    def joined(
        self, name: str = "alice", role: str = "coder", poll: float = 1.0, **options: Any
    ) -> Iterator[Any]:
        """Join, and leave at the end."""
        stays, plan = options.pop("stays", True), options.pop("plan", False)
        own = {"transcripts": self.folder / name, "clock": self.clock, "where": "host-b"}
        joined = JoinedTeam(self.backend, name, role, **{**own, **options})
        lk.Protocols(joined, plan_required=plan)
        lk.Autonomy(joined, joined.board, poll=poll, idle=20.0)
        joined.stays = stays
        try:
            joined.start(self.client, [lk.Tasks(joined.board), lk.Toolbox(work)])
            yield joined
        finally:
            joined.teammate.stop.set()
            joined.wait()

    def until(self, met: Any, seconds: float = 300.0) -> None:
        """Let virtual time pass until something is so."""
        end = self.clock.time() + seconds
        while not met():
            assert self.clock.time() < end, "it did not come to pass"
            self.clock.sleep(0.5 if isinstance(self.clock, lk.VirtualClock) else 0.02)

    def of(self, type: str) -> list[dict[str, Any]]:
        return [event.data for event in self.lead.events if event.type == type]


def test_it_claims_what_suits_it_and_gives_its_name_free(tmp_path: Path) -> None:
    place = Place(tmp_path, {"alice": worker})
    for subject, tags in (("one", ["coder"]), ("two", ["tester"]), ("three", [])):
        place.board.create(subject, tags=tags)
    with place.joined() as joined:
        place.until(lambda: place.board.get(3).status == "completed")
        place.until(lambda: joined.teammate.status == "idle")
        one, two, three = place.board.tasks()
        assert (one.owner, two.status, three.owner) == ("alice", "pending", "alice")
        assert one.incarnation == joined.incarnation
        assert one.token == 1
        (entry,) = place.backend.roster().members()
        assert (entry["status"], entry["where"]) == ("idle", "host-b")
    (entry,) = place.backend.roster().members()
    assert entry["status"] == "shutdown"


@pytest.mark.parametrize("where", ["start_beating", "assigned", "teammate.start"])
def test_a_signal_while_it_joins_leaves_no_one_behind(tmp_path: Path, where: str) -> None:
    """The roster has its name by then, and perhaps its thread runs."""
    place = Place(tmp_path, {"alice": worker})
    place.board.create("one")
    joined = JoinedTeam(
        place.backend, "alice", "coder", transcripts=tmp_path / "alice", clock=place.clock
    )
    lk.Autonomy(joined, joined.board, poll=1.0, idle=20.0)
    *parts, name = where.split(".")
    of = getattr(joined, parts[0]) if parts else joined
    act = getattr(of, name)

    def interrupted(*arguments: Any) -> None:
        act(*arguments)
        raise KeyboardInterrupt

    setattr(of, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        joined.start(place.client, [lk.Tasks(joined.board), lk.Toolbox(work)])
    joined.teammate.ended()
    (entry,) = place.backend.roster().members()
    assert entry["status"] == "shutdown"
    assert place.board.get(1).status == "pending"


def test_beats_hold_a_task_through_a_call_that_takes_longer_than_the_lease(tmp_path: Path) -> None:
    place = Place(tmp_path, {"alice": [lk.reply(done(1), latency=200.0), *say("done")]})
    place.board.create("long")
    with place.joined(lease=6.0):
        place.until(lambda: place.board.get(1).status == "in_progress")
        for _ in range(150):
            place.clock.sleep(1.0)
            assert place.board.ready() == []
        place.until(lambda: place.board.get(1).status == "completed")


def is_done(place: Place, id: int) -> bool:
    return place.board.get(id).status == "completed"


def test_a_disk_that_refuses_its_transcript_ends_no_worker(tmp_path: Path) -> None:
    """It says so once each time, tries again, and what it could not write is written then."""
    place, problem = Place(tmp_path, {"alice": worker}, clock=lk.SystemClock()), None
    home, away = tmp_path / "alice", tmp_path / "away"
    try:
        with place.joined(poll=0.05) as joined:
            agent, ended = joined.teammate.agent, joined.teammate.worker
            stuck = 0

            def count(event: Any) -> None:
                nonlocal stuck
                stuck += event.type == "team.stuck"

            agent.events.subscribe(count)
            for number in (1, 2):
                if home.exists():
                    home.rename(away)
                home.touch()  # a file in the folder's place
                place.board.create("a task")
                place.until(lambda number=number: stuck == number or ended.done)
                home.unlink()
                if away.exists():
                    away.rename(home)
                place.until(lambda number=number: ended.done or is_done(place, number))
                place.until(lambda: ended.done or joined.teammate.status == "idle")
            assert not ended.done
    except OSError as error:
        problem = error
    assert problem is None
    kept = [entry["message"] for entry in Journal(home / "alice.jsonl").read()[0]]
    assert kept == agent.messages
    assert stuck == 2
    report = [mail.content for mail in place.backend.mail().unread("lead")]
    assert report == ["done", "done"]


def test_a_late_completion_is_refused_and_the_model_reads_who_has_the_task(tmp_path: Path) -> None:
    lanes = {"alice": [lk.reply(done(1), latency=50.0), *say("I stop.")]}
    place = Place(tmp_path, lanes)
    place.board.create("long")
    with place.joined(lease=6.0) as joined:
        place.until(lambda: place.board.get(1).status == "in_progress")
        joined.end_beating()  # cut off: the server does not hear it any more
        place.clock.sleep(7.0)
        place.backend.board().claim(1, "bob", incarnation="b", lease=1000.0)
        place.until(lambda: joined.teammate.status == "idle")
        refused = [e for e in joined.teammate.agent.events if e.type == "task.refused"]
        said = "task 1 is not yours any more: bob has it now. Stop working on it."
        assert [event.data["problem"] for event in refused] == [said]
    task = place.board.get(1)
    assert (task.status, task.owner, task.result_summary) == ("in_progress", "bob", "")


def test_a_second_process_of_the_same_name_ends_the_first(tmp_path: Path) -> None:
    place = Place(tmp_path, {"alice": []})
    with place.joined() as first, place.joined() as second:
        place.until(lambda: first.teammate.status == "shutdown", 30.0)
        assert "belongs to another process" in first.lost
        place.clock.sleep(60.0)
        assert second.teammate.status == "idle"
        assert second.lost == ""
        (entry,) = place.backend.roster().members()
        assert (entry["incarnation"], entry["status"]) == (second.incarnation, "idle")


def test_what_it_does_not_finish_it_is_reminded_of_once_and_then_gives_back(tmp_path: Path) -> None:
    place = Place(tmp_path, {"alice": say("hm", "hm", *["again"] * 4)})
    place.board.create("one")
    with place.joined() as joined:
        place.until(lambda: place.board.get(1).status == "in_progress")
        place.until(lambda: place.board.get(1).status == "pending", 50.0)
        assert joined.teammate.status != "shutdown"
        assert "You still hold #1" in str(joined.teammate.agent.messages)


def test_the_lead_sees_where_it_lives_and_leads_it_with_its_own_tools(tmp_path: Path) -> None:
    answers = iter([False, True])

    def alice(request: Any) -> Any:
        said = str(request["messages"][-1]["content"])
        if asked := re.search(r'request_id=\\?"(\w+)', said):
            answer = {"approve": next(answers), "reason": "not yet"}
            return lk.use("shutdown_response", request_id=asked[1], **answer)
        return send("lead", "hello back") if "hello" in said else lk.say("done")

    lead = [
        lk.use("list_teammates"),
        send("alice", "hello"),
        *say("I wait.", "I have read it."),
        *[lk.use("shutdown_request", teammate="alice"), *say("I wait.", "No.", "It works on.")],
        *[lk.use("shutdown_request", teammate="alice"), *say("I wait.", "It has ended.")],
    ]
    place = Place(tmp_path, {"lead": lead, "alice": alice})
    with place.joined() as joined:
        place.lead.run("Say hello.")
        assert "hello back" in str(place.lead.messages)
        place.lead.run("End it.")
        place.clock.sleep(45.0)  # the deadline, and a beat
        assert joined.teammate.status == "idle"
        place.lead.run("End it.")
        place.until(lambda: joined.teammate.status == "shutdown", 10.0)
        place.team.read_inbox()  # looks at the roster, too
    place.protocols.close()
    (listed,) = (e["output"] for e in place.of("tool.ended") if e["name"] == "list_teammates")
    pattern = r"alice \(coder\): idle on host-b, last heard from \d+ s ago, 0 unread"
    assert re.fullmatch(pattern, listed)
    assert place.of("team.joined") == [{"name": "alice", "role": "coder", "where": "host-b"}]
    mails = [one["mail"] for one in place.of("mail.sent")]
    assert ("alice", "lead") in {(mail["from"], mail["to"]) for mail in mails}
    read = {id for one in place.of("mail.read") for id in one["ids"]}
    assert read == {mail["id"] for mail in mails}
    assert place.of("team.status")[-1]["status"] == "shutdown"


def test_the_lead_does_not_wait_for_the_dead(tmp_path: Path) -> None:
    place = Place(tmp_path, {"lead": say("I wait.", "x"), "alice": [lk.say("x", latency=1e5)]})
    roster = place.backend.roster()
    roster.note({"name": "alice", "role": "coder", "status": "working", "incarnation": "a"})
    roster.beat("alice", "a", "host-b")
    place.backend.mail().open("alice")
    place.lead.run("Wait.")
    assert 59 <= place.clock.time() <= 70
    assert [one["name"] for one in place.of("team.lost")] == ["alice"]
    line = r"alice \(coder\): not heard from for \d+ s \(it was working on host-b\), 0 unread"
    assert re.fullmatch(line, place.team.list_teammates())


def approves(request: Any) -> Any:
    """A lead's model that approves each plan."""
    said = str(request["messages"][-1]["content"])
    if "approved" not in said and (asked := re.search(r'request_id=\\?"(\w+)', said)):
        return lk.use("plan_approval", request_id=asked[1], approve=True)
    return lk.say("I wait.")


def plans_if_it_must(request: Any) -> Any:
    """A teammate's model that submits a plan when a call was refused for want of one."""
    said = str(request["messages"][-1]["content"])
    if "<auto-claimed>" in said:
        return lk.use("work")
    if "needs an approved plan" in said:
        return lk.use("plan_approval", plan="I work.")
    return lk.use("work") if "approved" in said and "worked" not in said else lk.say("done")


def outputs(joined: JoinedTeam) -> list[str]:
    events = joined.teammate.agent.events
    return [event.data["output"] for event in events if event.type == "tool.ended"]


@pytest.mark.parametrize("who", ["its own process", "the lead", "the lead, by a function"])
def test_its_plan_is_approved_by_a_lead_elsewhere(who: str, tmp_path: Path) -> None:
    """It makes no difference on which side the plan was required."""
    required = {"the lead": True, "the lead, by a function": lambda name, role: False}
    lanes = {"lead": approves, "alice": plans_if_it_must}
    place = Place(tmp_path, lanes, required.get(who, False))
    with place.joined(plan=who == "its own process") as joined:
        place.team.system(place.lead)  # the lead begins, and sees it
        place.protocols.system(place.lead)
        place.board.create("one")
        place.lead.run("Go.")
        place.until(lambda: "worked" in str(joined.teammate.agent.messages), 60.0)
        assert "work needs an approved plan" in outputs(joined)[0]
        assert outputs(joined)[-1] == "worked"
        (plan,) = place.backend.requests().all()
        assert (plan.sender, plan.to, plan.state) == ("alice", "lead", "approved")
        assert "submit a plan with plan_approval" in joined.teammate.agent.system


def test_who_is_idle_looks_for_what_another_process_has_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learnkit.mechanisms.teams.teammate.EVERY", 0.05)
    hello = [send("lead", "hello back"), *say("done")]
    script = {
        "lead": [spawn("bob"), *say("go", "heard")],
        "bob": [*say("ready"), *hello],
        "alice": hello,
    }
    with lk.SystemClock() as clock:
        place = Place(tmp_path, script, clock=clock)
        with place.team, place.joined(poll=3600.0) as joined:
            place.team.poll = None
            place.lead.run("Go.")
            place.until(lambda: place.team.members[0].status == "idle", 20.0)
            elsewhere = place.backend.mail()
            for name, teammate in (("bob", place.team.members[0]), ("alice", joined.teammate)):
                elsewhere.send("lead", name, "hello")
                place.until(lambda told=teammate: "hello" in str(told.agent.messages), 20.0)


SUCCESSOR = {"name": "alice", "role": "coder", "status": "working", "incarnation": "new"}


def test_a_stop_does_not_hit_the_successor_of_who_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, {"lead": say("x"), "alice": []})
    roster = place.backend.roster()
    with place.joined():
        place.lead.run("Look.")
        members = place.team.roster.members

        def overtaken() -> Any:
            found = members()
            roster.note(SUCCESSOR)
            return found

        monkeypatch.setattr(place.team.roster, "members", overtaken)
        place.team.stop("alice")
        assert roster.members() == [SUCCESSOR]


def test_a_board_under_leases_changes_what_it_holds_and_nothing_else(tmp_path: Path) -> None:
    clock = lk.VirtualClock()
    board = open_backend(f"files:{tmp_path}", clock=clock).board()
    for subject in ("one", "two", "three"):
        board.create(subject)
    mine = LeasedBoard(board, "alice", "new", 60.0)
    board.claim(1, "alice", incarnation="old", lease=10.0)
    with pytest.raises(lk.ToolError, match="an earlier run of alice has begun task 1"):
        mine.update(1, "completed", by="alice")
    with pytest.raises(lk.ToolError, match="task 1 is in_progress by alice"):
        mine.update(1, "in_progress", owner="alice", by="alice")
    begun = mine.update(2, "in_progress", owner="alice", by="alice")
    assert begun is not None
    assert (begun.incarnation, begun.token) == ("new", 1)
    with pytest.raises(lk.ToolError, match="no task 9"):
        mine.update(3, "in_progress", owner="alice", by="alice", add_blocks=[9])
    assert board.get(3).status == "pending"
    clock.sleep(11.0)
    mine.update(1, "in_progress", owner="alice", by="alice")
    mine.update(1, "completed", by="alice")
    assert (board.get(1).incarnation, board.get(1).status) == ("new", "completed")
    assert [task.id for task in mine.release("alice", "new")] == [2]
    with pytest.raises(lk.ToolError, match="nobody has it now"):
        mine.update(2, "completed", by="alice")

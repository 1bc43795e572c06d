"""Autonomy: each task is claimed once, by one it suits; who ends gives back what it holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from teams import CLOCKS, Ran, done, say, send, spawn, tools, when, work, worker

import learnkit as lk

pytestmark = pytest.mark.usefixtures("no_thread_is_left")


def ran(folder: Path, lanes: Any, clock: Any = None, **options: Any) -> Ran:
    """A team with autonomy, and tools for the board."""
    board = options.pop("board", None) or lk.TaskBoard(folder / ".tasks")
    own = {name: options.pop(name) for name in ("poll", "idle") if name in options}
    more = options.pop("more", lambda name, role: [])
    with_protocols = options.pop("protocols", None)

    def mechanisms(team: lk.Team) -> list[lk.Mechanism]:
        made: list[lk.Mechanism] = [lk.Autonomy(team, board, **own)]
        if with_protocols is not None:
            made.append(lk.Protocols(team, **with_protocols))
        return made

    return Ran(
        folder,
        lanes,
        clock,
        factory=lambda name, role: [lk.Tasks(board), lk.Toolbox(work), *more(name, role)],
        mechanisms=mechanisms,
        **options,
    )


def board_of(folder: Path, *subjects: str, **tags: list[str]) -> lk.TaskBoard:
    board = lk.TaskBoard(folder / ".tasks")
    for subject in subjects:
        board.create(subject, tags=tags.get(subject, []))
    return board


def owners(board: lk.TaskBoard) -> dict[int, str]:
    return {task.id: task.owner for task in board.tasks()}


def states(run: Ran, name: str) -> list[str]:
    return [one["status"] for one in run.of("team.status") if one["name"] == name]


@CLOCKS
def test_teammates_find_work_and_each_task_is_done_once(tmp_path: Path, clock: Any) -> None:
    board = board_of(tmp_path, "a", "b", "c")
    lanes = {
        "lead": when(("Go.", lk.reply(spawn("alice"), spawn("bob")))),
        "alice": worker,
        "bob": worker,
    }
    run = ran(tmp_path, lanes, clock(), poll=0.1, idle=0.3)
    run.go()
    assert {task.status for task in board.tasks()} == {"completed"}
    started = [one["task"]["id"] for one in run.of("task.started")]
    assert sorted(started) == [1, 2, 3]
    assert set(owners(board).values()) == {"alice", "bob"}


def test_a_task_that_comes_while_it_is_idle_is_found_at_the_next_look(tmp_path: Path) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    run = ran(tmp_path, {"lead": when(("Go.", spawn("alice"))), "alice": worker}, board=board)
    with run.team:
        run.lead.run("Go.")
        began = run.clock.time()
        run.clock.sleep(17)
        board.create("late")
        run.clock.sleep(10)
    (started,) = [e for e in run.lead.events if e.type == "task.started"]
    assert 17 <= started.time - began <= 17 + 5
    assert board.get(1).status == "completed"


def test_mail_comes_before_new_work(tmp_path: Path) -> None:
    board_of(tmp_path, "a")
    run = ran(
        tmp_path,
        {
            "lead": when(("Go.", spawn("alice")), ("has started", send("alice", "first this"))),
            "alice": when(
                ("Begin.", lk.reply("ready", latency=4.0)),
                ("first this", lk.say("read")),
                ("auto-claimed", done(1)),
            ),
        },
    )
    run.go()
    texts = run.texts("alice")
    assert texts.index("first this") < texts.index("<auto-claimed>")


@CLOCKS
def test_idle_as_a_call_rests_and_goes_on_in_the_same_run(tmp_path: Path, clock: Any) -> None:
    board = board_of(tmp_path, "a")
    run = ran(
        tmp_path,
        {
            "lead": when(("Go.", spawn("alice"))),
            "alice": when(
                ("Begin.", lk.reply("nothing here", lk.use("idle"))),
                ("auto-claimed", done(1)),
                ("[x] #1", lk.use("idle")),
            ),
        },
        clock(),
        poll=0.05,
        idle=0.1,
    )
    run.go()
    assert board.get(1).status == "completed"
    assert states(run, "alice") == ["working", "idle", "working", "idle", "shutdown"]
    runs = [e for e in run.lead.events if e.type == "run.started" and e.lane == "alice"]
    assert len(runs) == 1
    assert run.told("lead")[0] == "nothing here"
    assert run.outputs("idle") == ["You are idle now."] * 2


def test_a_task_is_for_those_whose_role_it_names(tmp_path: Path) -> None:
    board = board_of(tmp_path, "code", "check", "any", code=["coder"], check=["Tester", "lead"])
    lanes = {
        "lead": when(("Go.", lk.reply(spawn("alice"), spawn("bob", role="tester")))),
        "alice": when(
            ("Begin.", lk.use("claim_task", task_id=2)),
            ("is for Tester", lk.say("not mine")),
            ("Task #1", done(1)),
            ("Task #3", done(3)),
        ),
        "bob": when(("Task #2", lk.reply(done(2), latency=9.0)), ("Task #3", done(3))),
    }
    run = ran(tmp_path, lanes)
    run.go()
    assert owners(board) == {1: "alice", 2: "bob", 3: "alice"}
    assert run.outputs("claim_task") == ["task 2 is for Tester, lead; your role is coder"]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lk.use("claim_task", task_id=9), "there is no task 9"),
        (lk.use("claim_task", task_id=3), "task 3 is blocked by 1"),
        (lk.use("claim_task", task_id=2), "you already hold task 1; complete it"),
    ],
)
def test_what_cannot_be_claimed_is_a_tool_error(tmp_path: Path, call: Any, problem: str) -> None:
    board = board_of(tmp_path, "a", "b", "c")
    board.update(3, add_blocked_by=[1])
    first = lk.use("claim_task", task_id=1)
    script = [first, call] if "hold" in problem else [call]
    lanes = {"lead": when(("Go.", spawn("alice"))), "alice": [*script, *say(*"xyzuvw")]}
    run = ran(tmp_path, lanes)
    run.go()
    assert problem in run.outputs("claim_task")[-1]


def test_who_ends_gives_back_what_it_holds_and_another_finds_it(tmp_path: Path) -> None:
    board = board_of(tmp_path, "a")

    def broken(request: Any) -> Any:
        if "auto-claimed" in str(request["messages"][-1]):
            raise RuntimeError("alice dies")
        return lk.say("ready")

    lanes = {
        "lead": when(("Go.", spawn("alice")), ("failed: ", spawn("bob"))),
        "alice": broken,
        "bob": worker,
    }
    run = ran(tmp_path, lanes)
    with pytest.raises(Exception, match="alice dies"):
        run.go()
    (returned,) = run.of("task.returned")
    assert returned["task"]["id"] == 1
    assert (board.get(1).status, board.get(1).owner) == ("completed", "bob")


def test_a_new_process_gives_back_what_members_of_the_old_one_held(tmp_path: Path) -> None:
    board = board_of(tmp_path, "a", "b")
    run = ran(tmp_path, {"lead": when(("Go.", spawn("alice"))), "alice": worker})
    run.go()
    board.create("c")
    board.claim(3, "alice")  # as if it had been killed at work
    board.create("d")
    board.claim(4, "somebody of another team")
    again = ran(tmp_path, {"lead": say("a")})
    again.go()
    assert board.get(3).status == "pending"
    assert board.get(4).owner == "somebody of another team"


def test_who_forgets_a_task_is_reminded_once_and_then_it_is_given_back(tmp_path: Path) -> None:
    board = board_of(tmp_path, "a")
    run = ran(tmp_path, {"lead": when(("Go.", spawn("alice"))), "alice": say(*"xyzuvw")})
    with run.team:
        run.lead.run("Go.")
        run.clock.sleep(200)
    assert run.texts("alice").count("You still hold #1") == 1
    assert board.get(1).status == "pending"
    assert states(run, "alice")[-1] == "shutdown"


@pytest.mark.parametrize(("approve", "status"), [(True, "completed"), (False, "pending")])
def test_who_waits_for_the_answer_to_its_plan_does_not_end_for_want_of_work(
    tmp_path: Path, approve: bool, status: str
) -> None:
    """And who has its answer does, whatever it is."""
    decide = lk.use("plan_approval", request_id="r0000001", approve=approve, feedback="no")
    board = board_of(tmp_path, "a")
    run = ran(
        tmp_path,
        {
            "lead": when(
                ("Go.", spawn("alice")),
                ("my plan", lk.reply(lk.use("list_teammates"), latency=200.0)),
                ("alice (coder): idle", decide),
            ),
            "alice": when(
                ("auto-claimed", lk.use("plan_approval", plan="my plan")),
                ("approved", done(1)),
            ),
        },
        protocols={"plan_required": True},
    )
    with run.team:
        run.lead.run("Go.")
        run.clock.sleep(400)
        assert states(run, "alice")[-1] == "shutdown"
    assert board.get(1).status == status


def test_a_claimed_task_is_a_new_assignment_so_each_needs_a_plan_of_its_own(tmp_path: Path) -> None:
    board_of(tmp_path, "a", "b")

    def alice(request: Any) -> Any:
        said = str(request["messages"][-1]["content"])
        if found := re.findall(r"Task #(\d+)", said):
            return lk.use("work") if found[-1] == "2" else lk.use("plan_approval", plan="my plan")
        if "approved" in said and "needs" not in said:
            return lk.reply(lk.use("work"), done(1))
        return lk.say("…")

    run = ran(
        tmp_path,
        {
            "lead": when(
                ("Go.", spawn("alice")),
                ("my plan", lk.use("plan_approval", request_id="r0000001", approve=True)),
            ),
            "alice": alice,
        },
        protocols={"plan_required": True},
    )
    run.go()
    first, second = run.outputs("work")
    assert first == "worked"
    assert "needs an approved plan" in second


def test_a_shutdown_in_idle_is_answered(tmp_path: Path) -> None:
    agree = lk.use("shutdown_response", request_id="r0000001", approve=True)
    run = ran(
        tmp_path,
        {
            "lead": when(
                ("Go.", spawn("alice")), ("ready", lk.use("shutdown_request", teammate="alice"))
            ),
            "alice": when(("Begin.", lk.say("ready")), ("shut down", agree)),
        },
        protocols={},
    )
    run.go()
    assert states(run, "alice") == ["working", "idle", "working", "shutdown"]
    assert run.clock.time() < 20


# Identity


def test_after_a_compaction_the_identity_stands_in_the_messages(tmp_path: Path) -> None:
    board_of(tmp_path, *"abc")
    summaries = 0

    def alice(request: Any) -> Any:
        nonlocal summaries
        if "tools" not in request or "<conversation>" in str(request["messages"][-1]):
            summaries += 1
            return lk.say("alice and bob did something")
        if "auto-claimed" in str(request["messages"][-1]):
            return worker(request)
        return lk.say("word " * 300)

    def compaction(name: str, role: str) -> list[lk.Mechanism]:
        return [lk.Compaction(threshold=700, transcripts=tmp_path / "transcripts")]

    lanes = {"lead": when(("Go.", spawn("alice"))), "alice": alice}
    run = ran(tmp_path, lanes, more=compaction)
    run.go()
    assert summaries
    identity = "<identity>You are 'alice', role: coder, team: team</identity>"
    messages = run.team.members[0].agent.messages
    assert str(messages).count("role: coder, team: team</identity>") == 1
    assert identity in run.texts("alice")


def test_arguments_that_cannot_be_are_refused(tmp_path: Path) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    for options in ({"poll": 0.0}, {"idle": -1.0}):
        with pytest.raises(lk.UsageError, match="poll is"):
            lk.Autonomy(lk.Team(tmp_path, tools), board, **options)
    team = lk.Team(tmp_path, tools)
    lk.Autonomy(team, board)
    with pytest.raises(lk.UsageError, match="has its autonomy already"):
        lk.Autonomy(team, board)

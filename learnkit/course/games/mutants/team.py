"""Mutants of teams, their protocols and their worktrees: lessons 9 to 12."""

from __future__ import annotations

from pathlib import Path

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.events import EventLog
from learnkit.core.mechanism import Mechanism
from learnkit.course.games.mutants.mutant import Killed, Mutant, alone, choice, together, when
from learnkit.errors import UsageError
from learnkit.mechanisms.autonomy.lead import Autonomy
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.protocols.lead import Protocols
from learnkit.mechanisms.teams.lead import Team
from learnkit.mechanisms.worktrees.mechanism import Worktrees
from learnkit.runtime.shell import LocalShell
from learnkit.runtime.shell_environment import REPRODUCIBLE


class _Crash(Mechanism):
    """Kills its agent once, when its second run begins: after mail was read, before it is kept."""

    def __init__(self) -> None:
        self._runs = 0

    def system(self, agent: Agent) -> str | None:
        self._runs += 1
        if self._runs == 2:
            raise Killed(f"{agent.name} is killed")
        return None


def _spawn(name: str, role: str = "coder") -> Reply:
    return use("spawn_teammate", name=name, role=role, prompt="Begin.")


def _mail(folder: Path) -> EventLog:
    """Alice reads a message, and is killed before it is in her transcript. When she is started
    again, the message is delivered again, and she answers."""
    lead = when(
        ("Go.", _spawn("alice")),
        ("ready", use("send_message", to="alice", content="Which limit?")),
        ("is killed", _spawn("alice")),
    )
    alice = when(("Which limit?", say("The limit is 30.")), *[("Begin.", say("I am ready."))] * 2)
    team = Team(folder / ".team", lambda name, role: [_Crash()])
    return together(team, {"lead": lead, "alice": alice})


def _shutdown(folder: Path) -> EventLog:
    """The lead asks Alice to shut down. Bob answers in her place, and is refused."""
    answer = use("shutdown_response", request_id="r0000001", approve=True)
    team = Team(folder / ".team", lambda name, role: [])
    lanes = {
        "lead": when(
            ("Go.", reply(_spawn("alice"), _spawn("bob"))),
            ("started", use("shutdown_request", teammate="alice")),
        ),
        "alice": when(("Begin.", reply("I am ready.", latency=9.0)), ("shut down", answer)),
        "bob": when(("Begin.", reply(answer, latency=4.0))),
    }
    return together(team, lanes, [Protocols(team)])


def _gate(folder: Path) -> EventLog:
    """Alice needs an approved plan to write. She writes without one, then with a plan that has no
    answer yet. Both are refused."""
    write = use("write_file", path="limits.txt", content="35")
    team = Team(folder / ".team", lambda name, role: [CodingTools(folder / "work")])
    lanes = {
        "lead": when(("Go.", _spawn("alice"))),
        "alice": when(
            ("Begin.", write),
            ("needs an approved plan", use("plan_approval", plan="I replace limits.txt.")),
            ("end your turn and wait", write),
        ),
    }
    return together(team, lanes, [Protocols(team, plan_required=True)])


def _claim(folder: Path) -> EventLog:
    """Task 1 is for a tester, and task 2 waits for it. Alice, a coder, claims 2 and is refused."""
    board = TaskBoard(folder / ".tasks")
    board.create("try it out", tags=["tester"])
    board.create("release it")
    board.update(2, add_blocked_by=[1])
    team = Team(folder / ".team", lambda name, role: [])
    lanes = {
        "lead": when(("Go.", _spawn("alice"))),
        "alice": when(("Begin.", use("claim_task", task_id=2))),
    }
    return together(team, lanes, [Autonomy(team, board, poll=5, idle=20)], seconds=40)


def _dirty(folder: Path) -> EventLog:
    """A worktree has a file that is not committed. It is not removed."""
    start = "git init -q && git commit -q --allow-empty -m start"
    made = LocalShell(REPRODUCIBLE).run(start, folder)
    if made.code != 0:
        raise UsageError(f"no repository could be made in {folder}: {made.output}")
    script = [
        use("worktree_create", name="parser"),
        use("worktree_run", name="parser", command="echo 'a day of work' > parser.py"),
        use("worktree_remove", name="parser"),
        say("That is done."),
    ]
    return alone(script, [Worktrees(folder)], "Write a parser, and clean up.")


MUTANTS = (
    Mutant(
        "m20",
        "learnkit.backends.files.mailbox",
        "self._seen |= self._passed",
        "self.commit()",
        _mail,
        "Traffic",
        choice(
            ("The message went to another teammate.", "It went to alice, and she has read it."),
            (
                "The message is delivered twice.",
                "It comes once. It should come a second time.",
            ),
            (
                "The lead does not start her again after she was killed.",
                "She is back, and has answered Begin.",
            ),
            (
                "Mail counts as handled as soon as it is read.",
                "Right: the message is lost, because she was killed right after reading it.",
            ),
        ),
        "d",
    ),
    Mutant(
        "m21",
        "learnkit.backends.files.tracker",
        "if old.to != by:",
        "if old.sender == by:",
        _shutdown,
        "Traffic",
        choice(
            ("Silence counts as agreement.", "There is an answer, long before the deadline."),
            (
                "Any teammate may answer a request.",
                "Right: bob has agreed in alice's place. He ends, and she stays.",
            ),
            ("A request may be answered twice.", "One answer went to the lead."),
            ("The request was sent to bob.", "The arrow of the request goes to alice."),
        ),
        "b",
    ),
    Mutant(
        "m22",
        "learnkit.mechanisms.protocols.teammate",
        'if plan.state == "approved":',
        'if plan.state in ("approved", "pending"):',
        _gate,
        "Messages",
        choice(
            ("Alice needs no plan.", "Her first call was refused, because she had none."),
            (
                "The lead has approved the plan before the second call.",
                "No answer of the lead is in the log.",
            ),
            ("Writing counts as reading.", "Then her first call would have run as well."),
            (
                "A plan opens the gate before it has an answer.",
                "Right: the file is written while the plan is pending.",
            ),
        ),
        "d",
    ),
    Mutant(
        "m23",
        "learnkit.backends.files.board",
        "near = {id: task, **self._files.tasks(task.blocked_by)}",
        "near = {id: task}",
        _claim,
        "Team",
        choice(
            ("Alice claims what is for a tester.", "That is task 1, and no agent has claimed it."),
            ("Two agents have claimed one task.", "Alice is the only teammate."),
            (
                "A claim does not check what the task waits for.",
                "Right: 2 has begun in alice's lane, and 1 is still open.",
            ),
            ("Alice keeps the task when she ends.", "At the end of her lane it is given back."),
        ),
        "c",
    ),
    Mutant(
        "m24",
        "learnkit.mechanisms.worktrees.mechanism",
        "tree = self.registry.remove(name, force=force)",
        "tree = self.registry.remove(name, force=True)",
        _dirty,
        "Worktrees",
        choice(
            (
                "A worktree is removed despite uncommitted work.",
                "Right: parser.py was in no commit, and its folder is gone.",
            ),
            ("The branch is deleted.", "It stays, where it began."),
            ("The harness commits the work by itself.", "There is only the first commit."),
            ("The command ran in the main folder.", "It ran in the worktree, and left a file."),
        ),
        "a",
    ),
)

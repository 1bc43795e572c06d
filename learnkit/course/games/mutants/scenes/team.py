"""Runs of teams, their protocols and their worktrees: lessons 9 to 12."""

from __future__ import annotations

from pathlib import Path

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.events import EventLog
from learnkit.core.mechanism import Mechanism
from learnkit.course.games.mutants.mutant import Killed, alone, together, when
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


def mail(folder: Path) -> EventLog:
    """Play a teammate that is killed between reading a message and keeping it.

    Args:
        folder: an empty folder.
    """
    lead = when(
        ("Go.", _spawn("alice")),
        ("ready", use("send_message", to="alice", content="Which limit?")),
        ("is killed", _spawn("alice")),
    )
    alice = when(("Which limit?", say("The limit is 30.")), *[("Begin.", say("I am ready."))] * 2)
    team = Team(folder / ".team", lambda name, role: [_Crash()])
    return together(team, {"lead": lead, "alice": alice})


def shutdown(folder: Path) -> EventLog:
    """Play a shutdown request that the wrong teammate answers.

    Args:
        folder: an empty folder.
    """
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


def gate(folder: Path) -> EventLog:
    """Play a teammate that writes without an approved plan.

    Args:
        folder: an empty folder.
    """
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


def claim(folder: Path) -> EventLog:
    """Play a claim of a blocked task.

    Args:
        folder: an empty folder.
    """
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


def dirty(folder: Path) -> EventLog:
    """Play the removal of a worktree with uncommitted work.

    Args:
        folder: an empty folder.
    """
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

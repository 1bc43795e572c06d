"""Lesson 11's crew: rules that play the models, so that a learner can add any task.

A rule works on the claimed task for some seconds and completes it. It is not a language model. The
team around it is real: threads, claims, messages and files.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import tool
from learnkit.course.lessons.s07.processes import race
from learnkit.events.log import Event
from learnkit.events.text import listed
from learnkit.mechanisms.autonomy.lead import Autonomy
from learnkit.mechanisms.teams.lead import Team

#: Role -> its stations.
STATIONS = {
    "coder": ("bergen", "cairo", "dakar", "delhi"),
    "tester": ("hanoi", "lagos", "lima", "oslo"),
    "": ("perth", "quito", "rome", "tokyo"),
}


@tool
def look_at(agent: Agent, what: str, seconds: float) -> str:
    """Look at something, which takes some seconds."""
    agent.clock.sleep(seconds, agent.stop)
    return f"{what}: nothing unusual"


def worker(seconds: float = 5.0) -> Callable[[Any], Reply]:
    """Return a rule that works on the task it claimed last, and completes it."""

    def answer(request: Any) -> Reply:
        last = str(request["messages"][-1]["content"])
        claimed = re.findall(r"<auto-claimed>Task #(\d+): ([^\n<]*)", last)
        if not claimed:
            return say("I have nothing left to do.", latency=1.0)
        id, subject = claimed[-1]
        look = use("look_at", what=subject, seconds=seconds)
        done = use("task_update", task_id=int(id), status="completed", result_summary="looked at")
        return reply(f"Task {id}.", look, done, latency=1.0)

    return answer


def lead(roles: Mapping[str, str], thinks: float = 1.0) -> Callable[[Any], Reply]:
    """Return a rule for a lead that starts its teammates and assigns nothing."""

    def answer(request: Any) -> Reply:
        if len(request["messages"]) > 1:
            return say("They'll find their own work.", latency=thinks)
        calls = [
            use("spawn_teammate", name=name, role=role, prompt="See what there is to do.")
            for name, role in roles.items()
        ]
        return reply(*calls, latency=thinks)

    return answer


#: Name and role of each teammate in the lesson's game.
ROLES = {"alice": "coder", "bob": "coder", "carol": "tester", "dave": "tester"}


def lanes() -> dict[str, Callable[[Any], Reply]]:
    """Return a rule for each lane of the crew; some are faster than others."""
    workers = {name: worker(4.0 + 1.5 * place) for place, name in enumerate(ROLES)}
    return {"lead": lead(ROLES), **workers}


def dispatcher(tasks: int, thinks: float = 1.0) -> Callable[[Any], Reply]:
    """Return a rule for a lead that assigns every task itself, one after each report."""
    left = iter(range(1, tasks + 1))

    def answer(request: Any) -> Reply:
        if len(request["messages"]) == 1:
            calls = [
                use("spawn_teammate", name=name, role="coder", prompt=_order(next(left)))
                for name in ("alice", "bob")
            ]
            return reply(*calls, latency=thinks)
        last = str(request["messages"][-1]["content"])
        reported = re.findall(r'<message id="[^"]*" from="(\w+)"', last)
        orders = [
            use("send_message", to=name, content=_order(id))
            for name, id in zip(reported, left, strict=False)
        ]
        return reply(*(orders or [say("I'll wait for the reports.")]), latency=thinks)

    return answer


def _order(id: int) -> str:
    """The text with which the lead assigns a task; it is as long as a claimed task's."""
    return f"[auto-claimed]Task #{id}: by hand"


def ordered(seconds: float = 5.0) -> Callable[[Any], Reply]:
    """Return a rule that works on the task in its prompt or a message, and reports."""

    def answer(request: Any) -> Reply:
        last = str(request["messages"][-1]["content"])
        if "[auto-claimed]" in last:
            return use("look_at", what="the order", seconds=seconds)
        return say("Done. What's next?", latency=1.0)

    return answer


@tool(name="look_at")
def _look_and_die(what: str, seconds: float) -> str:
    """Kill this process, as a crash of the machine would: nothing tidies up."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def killed_at_work(board: TaskBoard) -> None:
    """Start a team with Bob, and kill this process while he works on a task that he has claimed.

    For a process of its own, as :func:`in_process` starts one.
    """
    script = {"lead": lead({"bob": "coder"}), "bob": worker()}
    with Team(board.folder.parent / ".team", lambda *_: [Toolbox(_look_and_die)]) as team:
        Agent(scripted(script), [team, Autonomy(team, board)]).run("Start bob.")


_CLAIM = """
try:
    board.claim(1, {name!r})
    (board.folder / "{name} began").touch()
except Exception as error:
    # without the winner's name, which differs from run to run
    (board.folder / "{name} failed").write_text(str(error).partition(" by ")[0])
"""


def claim_at_once(board: type, folder: Path) -> tuple[list[str], list[str]]:
    """Let two processes claim one task; each waits for the other just before it writes."""
    board(folder).create("check cairo")
    race(board, folder, [_CLAIM.format(name=name) for name in ("alice", "bob")])
    began = sorted(path.name.removesuffix(" began") for path in folder.glob("* began"))
    return began, [path.read_text() for path in sorted(folder.glob("* failed"))]


def left_over(log: Iterable[Event]) -> str:
    """Say which tasks of a crew nobody could take, and why."""
    tasks: dict[int, Any] = {}
    roles: dict[str, str] = {}
    gone: dict[str, bool] = {}
    for event in log:
        if "task" in event.data:
            tasks[event.data["task"]["id"]] = event.data["task"]
        elif event.type == "team.spawned":
            roles[event.data["name"]] = event.data["role"]
        elif event.type == "team.status":
            gone[event.data["name"]] = event.data["status"] == "shutdown"
    if not roles:
        return "Nothing has run yet. Press Start first."
    if at_work := [name for name in roles if not gone.get(name)]:
        return f"Not all have shut down: {listed(at_work)} may still take a task."
    left = [task for task in tasks.values() if task["status"] != "completed"]
    if not left:
        return f"All {len(tasks)} tasks were taken and completed."
    return "\n".join(f"Task {task['id']} is left. {_why(task['tags'], roles)}" for task in left)


def _why(tags: Iterable[str], roles: Mapping[str, str]) -> str:
    """Who could have taken a task with these tags."""
    suited = [name for name, role in roles.items() if not tags or role in tags]
    whom = f"a {' or '.join(tags)}" if tags else "anyone"
    there = f"{listed(suited)} had shut down" if suited else "there was none"
    return f"It is for {whom}, and {there}."

"""Lesson 11's crew: rules that play the models, so that a learner can add any task.

A rule works on the claimed task for some seconds and completes it. It is not a language model. The
team around it is real: threads, claims, messages and files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.tools import tool

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
    """Return a rule that works on the task it claimed last, and completes it.

    Args:
        seconds: how long one task takes.
    """

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


def lead(roles: Mapping[str, str]) -> Callable[[Any], Reply]:
    """Return a rule for a lead that starts its teammates and assigns nothing.

    Args:
        roles: name and role of each.
    """

    def answer(request: Any) -> Reply:
        if len(request["messages"]) > 1:
            return say("They'll find their own work.", latency=1.0)
        calls = [
            use("spawn_teammate", name=name, role=role, prompt="See what there is to do.")
            for name, role in roles.items()
        ]
        return reply(*calls, latency=1.0)

    return answer


#: Name and role of each teammate in the lesson's game.
ROLES = {"alice": "coder", "bob": "coder", "carol": "tester", "dave": "tester"}


def lanes() -> dict[str, Callable[[Any], Reply]]:
    """Return a rule for each lane of the crew; some are faster than others."""
    workers = {name: worker(4.0 + 1.5 * place) for place, name in enumerate(ROLES)}
    return {"lead": lead(ROLES), **workers}


def dispatcher(tasks: int) -> Callable[[Any], Reply]:
    """Return a rule for a lead that assigns every task itself, one after each report.

    Args:
        tasks: how many there are.
    """
    left = iter(range(1, tasks + 1))

    def answer(request: Any) -> Reply:
        if len(request["messages"]) == 1:
            calls = [
                use("spawn_teammate", name=name, role="coder", prompt=_order(next(left)))
                for name in ("alice", "bob")
            ]
            return reply(*calls)
        last = str(request["messages"][-1]["content"])
        reported = re.findall(r'<message id="[^"]*" from="(\w+)"', last)
        orders = [
            use("send_message", to=name, content=_order(id))
            for name, id in zip(reported, left, strict=False)
        ]
        return reply(*orders) if orders else say("I'll wait for the reports.")

    return answer


def _order(id: int) -> str:
    """The text with which the lead assigns a task; it is as long as a claimed task's."""
    return f"[auto-claimed]Task #{id}: by hand"


def ordered(seconds: float = 5.0) -> Callable[[Any], Reply]:
    """Return a rule that works on the task in its prompt or a message, and reports.

    Args:
        seconds: how long one task takes.
    """

    def answer(request: Any) -> Reply:
        last = str(request["messages"][-1]["content"])
        if "[auto-claimed]" in last:
            return use("look_at", what="the order", seconds=seconds)
        return say("Done. What's next?", latency=1.0)

    return answer

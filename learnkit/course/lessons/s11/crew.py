"""Lesson 11's crew: teammates whose model is a rule, so that a learner can add any task.

The rule looks at the claimed task, which takes a while, and completes it. A rule is not a language
model. The team around it is real: threads, claims, mail and files.
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
    """Look at something; it takes a while."""
    agent.clock.sleep(seconds, agent.stop)
    return f"{what}: nothing unusual"


def worker(seconds: float = 5.0) -> Callable[[Any], Reply]:
    """Return a model that does the task that it has claimed last.

    Args:
        seconds: how long one task takes.
    """

    def answer(request: Any) -> Reply:
        last = str(request["messages"][-1]["content"])
        claimed = re.findall(r"<auto-claimed>Task #(\d+): ([^\n<]*)", last)
        if not claimed:
            return say("Nothing is left to do here.", latency=1.0)
        id, subject = claimed[-1]
        look = use("look_at", what=subject, seconds=seconds)
        done = use("task_update", task_id=int(id), status="completed", result_summary="looked at")
        return reply(f"Task {id}.", look, done, latency=1.0)

    return answer


def lead(roles: Mapping[str, str]) -> Callable[[Any], Reply]:
    """Return a lead that starts its teammates, and then leaves them alone.

    Args:
        roles: name and role of each.
    """

    def answer(request: Any) -> Reply:
        if len(request["messages"]) > 1:
            return say("They find their work.", latency=1.0)
        calls = [
            use("spawn_teammate", name=name, role=role, prompt="Look what there is to do.")
            for name, role in roles.items()
        ]
        return reply(*calls, latency=1.0)

    return answer


#: The crew of the lesson's last scenario: name and role.
ROLES = {"alice": "coder", "bob": "coder", "carol": "tester", "dave": "tester"}


def lanes() -> dict[str, Callable[[Any], Reply]]:
    """Return a model for each lane of the crew; some are faster than others."""
    workers = {name: worker(4.0 + 1.5 * place) for place, name in enumerate(ROLES)}
    return {"lead": lead(ROLES), **workers}


def dispatcher(tasks: int) -> Callable[[Any], Reply]:
    """Return a lead that assigns every task itself, the next one after each report.

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
        return reply(*orders) if orders else say("I wait for reports.")

    return answer


def _order(id: int) -> str:
    """A task as the lead assigns it, in the words in which a claimed task arrives."""
    return f"[auto-claimed]Task #{id}: by hand"


def ordered(seconds: float = 5.0) -> Callable[[Any], Reply]:
    """Return a model that does the task in a message or a prompt, and reports.

    Args:
        seconds: how long one task takes.
    """

    def answer(request: Any) -> Reply:
        last = str(request["messages"][-1]["content"])
        if "[auto-claimed]" in last:
            return use("look_at", what="the order", seconds=seconds)
        return say("Done; what is next?", latency=1.0)

    return answer

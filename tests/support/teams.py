"""A team with a script for each lane, and what can be seen of its run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.games.night.crew import when

__all__ = ["CLOCKS", "Ran", "done", "say", "send", "spawn", "tools", "when", "work", "worker"]

#: A test on both clocks.
CLOCKS = pytest.mark.parametrize(
    "clock", [lk.VirtualClock, pytest.param(lk.SystemClock, marks=pytest.mark.slow)]
)


@lk.tool
def work(task: str = "") -> str:
    """Work."""
    if task == "break":
        raise RuntimeError("a broken tool")
    return "worked"


def spawn(name: str, prompt: str = "Begin.", role: str = "coder") -> Any:
    return lk.use("spawn_teammate", name=name, role=role, prompt=prompt)


def send(to: str, content: str) -> Any:
    return lk.use("send_message", to=to, content=content)


def say(*texts: str) -> list[Any]:
    return [lk.say(text) for text in texts]


def done(id: int) -> Any:
    return lk.use("task_update", task_id=id, status="completed", result_summary="by me")


def worker(request: Any) -> Any:
    """A model that completes the task that it was given last, if it has not done so."""
    said = request["messages"][-1]["content"]
    if found := re.findall(r"<auto-claimed>Task #(\d+)", str(said)):
        return done(int(found[-1]))
    return lk.say("done")


def tools(name: str, role: str) -> list[lk.Mechanism]:
    return [lk.Toolbox(work)]


class Ran:
    """A team's run."""

    def __init__(self, folder: Path, lanes: Any, clock: Any = None, **options: Any) -> None:
        self.folder, self.clock = folder / ".team", clock or lk.VirtualClock()
        more = options.pop("mechanisms", [])
        self.team = lk.Team(self.folder, options.pop("factory", tools), **options)
        client = lk.scripted(lanes, clock=self.clock)
        made = more(self.team) if callable(more) else more
        self.lead = lk.Agent(client, [self.team, *made], name="lead")

    def go(self, prompt: str = "Go.") -> lk.Outcome:
        with self.team:
            return self.lead.run(prompt)

    def of(self, type: str) -> list[dict[str, Any]]:
        return [event.data for event in self.lead.events if event.type == type]

    def outputs(self, name: str, lane: str | None = None) -> list[str]:
        """What the calls of a tool gave back."""
        return [
            event.data["output"]
            for event in self.lead.events
            if event.type == "tool.ended" and event.data["name"] == name
            if lane is None or event.lane == lane
        ]

    def texts(self, name: str) -> str:
        """All user texts in an agent's messages."""
        agents = {one.name: one.agent for one in self.team.members} | {"lead": self.lead}
        return "\n".join(
            block["text"] if isinstance(block, dict) else block
            for message in agents[name].messages
            if message["role"] == "user"
            for block in (
                message["content"] if isinstance(message["content"], list) else [message["content"]]
            )
            if isinstance(block, str) or block["type"] == "text"
        )

    def told(self, name: str) -> list[str]:
        """What an agent was told of its mail: the contents, in order."""
        return re.findall(r"<message id=[^>]*>\n(.*?)\n</message>", self.texts(name), re.S)

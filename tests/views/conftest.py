"""A run that every view can show: results, errors, an unknown tool, injected text, compaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from workday import use

from learnkit.events.log import EventLog

TOOLS = [
    {"name": name, "description": "", "input_schema": {"type": "object"}}
    for name in ("bash", "read_file", "write_file")
]


class Run:
    """Writes the events of one agent, with its message indices counted."""

    def __init__(self, log: EventLog | None = None, lane: str = "lead") -> None:
        self.log = EventLog() if log is None else log
        self.lane, self.index, self.turn = lane, 0, 0

    def add(self, type: str, **data: Any) -> None:
        self.log.append(type, lane=self.lane, time=len(self.log) / 10, **data)

    def start(self, prompt: str = "Count the files.", system: str = "Be brief.") -> None:
        self.add("run.started", prompt=prompt, system=system, tools=TOOLS, model="m")
        self.say("user", prompt)

    def say(self, role: str, content: Any) -> None:
        self.add("message.added", index=self.index, message={"role": role, "content": content})
        self.index += 1

    def ask(self, stop: str = "tool_use") -> None:
        self.turn += 1
        self.add("model.requested", turn=self.turn, messages=self.index)
        usage = {"input_tokens": 10, "output_tokens": 5}
        reply = {"stop_reason": stop, "usage": usage, "model": "m", "seconds": 1.0}
        self.add("model.replied", turn=self.turn, **reply)

    def call(self, id: str, name: str, input: Any, output: str, **ended: Any) -> dict[str, Any]:
        """Run a call; return its result block."""
        failed = bool(ended.get("is_error"))
        self.add("tool.started", id=id, name=name, input=input)
        self.end(id, name, output, **ended)
        block = {"type": "tool_result", "tool_use_id": id, "content": output}
        return {**block, "is_error": True} if failed else block

    def end(self, id: str, name: str, output: str, **ended: Any) -> None:
        details = {"is_error": False, "seconds": 0.25, "how": "ran", **ended}
        self.add("tool.ended", id=id, name=name, output=output, **details)

    def finish(self, text: str = "Done.") -> None:
        self.ask("end_turn")
        self.say("assistant", [{"type": "text", "text": text}])
        self.add("run.ended", reason="end_turn", text=text, turns=self.turn)


@pytest.fixture
def run() -> Callable[..., Run]:
    """Make a ``Run``: ``run()`` on a log of its own, ``run(log, "alice")`` on another's."""
    return Run


@pytest.fixture
def story() -> EventLog:
    """A whole run: two calls in one reply, one of them to a tool that does not exist."""
    one = Run()
    one.start()
    one.ask()
    calls = [use("t1", "bash", command="ls | wc -l"), use("t2", "send_mail", to="me", body="a\nb")]
    thought = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    one.say("assistant", [thought, {"type": "text", "text": "I count."}, *calls])
    results = [
        one.call("t1", "bash", {"command": "ls | wc -l"}, "3\n"),
        one.call("t2", "send_mail", calls[1]["input"], "no tool", is_error=True, how="unknown"),
    ]
    one.say("user", [*results, {"type": "text", "text": "<reminder>plan</reminder>"}])
    one.finish("There are three.")
    return one.log

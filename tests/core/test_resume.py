"""An agent that takes up a conversation from its saved log, whatever was done to the messages."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.errors import UsageError

STEPS = st.sampled_from(["say", "call", "rewrite", "cut by hand", "another lane"])


def model(request: Any) -> Any:
    last = request["messages"][-1]["content"]
    return lk.use("echo") if last == "call" else lk.say("done")


@lk.tool(read_only=True)
def echo() -> str:
    """Say something."""
    return "echo"


@given(st.lists(STEPS, min_size=1, max_size=6))
def test_what_it_takes_up_is_what_the_other_one_would_have_sent(steps: list[str]) -> None:
    agent = lk.Agent(lk.scripted(model), tools=[echo])
    for step in steps:
        if step == "rewrite":
            agent.rewrite([{"role": "user", "content": "a summary"}], "compacted")
        elif step == "cut by hand":
            del agent.messages[-1:]
            agent.run("say")  # it notes the cut with the next message
        elif step == "another lane":
            lk.Agent(lk.scripted(model), name="alice", events=agent.events).run("say")
        else:
            agent.run(step)
    with tempfile.TemporaryDirectory() as folder:
        agent.events.save(Path(folder) / "log.jsonl")
        events = lk.EventLog.load(Path(folder) / "log.jsonl")
    again = lk.Agent(lk.scripted(model), tools=[echo], events=events)
    again.resume()
    assert again.messages == agent.messages
    assert again.call_ids >= {b["id"] for m in agent.messages for b in m["content"] if "id" in b}
    assert len(again.events) == len(agent.events)  # taking it up adds nothing to the record
    again.run("say")
    assert [e.data["index"] for e in again.events if e.type == "message.added"][-1] >= 1


def test_a_log_without_its_beginning_is_refused() -> None:
    events = lk.EventLog()
    events.append("message.added", index=2, message={"role": "user", "content": "hello"})
    agent = lk.Agent(lk.scripted([]), events=events)
    with pytest.raises(UsageError, match="event 0 adds message 2 of 'lead', and the log has 0"):
        agent.resume()

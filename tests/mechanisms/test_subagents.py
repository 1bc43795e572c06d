"""Subagents: a child works in messages of its own, and its last words are the parent's result."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from logged import events

import learnkit as lk
from learnkit.clients.scripted import Reply

SECRET = "only the child has read this"


def task(prompt: str = "Look it up.", **more: Any) -> Reply:
    return lk.use("task", prompt=prompt, description="look it up", **more)


@lk.tool
def look(place: str = "") -> str:
    """Look at something."""
    return f"{SECRET} {place}"


def tools() -> list[lk.Mechanism]:
    return [lk.Toolbox(look)]


def parent(script: Any, subagents: lk.Subagents | None = None, *more: Any, **options: Any) -> Any:
    mechanisms = [lk.Toolbox(look), subagents or lk.Subagents(tools), *more]
    return lk.Agent(lk.scripted(script), mechanisms, **options)


def child_says(*replies: Any) -> dict[str, list[Any]]:
    return {"lead": [task(), lk.say("done")], "lead.toolu_0001": list(replies)}


def result(agent: lk.Agent, place: int = 0) -> dict[str, Any]:
    message = next(
        m for m in agent.messages if not isinstance(m["content"], str) and m["role"] == "user"
    )
    found: dict[str, Any] = message["content"][place]
    return found


# What the parent gets


def test_the_last_text_of_the_child_is_the_result_and_what_it_read_stays_with_it() -> None:
    agent = parent(child_says(lk.use("look"), lk.say("It is pytest.")))
    assert agent.run("Which framework?").text == "done"
    assert result(agent)["content"] == "It is pytest."
    assert SECRET not in json.dumps(agent.messages)
    (read,) = [e for e in agent.events if e.type == "tool.ended" and e.data["name"] == "look"]
    assert (read.lane, SECRET in read.data["output"]) == ("lead.toolu_0001", True)


def test_the_child_begins_with_its_prompt_and_nothing_else() -> None:
    agent = parent(child_says(lk.say("ok")))
    agent.run("A long story about something else.")
    first = next(e for e in agent.events if e.type == "message.added" and e.lane != "lead")
    assert first.data["message"] == {"role": "user", "content": "Look it up."}
    (began,) = events(agent, "subagent.started")
    (ended,) = events(agent, "subagent.ended")
    assert began["parent"] == ended["parent"] == "lead"
    assert began["call"] == ended["call"] == "toolu_0001"
    assert (began["kind"], began["inherited"]) == ("general", 0)
    assert (ended["reason"], ended["turns"], ended["returned"]) == ("end_turn", 1, 1)


def test_at_the_limit_the_result_says_so() -> None:
    looks = [lk.reply("I look again.", lk.use("look", place=str(n))) for n in range(9)]
    agent = parent(child_says(*looks), lk.Subagents(tools, max_turns=4))
    agent.run("go")
    assert result(agent)["content"] == (
        "I look again.\n\n[stopped at the limit of 4 turns; the task may be unfinished]"
    )
    assert "is_error" not in result(agent)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (lk.say("I will not.", stop_reason="refusal"), "the subagent's model refused"),
        (
            lk.fail(400, "prompt is too long"),
            "The subagent failed: BadRequestError: 400, prompt is too long",
        ),
        (lk.say("…", stop_reason="model_context_window_exceeded"), "context window is full"),
    ],
)
def test_a_child_that_fails_returns_an_error_result(reply: Any, words: str) -> None:
    agent = parent(child_says(reply))
    assert agent.run("go").text == "done"
    assert result(agent)["is_error"]
    assert words in result(agent)["content"]
    assert events(agent, "subagent.ended")[0]["reason"] != "end_turn"


def test_without_a_factory_a_child_has_its_parents_coding_tools_and_functions(
    tmp_path: Path,
) -> None:
    def child(request: dict[str, Any]) -> Any:
        offered.append([tool["name"] for tool in request["tools"]])
        return lk.use("bash", command="touch made") if len(offered) == 1 else "done"

    offered: list[list[str]] = []
    script = {"lead": [task(), "done"], "lead.toolu_0001": child}
    agent = parent(script, lk.Subagents(), lk.CodingTools(tmp_path), lk.Todo())
    agent.run("Go.")
    assert (tmp_path / "made").exists()
    assert offered[0] == ["look", "bash", "read_file", "write_file", "edit_file"]


# Several at once


def three(latencies: list[float]) -> dict[str, Any]:
    calls = lk.reply(*(task(f"Number {n}.") for n in range(len(latencies))))
    script: dict[str, Any] = {"lead": [calls, lk.say("done")]}
    for number, latency in enumerate(latencies, start=1):
        lane = f"lead.toolu_{number:04d}"
        script[lane] = [
            lk.reply(lk.use("look"), latency=latency),
            lk.say(f"answer {number}", latency=latency),
        ]
    return script


@pytest.mark.parametrize(("parallel", "seconds"), [(1, 14), (3, 8), (5, 6)])
def test_at_most_so_many_run_side_by_side(parallel: int, seconds: float) -> None:
    agent = parent(three([1.0] * 5), lk.Subagents(tools, parallel=parallel))
    agent.run("go")
    running, most = 0, 0
    for event in agent.events:
        running += (event.type == "subagent.started") - (event.type == "subagent.ended")
        most = max(most, running)
    assert most == min(parallel, 5)
    rounds = -(-5 // parallel)
    assert agent.clock.time() == pytest.approx(2 + 2 * rounds)


# What reaches the child


def test_what_the_parent_may_not_do_the_child_may_not_either() -> None:
    permission = lk.Permission({"task": "allow", "look": ("deny", "not today")})
    agent = parent(child_says(lk.use("look"), lk.say("I could not.")), None, permission)
    agent.run("go")
    (refused,) = [e for e in agent.events if e.type == "tool.ended" and e.data["name"] == "look"]
    assert (refused.data["how"], refused.lane) == ("refused", "lead.toolu_0001")
    assert "not today" in refused.data["output"]


@pytest.mark.parametrize("clock", [lk.VirtualClock, lk.SystemClock])
def test_a_stop_reaches_children_in_the_middle_of_their_work(clock: Any) -> None:
    @lk.tool
    def stop(agent: lk.Agent) -> str:
        """Stop everything."""
        agent.stop.set()
        return "stopping"

    calls = lk.reply(task("one"), task("two"))
    endless = lambda request: lk.reply(lk.use("look"), latency=0.01)  # noqa: E731
    script = {
        "lead": [calls, lk.say("never said")],
        "lead.toolu_0001": [lk.reply(lk.use("stop"), latency=0.05), lk.say("never said")],
        "lead.toolu_0002": endless,
    }
    subagents = lk.Subagents(lambda: [lk.Toolbox(look, stop)], max_turns=5_000)
    agent = lk.Agent(lk.scripted(script, clock=clock()), [subagents])
    before = set(threading.enumerate())
    assert agent.run("go").reason == "cancelled"
    assert all(block["is_error"] for block in agent.messages[-1]["content"])
    assert "Cancelled" in result(agent)["content"]
    agent.clock.close()
    assert set(threading.enumerate()) <= before


# Kinds and generations


def offered(agent: lk.Agent, lane: str) -> list[str]:
    started = next(e for e in agent.events if e.type == "run.started" and e.lane == lane)
    return [tool["name"] for tool in started.data["tools"]]


def test_an_explorer_can_only_read(tmp_path: Path) -> None:
    script = {
        "lead": [task(kind="explore"), lk.say("done")],
        "lead.toolu_0001": [lk.use("bash", command="touch x"), lk.say("I cannot write.")],
    }
    agent = parent(script, lk.Subagents(lambda: [lk.CodingTools(tmp_path), lk.Todo()]))
    agent.run("go")
    assert offered(agent, "lead.toolu_0001") == ["read_file", "todo"]
    assert not (tmp_path / "x").exists()


def test_an_explorer_keeps_a_new_tool_that_is_marked_read_only() -> None:
    @lk.tool(read_only=True)
    def look_up(word: str) -> str:
        """Look a word up."""
        return f"{word} is a word"

    @lk.tool
    def note_down(word: str) -> str:
        """Note a word."""
        raise AssertionError("not marked, so not kept")

    script = {
        "lead": [task(kind="explore"), lk.say("done")],
        "lead.toolu_0001": [
            lk.reply(lk.use("look_up", word="heat"), lk.use("note_down", word="heat")),
            lk.say("Found."),
        ],
    }
    agent = parent(script, lk.Subagents(lambda: [lk.Toolbox(look_up, note_down)]))
    agent.run("go")
    assert offered(agent, "lead.toolu_0001") == ["look_up"]


def test_children_have_no_task() -> None:
    agent = parent(child_says(task(), lk.say("alone")), lk.Subagents(lambda: [lk.Subagents()]))
    agent.run("go")
    assert offered(agent, "lead.toolu_0001") == []

"""Any mixture of the mechanisms, compacted at any moment: the API takes every request."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

import learnkit as lk
from learnkit.clients.scripted import Reply
from learnkit.events.log import LANE
from learnkit.mechanisms.compaction.edits import results, seen

LONG = "a line of data " * 40
ITEMS = [[{"id": "1", "text": "the plan", "status": s}] for s in ("pending", "completed")]


@pytest.fixture(scope="module")
def skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skills") / "units"
    folder.mkdir()
    folder.joinpath("SKILL.md").write_text(
        "---\nname: units\ndescription: Units.\n---\nWrite °C.\n"
    )
    return folder.parent


@lk.tool
def read(day: int = 1) -> str:
    """Read a log."""
    if day == 0:
        raise lk.ToolError("there is no such day; " + LONG)
    return f"{LONG}{day}"


def task(prompt: str) -> Reply:
    return lk.use("task", prompt=prompt, description="look")


REPLIES = [
    lk.use("read", day=1),
    lk.reply("Both.", lk.use("read", day=2), lk.use("read", day=0), thinking="hm"),
    lk.reply(lk.use("read", day=3), thinking=""),
    lk.use("todo", items=ITEMS[0]),
    lk.use("todo", items=ITEMS[1]),
    lk.use("load_skill", name="units"),
    task("Look."),
    lk.reply(task("a"), lk.use("read", day=4), task("b"), thinking="x"),
    lk.use("compact", focus="units"),
    lk.reply("I make room.", lk.use("read", day=5), lk.use("compact"), thinking="y"),
    lk.use("no_such_tool"),
    lk.reply(lk.use("read", day=6), stop_reason="max_tokens"),
    lk.say("text"),
    lk.say(""),
]
SUMMARIES = [lk.say("A summary."), lk.say("A summary."), lk.fail(400, "no"), lk.say("")]

scripts = st.lists(st.lists(st.sampled_from(REPLIES), max_size=9), min_size=1, max_size=3)


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(
    runs=scripts,
    children=st.lists(st.sampled_from(REPLIES[:6]), max_size=3),
    threshold=st.integers(200, 3_000),
    keep=st.integers(0, 4),
    summaries=st.lists(st.sampled_from(SUMMARIES), min_size=1, max_size=4),
)
def test_whatever_is_mixed_and_compacted_the_api_takes_every_request(
    skills: Path,
    runs: list[list[Reply]],
    children: list[Reply],
    threshold: int,
    keep: int,
    summaries: list[Any],
) -> None:
    queue: list[Reply] = []
    of_children: dict[str, list[Reply]] = {}
    turn = iter(range(10_000))
    last: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> Any:
        lane = LANE.get()
        if "tools" not in request:
            return summaries[next(turn) % len(summaries)]
        if lane != "lead":
            left = of_children.setdefault(lane, [*children])
            return left.pop(0) if left else lk.say("the child's report")
        unseen_results_stay(last, request["messages"])
        survivors_stand(agent, todo, loaded, request["messages"])
        return queue.pop(0) if queue else lk.say("the end")

    with tempfile.TemporaryDirectory() as folder:
        todo = lk.Todo()
        compaction = lk.Compaction(threshold, keep, folder)
        loaded = lk.Skills(skills)
        mechanisms = [lk.Toolbox(read), todo, loaded, compaction]
        mechanisms.append(lk.Subagents(lambda: [lk.Toolbox(read)], max_turns=4))
        agent = lk.Agent(lk.scripted(answer), mechanisms, max_turns=20)
        for number, replies in enumerate(runs):
            queue[:] = replies
            agent.run(f"request {number}")
    failed = [e.data for e in agent.events if e.type == "model.failed"]
    assert not failed
    for event in agent.events:
        if event.type == "compaction.failed":
            before, after = agent.events[event.seq - 1], agent.events[event.seq]
            assert "messages.rewritten" not in (before.type, after.type)


def unseen_results_stay(last: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    """What came back since the last reply is in the request as the tool returned it."""
    for one in results(messages)[-4:]:
        if one.index < seen(messages):
            continue
        block = messages[one.index]["content"][one.block]
        text = str(block["content"])
        assert not text.startswith("[Previous"), last
    last["messages"] = len(messages)


def survivors_stand(
    agent: lk.Agent, todo: lk.Todo, skills: lk.Skills, messages: list[dict[str, Any]]
) -> None:
    """The active request, an open list and loaded skills are in every request."""
    text = json.dumps(messages, ensure_ascii=False)
    request = next(
        e for e in reversed(list(agent.events)) if e.type == "run.started" and e.lane == "lead"
    )
    assert request.data["prompt"] in text
    if todo.open:
        assert "#1: the plan" in text
    if any(e.type == "skill.loaded" for e in agent.events):
        assert "Write °C." in text


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(script=st.lists(st.sampled_from(REPLIES[:6]), min_size=4, max_size=14), fails=st.booleans())
def test_compacting_by_hand_at_any_moment_leaves_an_array_that_can_be_sent(
    skills: Path, script: list[Reply], fails: bool
) -> None:
    """Before every single request."""

    class Always(lk.Mechanism):
        def before_model(self, agent: lk.Agent) -> None:
            compaction.ask("all of it")

    def answer(request: dict[str, Any]) -> Any:
        if "tools" not in request:
            return lk.fail(400, "no") if fails else lk.say("A summary.")
        return script.pop(0) if script else lk.say("the end")

    with tempfile.TemporaryDirectory() as folder:
        compaction = lk.Compaction(50_000, transcripts=folder)
        mechanisms = [Always(), lk.Toolbox(read), lk.Todo(), lk.Skills(skills), compaction]
        agent = lk.Agent(lk.scripted(answer), mechanisms, max_turns=30)
        assert agent.run("go").reason == "end_turn"
    assert not [e for e in agent.events if e.type == "model.failed"]
    done = [e for e in agent.events if e.type == "compaction.summarised"]
    assert bool(done) != fails

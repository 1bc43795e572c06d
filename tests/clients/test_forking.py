"""Forking a run: what came before is what it was, whatever comes after."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

import learnkit as lk
from learnkit.clients.scripted import Scripted, Source
from learnkit.course.content import Game

WRITE = [lk.use("write_file", path=name, content=name * 3) for name in "abc"]


def run(script: Any, **options: Any) -> tuple[lk.Agent, Path]:
    """A run with files and a list, in a workspace of its own."""
    folder = Path(tempfile.mkdtemp())
    client = lk.scripted(script)
    with client.clock:
        mechanisms = [lk.CodingTools(folder), lk.Todo(remind_after=options.pop("remind", 3))]
        agent = lk.Agent(client, mechanisms, **options)
        agent.run("Write a, b and c.")
    return agent, folder


def test_the_step_is_the_views_step() -> None:
    agent, _ = run([*WRITE, lk.say("done")])
    told = [event.seq for event in agent.events if event.type == "model.replied"]
    for number, seq in enumerate(told):
        for step, replies in ((seq, number), (seq + 1, number + 1)):
            fork = lk.fork(agent, step)
            assert sum(map(len, fork.before.values())) == replies
            assert sum(map(len, fork.after.values())) == len(told) - replies
    assert lk.fork(agent, -1).step == len(agent.events) - 1
    known = lk.fork(agent, -1).at_once(Scripted([]))  # nobody waits for them again
    assert [known.answer({}, "lead").latency for _ in told] == [0.0] * len(told)
    assert repr(lk.fork(agent, 0)) == "Fork(after step 0; replies so far: none)"


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(st.integers(0, 40), st.booleans())
def test_up_to_the_step_everything_is_as_it_was(step: int, changed: bool) -> None:
    script = [*WRITE, lk.use("bash", command="cat a b c"), lk.say("done")]
    agent, _ = run(script)
    step = min(step, len(agent.events))
    fork = lk.fork(agent, step)
    more = [lk.use("bash", command="echo otherwise"), lk.say("other")] if changed else None
    other, folder = run(fork.then(more))
    assert list(other.events)[:step] == list(agent.events)[:step]
    known = sum(map(len, fork.before.values()))
    files = sorted(path.name for path in folder.glob("?"))
    if changed and known < len(script):
        assert files == ["a", "b", "c"][:known]
        assert other.messages[2 * known + 1]["content"][0]["input"] == {"command": "echo otherwise"}
    else:
        assert files == ["a", "b", "c"]
        assert other.messages == agent.messages
        assert str(other.events) == str(agent.events)


def test_a_changed_mechanism_meets_the_same_replies() -> None:
    items = [{"id": "1", "text": "a", "status": "in_progress"}]
    agent, _ = run([lk.use("todo", items=items), *WRITE, lk.say("done")], remind=9)
    other, _ = run(lk.fork(agent, 0).then(), remind=1)
    assert "todo.reminded" not in {event.type for event in agent.events}
    assert "todo.reminded" in {event.type for event in other.events}
    calls = [m for m in agent.messages if m["role"] == "assistant"]
    assert [m for m in other.messages if m["role"] == "assistant"] == calls


def test_children_and_summaries_are_given_again() -> None:
    def go(script: Any) -> lk.Agent:
        tmp_path = Path(tempfile.mkdtemp())
        (tmp_path / "long.txt").write_text("word " * 300)
        client = lk.scripted(script)
        with client.clock:
            children = lk.Subagents(lambda: [lk.CodingTools(tmp_path)], parallel=2)
            compaction = lk.Compaction(threshold=400, keep=1, transcripts=tmp_path / "t")
            agent = lk.Agent(client, [lk.CodingTools(tmp_path), children, compaction])
            agent.run("Look.")
        return agent

    asked: list[str] = []

    def model(request: dict[str, Any]) -> Any:
        first = str(request["messages"][0]["content"])
        asked.append(first[:20])
        if first.startswith("child"):
            return lk.say(f"{first}: looked")
        if "tools" not in request:
            return lk.say("SUMMARY of it all")
        if len(asked) == 1:
            two = [lk.use("task", prompt=f"child {n}", description="look") for n in (1, 2)]
            return lk.reply(*two)
        if sum("tools" in str(one) for one in asked) < 1 and len(asked) < 8:
            return lk.use("read_file", path="long.txt")
        return lk.say("done")

    agent = go(model)
    types = [event.type for event in agent.events]
    assert "compaction.summarised" in types
    assert len({event.lane for event in agent.events}) == 3
    before = len(asked)
    for step in (0, types.index("compaction.summarised"), len(types)):
        other = go(lk.fork(agent, step).then())
        assert str(other.events) == str(agent.events)
        assert other.messages == agent.messages
    assert len(asked) == before, "the model was asked again"


def test_an_error_that_the_sdk_retried_is_one_answer_of_the_log() -> None:
    agent, _ = run([lk.fail(529), WRITE[0], lk.fail(529), lk.fail(529), WRITE[1], lk.say("done")])
    told = [event.seq for event in agent.events if event.type == "model.replied"]
    for number, seq in enumerate(told):
        other, folder = run(lk.fork(agent, seq + 1).then([lk.say("stop")] * 2))
        assert sorted(path.name for path in folder.glob("?")) == ["a", "b"][: number + 1]
        assert list(other.events)[: seq + 1] == list(agent.events)[: seq + 1]


def test_a_refusal_at_the_end_is_given_again_too() -> None:
    client = lk.scripted([lk.fail(400, "no")])
    with client.clock:
        agent = lk.Agent(client)
        with pytest.raises(anthropic.BadRequestError):
            agent.run("x")
    fork = lk.fork(agent, len(agent.events))
    assert sum(map(len, fork.before.values())) == 1
    assert lk.fork(agent, 1).before == {}


@pytest.mark.parametrize(
    ("thing", "step", "words"),
    [
        ("agent", 99, "there is no step 99; the run has steps 0 to"),
        ("agent", -99, "there is no step -99"),
        ("log", 0, "keeps no replies"),
        ("nothing", 0, "keeps no replies"),
    ],
)
def test_what_cannot_be_forked_is_said(thing: str, step: int, words: str) -> None:
    agent, _ = run([lk.say("done")])
    one = {"agent": agent, "log": agent.events, "nothing": None}[thing]
    with pytest.raises(lk.UsageError, match=words):
        lk.fork(one, step)


def test_a_script_that_ends_after_the_fork_says_so() -> None:
    agent, _ = run([*WRITE, lk.say("done")])
    with pytest.raises(anthropic.AnthropicError, match="after the fork, agent 'lead' asked"):
        run(lk.fork(agent, 10).then([lk.use("bash", command="true")]))


def test_new_calls_get_ids_that_recorded_replies_have_not_used() -> None:
    known = {"type": "tool_use", "id": "toolu_0001", "name": "bash", "input": {"command": "true"}}
    again = {**known, "id": "toolu_0003"}
    agent, _ = run([lk.reply(known), lk.reply(again), lk.say("done")])
    fork = lk.fork(agent, len(agent.events)).before["lead"][:2]
    more = [lk.use("bash", command="true"), lk.use("bash", command="true"), lk.say("ok")]
    other, _ = run([*fork, *more])
    ids = [
        one["content"][0]["id"]
        for one in other.messages
        if one["role"] == "assistant" and "id" in one["content"][0]
    ]
    assert ids == ["toolu_0001", "toolu_0003", "toolu_0002", "toolu_0004"]


@pytest.mark.slow
def test_a_lesson_is_forked_by_script_and_by_hand() -> None:
    lab = lk.lesson("s01")
    game = Game("Go on.", lambda folder: [lk.CodingTools(folder)], [lk.say("by hand")])
    try:
        with lab.scenario("one", script=[*WRITE, lk.say("done")]) as one:
            first = one.agent([lk.CodingTools(one.workspace)])
            first.run("Go on.")
        after_b = next(e.seq for e in one.events if e.type == "tool.ended" and "b" in str(e.data))
        point = lk.fork(one, after_b + 1)
        with lab.scenario("two", script=point.then(["by script"])) as two:
            assert isinstance(point.then(["x"]), Source)
            outcome = two.agent([lk.CodingTools(two.workspace)]).run("Go on.")
            assert outcome.text == "by script"
            assert (two.workspace / "a").exists()
            assert not (two.workspace / "c").exists()
        played = lab.be_the_model(game, after=point)
        assert played.outcome.text == "by hand"
        assert played.messages[:5] == first.messages[:5]
        lab.static = False
        live = lab.be_the_model(game, after=point)
        live.start()
        assert live.wait(20) == "yours"
        assert live.messages == first.messages[:5]
        live.send(lk.say("I am a person."))
        assert live.wait(20) == "ended"
        assert live.outcome.text == "I am a person."
        both = lk.views.Branches.of(one, live)
        assert both.at().shared == 5  # the prompt, and two calls with their results
    finally:
        lab.close()

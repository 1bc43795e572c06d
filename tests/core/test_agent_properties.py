"""The loop's invariants, whatever the model, the tools, the mechanisms or an interrupt do.

The model says anything the API lets it say, tools and hooks go wrong in every way there is, and
somebody may cancel at any moment. After each run the array must satisfy the invariants, the log
must tell the same story, the API must have accepted every request, and a next run must work.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import anthropic
import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import InterruptAt
from messages_server import AT_ONCE, cut_in, html, serving
from profiles import examples

import learnkit as lk
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism

SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


class Broken(Exception):
    """What the faulty hooks raise."""


# Tools


def _blocks(what: str) -> Any:
    """Give content blocks."""
    raw: dict[str, Any] = {"type": "image", "source": b"no JSON"}
    texts = [{"type": "text", "text": text} for text in ("", "a \udcff", "b")]
    return {"texts": texts, "raw": [raw], "none": None, "number": 7, "list": []}[what]


def _go_wrong(agent: lk.Agent, how: str) -> str:
    """Go wrong, or be interrupted, or stopped."""
    if how == "stop":
        agent.stop.set()
        return "stopped"
    errors = {"tool": lk.ToolError("wrong"), "value": ValueError("bad"), "key": KeyError()}
    raise errors.get(how, KeyboardInterrupt())


def _take(agent: lk.Agent, seconds: float, how: str = "") -> str:
    """Take some time, and then perhaps go wrong."""
    agent.clock.sleep(seconds, agent.stop)
    return _go_wrong(agent, how) if how else f"took {seconds} s"


#: Made once: pydantic takes longer for their schemas than the loop for a run.
TOOLS = (
    lk.tool(name="blocks")(_blocks),
    lk.tool(name="go_wrong")(_go_wrong),
    lk.tool(name="take", parallel=3)(_take),
)


def tools() -> lk.Toolbox:
    return lk.Toolbox(*TOOLS)


# Replies

CALLS = st.one_of(
    st.sampled_from(["texts", "raw", "none", "number", "list"]).map(
        lambda what: lk.use("blocks", what=what)
    ),
    st.sampled_from(["tool", "value", "key", "stop", "interrupt"]).map(
        lambda how: lk.use("go_wrong", how=how)
    ),
    st.builds(
        lambda seconds, how: lk.use("take", seconds=seconds, how=how),
        st.sampled_from([0, 0.5, 1, 2]),
        st.sampled_from(["", "", "", "", "", "value", "stop", "interrupt"]),
    ),
    st.sampled_from(["blocks", "take", "unknown"]).map(lambda name: lk.use(name, odd=[{}], what=1)),
)
#: Calls as compatible servers send them: without a name or input, with the id of another one.
BROKEN = st.sampled_from(
    [
        {"type": "tool_use", "name": "take"},
        {"type": "tool_use", "input": {"seconds": 1}},
        {"type": "tool_use", "id": "call_0", "name": "take", "input": {"seconds": 0.5}},
        {"type": "tool_use", "id": "no id!", "name": "blocks", "input": {"what": "texts"}},
        {"type": "tool_use", "id": "", "name": "", "input": '{"seconds": 1}'},
        {"type": "tool_use", "id": None, "name": 7, "input": [1]},
        {"type": "text", "text": None},
        {"type": "text"},
    ]
)
PARTS = st.lists(CALLS | BROKEN | st.sampled_from(["Words.", "", "  "]), max_size=5)
REASONS = st.sampled_from(
    [
        None,
        None,
        None,
        "end_turn",
        "tool_use",
        "stop_sequence",
        "max_tokens",
        "refusal",
        "model_context_window_exceeded",
    ]
)
REPLIES = st.one_of(
    st.builds(
        lambda thinking, parts, reason: lk.reply(*parts, thinking=thinking, stop_reason=reason),
        st.none() | st.sampled_from(["", "Hm."]),
        PARTS,
        REASONS,
    ),
    st.lists(CALLS, max_size=2).map(
        lambda calls: lk.reply("I search.", SERVER_CALL, *calls, stop_reason="pause_turn")
    ),
    st.sampled_from([400, 403, 429, 500, 529]).map(lk.fail),
)


# Mechanisms

ACTIONS = st.sampled_from(
    [None, None, None, None, "text", "blank", "sleep", "stop", "raise", "interrupt", "number"]
)


class Meddler(Mechanism):
    """Does at each hook what its plan says, until the plan is at its end."""

    def __init__(self, plan: list[str | None]) -> None:
        self._plan = iter(plan)

    def _act(self, agent: lk.Agent) -> Any:
        action = next(self._plan, None)
        if action == "sleep":
            agent.clock.sleep(0.75, agent.stop)
        elif action == "stop":
            agent.stop.set()
        elif action == "raise":
            raise Broken
        elif action == "interrupt":
            raise KeyboardInterrupt
        return {"text": "A reminder \udcff.", "blank": " ", "number": 7}.get(action or "")

    def before_model(self, agent: lk.Agent) -> None:
        if self._act(agent) == " ":
            agent.rewrite([{"role": "user", "content": "In short: nothing."}], "compaction")

    def refuse(self, agent: lk.Agent, call: Call) -> str | None:
        return self._act(agent)

    def after_tools(self, agent: lk.Agent, calls: Sequence[Call]) -> str | None:
        return self._act(agent)

    def on_stop(self, agent: lk.Agent) -> str | None:
        return self._act(agent)


# What must hold


def check_array(messages: list[Any], *, request: bool) -> None:
    """The invariants, written down without a look at the package's own contract."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks, "no message is empty"
        for block in blocks:
            inner = block.get("content", [block])
            for part in [{"type": "text", "text": inner}] if isinstance(inner, str) else inner:
                assert part["type"] != "text" or part["text"].strip(), "no text is empty"
        kinds = [block["type"] for block in blocks]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert all(re.fullmatch("[a-zA-Z0-9_-]+", id) for id in calls)
        assert not seen.intersection(calls), "no id comes twice"
        seen.update(calls)
        assert len({*calls}) == len(calls)
        for block in blocks:
            if block["type"] == "tool_use":
                assert block["name"]
                assert isinstance(block["input"], dict)
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if message["role"] == "assistant":
            assert not answers
            assert kinds[-1] != "thinking"
            if calls:
                following = messages[index + 1]
                given = [b["tool_use_id"] for b in following["content"] if "tool_use_id" in b]
                assert following["role"] == "user"
                assert given == calls, "each call has one result, in order, in the next message"
        else:
            assert not calls
            assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result"), "results first"
            assert not answers or messages[index - 1]["role"] == "assistant"
    if request:
        last = messages[-1]
        paused = last["role"] == "assistant" and SERVER_CALL in last["content"]
        assert last["role"] == "user" or paused


def check_log(agent: lk.Agent) -> None:
    """The log tells of the same messages, and of one end for every call."""
    array: list[Any] = []
    for event in agent.events:
        if event.type == "messages.rewritten":
            array = list(event.data["messages"])
        elif event.type == "message.added":
            assert event.data["index"] == len(array)
            array.append(event.data["message"])
    assert array == agent.messages
    seen: list[Any] = [e.data["message"] for e in agent.events if e.type == "message.added"]
    calls = [
        block["id"]
        for message in seen
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    ended = Counter(event.data["id"] for event in agent.events if event.type == "tool.ended")
    started = Counter(event.data["id"] for event in agent.events if event.type == "tool.started")
    assert ended == Counter(calls)
    assert started <= ended


@settings(max_examples=examples(150))
@given(
    replies=st.lists(REPLIES, max_size=8),
    plans=st.lists(st.lists(ACTIONS, max_size=10), max_size=2),
    cancel_at=st.none() | st.sampled_from([0, 0.25, 1.0, 1.25, 2.75, 3.0]),
    before=st.booleans(),
    shared=st.booleans(),
    seed=st.integers(0, 3),
    max_turns=st.integers(1, 6),
)
def test_every_run_leaves_an_array_that_the_api_takes(
    replies: list[Any],
    plans: list[list[str | None]],
    cancel_at: float | None,
    before: bool,
    shared: bool,
    seed: int,
    max_turns: int,
) -> None:
    clock, script = lk.VirtualClock(seed), iter(replies)

    def model(request: Any) -> Any:
        check_array(request["messages"], request=True)
        return next(script, lk.say("done"))

    stop = clock.signal("shared stop") if shared else None
    meddlers = [Meddler(plan) for plan in plans]
    agent = lk.Agent(
        lk.scripted(model, clock), [tools(), *meddlers], stop=stop, max_turns=max_turns
    )
    if before:
        agent.stop.set()
    if cancel_at is not None:
        clock.spawn("canceller", lambda: clock.sleep(cancel_at) or agent.stop.set())
    for number in range(40):
        reason = one_run(agent, f"Prompt {number}.")
        hypothesis.event(reason)
        check_array(agent.messages, request=False)
        check_log(agent)
        if shared:
            agent.stop.clear()
        assert not agent.stop.is_set()
        if reason == "end_turn" and next(script, None) is None and not any(map(left, meddlers)):
            break
    else:
        raise AssertionError("the run never comes to an end")
    clock.close()


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(
    replies=st.lists(REPLIES, max_size=6),
    plan=st.lists(ACTIONS, max_size=6),
    line=st.integers(1, 400) | st.integers(1, 4000),
    seed=st.integers(0, 3),
)
def test_after_ctrl_c_at_any_line_array_and_log_are_whole_and_the_next_run_works(
    replies: list[Any], plan: list[str | None], line: int, seed: int
) -> None:
    """A real one, also while the loop clears up after an error."""
    interrupted_at(line, replies, plan, seed)


@pytest.mark.slow
@pytest.mark.parametrize("plan", [[], [None, None, "raise"]])
def test_after_ctrl_c_at_every_line_of_a_short_run_all_is_whole(plan: list[str | None]) -> None:
    """The same without chance: what must not come apart is often only one line long."""
    replies = [lk.use("take", seconds=0.5)]
    places = interrupted_at(0, replies, plan, 0).places.values()
    for line in [line for lines in places for line in lines[:6]]:  # a few times each is enough
        interrupted_at(line, replies, plan, 0)


def test_a_listener_that_raises_twice_keeps_no_call_from_its_end() -> None:
    """It does so while the calls that were not reached are cancelled, and logged."""
    calls = [lk.use("go_wrong", how="interrupt"), *[lk.use("blocks", what="texts")] * 3]
    agent = lk.Agent(lk.scripted([lk.reply(*calls), lk.say("done")]), [tools()])

    def interrupt(event: lk.Event) -> None:
        if event.type == "tool.ended":
            raise KeyboardInterrupt

    unsubscribe = agent.events.subscribe(interrupt)
    with pytest.raises(KeyboardInterrupt):
        agent.run("Go.")
    check_array(agent.messages, request=False)
    check_log(agent)
    unsubscribe()
    assert agent.run("Go on.").text == "done"


def interrupted_at(line: int, replies: list[Any], plan: list[str | None], seed: int) -> InterruptAt:
    """Run with an interrupt before a line of ours, and again without one."""
    script, before = iter(replies), set(threading.enumerate())
    heard: list[lk.Event] = []
    with lk.VirtualClock(seed) as clock:
        client = lk.scripted(lambda request: next(script, lk.say("done")), clock)
        agent = lk.Agent(client, [tools(), Meddler(plan)], max_turns=6)
        agent.events.subscribe(heard.append)
        at = InterruptAt(line)
        with contextlib.suppress(KeyboardInterrupt), at:
            one_run(agent, "Prompt 0.")
        check_array(agent.messages, request=False)
        check_log(agent)
        assert not agent.stop.is_set(), at.where
        ends = [one.type for one in agent.events if one.type in ("run.started", "run.ended")]
        assert ends == ["run.started", "run.ended"][: len(ends)], at.where
        for number in range(1, 40):
            reason = one_run(agent, f"Prompt {number}.")
            check_array(agent.messages, request=False)
            check_log(agent)
            if reason == "end_turn" and next(script, None) is None:
                break
        else:
            raise AssertionError("the run never comes to an end")
        assert heard == list(agent.events), at.where
    assert set(threading.enumerate()) <= before
    return at


def left(meddler: Meddler) -> bool:
    """Whether the plan holds something still; uses that up."""
    return next(meddler._plan, None) is not None


def one_run(agent: lk.Agent, prompt: str) -> str:
    """Run; return how it ended. The API refuses nothing but what the script says it refuses."""
    try:
        outcome = agent.run(prompt)
    except anthropic.APIStatusError as error:
        if "scripted failure" not in str(error):
            raise
        return "failed"
    except (Broken, KeyboardInterrupt, lk.UsageError) as error:
        if isinstance(error, lk.UsageError) and "a hook returned 7" not in str(error):
            raise
        return type(error).__name__
    assert agent.events[-1].data == {
        "reason": outcome.reason,
        "text": outcome.text,
        "turns": outcome.turns,
    }
    assert outcome.turns <= agent.max_turns
    return outcome.reason


FAULTS = st.fixed_dictionaries(
    {},
    optional={
        "omitted": st.lists(st.sampled_from(["usage", "id", "name", "input"]), max_size=3),
        "wire": st.sampled_from([b'"text"', b"content_block_delta", b'"id"', b"}"]).map(cut_in)
        | st.just(html),
        "headers": st.sampled_from([AT_ONCE, {}, {"retry-after": "700"}, {"retry-after": "x"}]),
    },
)


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(
    replies=st.lists(REPLIES, max_size=5),
    faults=FAULTS,
    streamed=st.booleans(),
    stop_at=st.none() | st.integers(0, 30),
    how=st.sampled_from(["stop", "interrupt", "leave"]),
    max_tokens=st.sampled_from([16_000, 30_000]),
)
def test_whatever_a_server_does_the_array_stays_valid_and_no_thread_is_left(
    replies: list[Any],
    faults: dict[str, Any],
    streamed: bool,
    stop_at: int | None,
    how: str,
    max_tokens: int,
) -> None:
    script, numbers = iter(replies), iter(range(1_000_000))

    def model(request: Any) -> Any:
        check_array(request["messages"], request=True)
        return next(script, lk.say("done"))

    with serving(model, **faults) as server:
        client: Any = anthropic.Anthropic(api_key="local-test", base_url=server.url)
        client.clock = lk.VirtualClock()
        agent = lk.Agent(client, [tools()], max_turns=5, max_tokens=max_tokens)

        def listen(event: lk.Event) -> None:
            if next(numbers) == stop_at:
                if how == "interrupt":
                    raise KeyboardInterrupt
                agent.stop.set()

        agent.events.subscribe(listen)
        with client:
            for number in range(2):
                with contextlib.suppress(anthropic.APIError, KeyboardInterrupt):
                    go(agent, f"Prompt {number}.", streamed, stop_at if how == "leave" else None)
                check_array(agent.messages, request=False)
                check_log(agent)
                asked = [e for e in agent.events if e.type == "model.requested"]
                ends = ("model.replied", "model.failed")
                answered = [e for e in agent.events if e.type in ends]
                assert len(asked) - len(answered) <= (how == "interrupt")
                names = [thread.name for thread in threading.enumerate()]
                assert not [name for name in names if name.startswith("lead")]
        client.clock.close()


def go(agent: lk.Agent, prompt: str, streamed: bool, leave_at: int | None) -> None:
    """Run, or read a stream, to its end or up to one of its events."""
    if not streamed:
        agent.run(prompt)
        return
    for number, _ in enumerate(agent.stream(prompt)):
        if number == leave_at:
            return

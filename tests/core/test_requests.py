"""What an agent asks of a live server, and what it makes of any answer: a local Messages API."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import anthropic
import pytest
from logged import events
from messages_server import MessagesServer, cut_in, serving

import learnkit as lk
from learnkit.clients.contract.rules import check
from learnkit.core.agent import Agent
from learnkit.core.catalog import (
    DEFAULT_MODEL,
    MODELS,
    PRICES,
    Price,
)
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.request import LONGEST_WAIT, WAITS
from learnkit.core.usage import Meter, Usage
from learnkit.runtime.clock import Clock

OTHER_MODEL = next(id for id in MODELS if id != DEFAULT_MODEL)
MARK = {"type": "ephemeral"}


@lk.tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@lk.tool
def ping() -> str:
    """Answer."""
    return "pong"


#: To read the system's certificates for each client takes longer than most tests here.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@contextmanager
def live(server: MessagesServer, clock: Clock | None = None, **options: Any) -> Iterator[Agent]:
    """An agent that asks a local server, as it would ask the API."""
    http = anthropic.DefaultHttpxClient(verify=NO_CERTIFICATES)
    client: Any = anthropic.Anthropic(api_key="local-test", base_url=server.url, http_client=http)
    client.clock = clock or lk.SystemClock()
    with client.clock, client:
        yield lk.Agent(client, **{"tools": [echo, ping], **options})


def accepted(agent: Agent) -> bool:
    """Whether the API would take the array with one more prompt."""
    messages = [*agent.messages, {"role": "user", "content": "Go on."}]
    body = {**agent.request(), "messages": messages, "model": lk.scripted([]).model}
    refusal = check(body, signed_here=False)
    assert refusal is None, refusal
    return True


def went(agent: Agent) -> str:
    """What a run ends in: its last text, or the error that ended it."""
    try:
        return agent.run("Go.").text
    except Exception as error:
        return f"{type(error).__name__}: {error}"


# Settings of the request


def test_settings_go_into_every_request_and_betas_into_a_header() -> None:
    settings = {
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low"},
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "betas": ["context-management-2025-06-27", "other-beta"],
        "context_management": {"edits": []},  # which create() of the SDK has no parameter for
        "extra_headers": {"x-mine": "1"},
    }
    with (
        serving([lk.use("ping"), lk.say("done")]) as server,
        live(server, request=settings) as agent,
    ):
        assert went(agent) == "done"
    assert len(server.bodies) == 2
    for body, headers in zip(server.bodies, server.headers, strict=True):
        for key in ("thinking", "output_config", "tool_choice", "context_management"):
            assert body.get(key) == settings[key]
        assert "betas" not in body
        assert headers["anthropic-beta"] == "context-management-2025-06-27,other-beta"
        assert headers["x-mine"] == "1"


def test_a_mark_protects_system_and_tools_besides_the_conversation() -> None:
    agent = lk.Agent(lk.scripted([]), system="Be brief.", tools=[echo, ping])
    agent.start("Go.")
    body = agent.request()
    assert body["cache_control"] == MARK
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, None]

    agent = lk.Agent(lk.scripted([]), tools=[echo, ping])
    body = agent.request()
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert "cache_control" not in agent.specs[1]

    hour = {"type": "ephemeral", "ttl": "1h"}
    agent = lk.Agent(lk.scripted([]), system="s", request={"cache_control": hour})
    body = agent.request()
    assert body["cache_control"] == body["system"][0]["cache_control"] == hour


# What a server replies


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("missing", ["id", "name", "input"])
def test_a_call_that_lacks_something_is_answered_and_the_array_stays_valid(
    missing: str, streamed: bool
) -> None:
    script = [lk.reply("Look.", lk.use("ping"), lk.use("echo", text="a")), lk.say("done")]
    with serving(script, omitted=(missing,)) as server, live(server) as agent:
        agent.hear = (lambda kind, text: None) if streamed else None
        assert went(agent) == "done"
        assert accepted(agent)
    (repaired,) = events(agent, "reply.repaired")
    assert len(repaired["problems"]) == 2
    assert all(missing in problem for problem in repaired["problems"])
    said = [block["content"] for block in agent.messages[2]["content"]]
    assert (
        said
        == {
            "id": ["pong", "a"],
            "name": ["There is no tool 'unnamed'. The tools are: echo, ping."] * 2,
            "input": ["pong", "echo: argument 'text' is missing"],
        }[missing]
    )
    assert len(server.bodies) == 2


def test_two_calls_with_one_id_get_an_answer_each_also_in_later_replies() -> None:
    def call(text: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": "call_0", "name": "echo", "input": {"text": text}}

    script = [lk.reply(call("a"), call("b")), lk.reply(call("c")), lk.say("done")]
    with serving([*script, *script[1:]]) as server, live(server) as agent, live(server) as other:
        assert went(agent) == "done"
        assert accepted(agent)
        other.messages = [*agent.messages]
        assert went(other) == "done"
        assert accepted(other)
    answers = [b["content"] for m in agent.messages[2:5:2] for b in m["content"]]
    assert answers == ["a", "b", "c"]
    ids = [b["id"] for m in agent.messages[1:4:2] for b in m["content"]]
    assert len({*ids}) == 3
    assert ids[0] == "call_0"
    assert len(events(agent, "reply.repaired")) == 2


@pytest.mark.parametrize(
    ("given", "arguments", "answer"),
    [
        ('{"text": "a"}', {"text": "a"}, "a"),
        ('{"text": "a', {"not_an_object": '{"text": "a'}, "there is no argument"),
        ([1], {"not_an_object": [1]}, "there is no argument"),
        (None, {}, "argument 'text' is missing"),
        ("", {}, "argument 'text' is missing"),
        ("[" * 100_000, {"not_an_object": "[" * 100_000}, "there is no argument"),
    ],
)
def test_arguments_in_another_form_are_read_or_kept_where_the_model_sees_them(
    given: Any, arguments: Any, answer: str
) -> None:
    block = {"type": "tool_use", "id": "a", "name": "echo", "input": given}
    with serving([lk.reply(block), lk.say("done")]) as server, live(server) as agent:
        assert went(agent) == "done"
        assert accepted(agent)
    assert agent.messages[1]["content"][0]["input"] == arguments
    assert answer in agent.messages[2]["content"][0]["content"]


NO_MESSAGE = "APIError: the server answered, but not with a message of the Messages API"


DEEP = b"[" * 100_000
DEEP_CALL = b'{"type": "tool_use", "id": "a", "name": "ping", "input": {"a": %b}}' % (
    b"[" * 900 + b"]" * 900
)


@pytest.mark.parametrize(
    "answer",
    [
        *(b"<html>", b'{"choices": []}', b'{"content": "text"}', b"[]", DEEP),
        *(b'{"content": ' + DEEP, b'{"content": [' + DEEP_CALL + b"]}"),
        *(b"event: message_start\ndata: " + DEEP + b"\n\n", b"event: x\ndata: {}\n\n"),
    ],
    ids=range(9),
)
def test_a_reply_that_is_no_message_is_an_error_of_the_api(answer: bytes) -> None:
    def wire(content: bytes) -> tuple[int, str, bytes]:
        return 200, "text/event-stream" if b"event:" in answer else "application/json", answer

    with serving([lk.say("x")], wire=wire) as server, live(server) as agent:
        agent.hear = (lambda kind, text: None) if b"event:" in answer else None
        assert went(agent).startswith(NO_MESSAGE)
        assert accepted(agent)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_sends_no_usage_can_be_used_and_its_cost_is_not_known(streamed: bool) -> None:
    script = [lk.use("ping"), lk.say("done")]
    with serving(script, omitted=("usage",)) as server, live(server) as agent:
        agent.hear = (lambda kind, text: None) if streamed else None
        assert went(agent) == "done"
    assert agent.outcome is not None
    usage = agent.outcome.usage
    assert (usage.requests, usage.unknown, usage.cost) == (2, 2, None)
    assert (usage.input_tokens, usage.output_tokens) == (0, 0)
    assert [one["usage"] for one in events(agent, "model.replied")] == [{}, {}]


# What may pass


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 500, 529])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_request_is_sent_again_for_minutes_on_the_clock(status: int, streamed: bool) -> None:
    script = [*[lk.fail(status)] * len(WAITS), lk.say("at last")]
    clock = lk.VirtualClock()
    with serving(script, headers={}) as server, live(server, clock) as agent:
        agent.hear = (lambda kind, text: None) if streamed else None
        began = time.monotonic()
        assert went(agent) == "at last"
        assert time.monotonic() - began < 60
    waits = [one["seconds"] for one in events(agent, "model.retried")]
    assert len(waits) == len(WAITS)
    assert all(0.75 * most <= took <= most for took, most in zip(waits, WAITS, strict=True))
    assert 150 < sum(waits) <= clock.time() < 300
    assert {one["status"] for one in events(agent, "model.retried")} == {status}
    assert events(agent, "model.failed") == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "45"}, 45.0), ({"retry-after-ms": "1500"}, 1.5)],
)
def test_the_server_says_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    clock = lk.VirtualClock()
    script = [lk.fail(429), lk.say("done")]
    with serving(script, headers=headers) as server, live(server, clock) as agent:
        agent.run("Go.")
    assert [one["seconds"] for one in events(agent, "model.retried")] == [seconds]
    assert clock.time() == seconds


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (429, {"retry-after": str(LONGEST_WAIT + 1)}),
        (529, {"x-should-retry": "false"}),
    ],
)
def test_what_will_not_pass_is_not_sent_again(status: int, headers: dict[str, str]) -> None:
    with serving([lk.fail(status), lk.say("x")], headers=headers) as server:
        with live(server, lk.VirtualClock()) as agent, pytest.raises(anthropic.APIStatusError):
            agent.run("Go.")
        assert len(server.bodies) == 1


def test_a_client_without_retries_is_asked_once() -> None:
    with serving([lk.fail(529), lk.say("x")]) as server:
        client = anthropic.Anthropic(api_key="local-test", base_url=server.url, max_retries=0)
        agent = lk.Agent(client, clock=lk.VirtualClock())
        with client, pytest.raises(anthropic.APIStatusError):
            agent.run("Go.")
        assert len(server.bodies) == 1
        agent.client = lk.scripted([lk.fail(529), lk.say("retried")])
        assert agent.run().text == "retried"


def test_a_stop_ends_the_wait_for_another_try() -> None:
    with (
        serving([lk.fail(529)] * 3, headers={"retry-after": "60"}) as server,
        live(server) as agent,
    ):
        waiting = threading.Event()
        agent.events.subscribe(
            lambda event: waiting.set() if event.type == "model.retried" else None
        )
        worker = agent.clock.spawn("run", agent.run, "Go.")
        assert waiting.wait(30)
        agent.stop.set()
        outcome = worker.join(30)
        assert outcome is not None, "it still waits"
        assert outcome.reason == "cancelled"
        assert accepted(agent)
    assert len(server.bodies) == 1


def test_a_lost_connection_is_tried_again() -> None:
    script, clock = [lk.say("one"), lk.say("two")], lk.VirtualClock()
    with serving(script, wire=cut_in(b'"content"')) as server, live(server, clock) as agent:
        assert went(agent) == "two"
    assert [one["status"] for one in events(agent, "model.retried")] == [None]


# Streams


def heard(agent: Agent, prompt: str | None = "Go.") -> tuple[list[lk.Event], lk.Outcome]:
    """All events of a stream, and its outcome."""
    seen, stream = [], agent.stream(prompt)
    while True:
        try:
            seen.append(next(stream))
        except StopIteration as end:
            return seen, end.value


def said(seen: list[lk.Event], kind: str = "text.delta") -> str:
    return "".join(event.data["text"] for event in seen if event.type == kind)


def test_a_stream_yields_pieces_of_text_between_the_events_of_the_log() -> None:
    first = lk.reply("I'll ping it, and then I'll see.", lk.use("ping"), thinking="Hm, a ping.")
    own: list[tuple[str, str]] = []
    with serving([first, lk.say("It answered.")]) as server, live(server) as agent:
        agent.hear = listener = lambda kind, text: own.append((f"{kind}.delta", text))
        seen, outcome = heard(agent)
    assert outcome == lk.Outcome("It answered.", "end_turn", 2) == agent.outcome
    assert said(seen) == "I'll ping it, and then I'll see.It answered."
    assert said(seen, "thinking.delta") == "Hm, a ping."
    logged = [event for event in seen if event.seq >= 0]
    assert logged == list(agent.events)
    kinds = [event.type for event in seen]
    assert kinds.index("text.delta") < kinds.index("model.replied") < kinds.index("tool.started")
    assert kinds.count("text.delta") > 2
    assert kinds[-1] == "run.ended"
    assert all(body["stream"] for body in server.bodies)
    assert own == [(event.type, event.data["text"]) for event in seen if event.seq < 0]
    assert agent.hear is listener


def test_a_stream_and_a_run_make_the_same_messages() -> None:
    script = [lk.reply("Look.", lk.use("echo", text="a"), thinking="Hm."), lk.say("done")]

    def messages(go: Callable[[Agent], object]) -> Any:
        agent = lk.Agent(lk.scripted(script), tools=[echo])
        go(agent)
        return agent.messages, [(e.time, e.type, e.data.get("usage")) for e in agent.events]

    assert messages(heard) == messages(lambda agent: agent.run("Go."))


def until_read(read: threading.Event, number: int, in_time: list[bool]) -> Callable[[], None]:
    """For a server: goes on with an event of the stream when what came before it was read."""
    numbers = count()

    def hold() -> None:
        if next(numbers) == number:
            in_time.append(read.wait(60))

    return hold


def test_leaving_a_stream_ends_the_run_and_its_thread() -> None:
    script = [lk.use("ping"), lk.say("a" * 240), lk.say("again")]
    with serving(script, gap=0.02) as server, live(server) as agent:
        for event in agent.stream("Go."):
            if event.type == "text.delta":
                assert "lead: run" in [thread.name for thread in threading.enumerate()]
                break
        assert "lead: run" not in [thread.name for thread in threading.enumerate()]
        assert agent.outcome is not None
        assert agent.outcome.reason == "cancelled"
        assert accepted(agent)
        assert agent.run("Go on.").text == "again"


def test_a_stream_that_is_cut_is_asked_for_again() -> None:
    script = [lk.say("The first half, and the second."), lk.say("All of it.")]
    clock = lk.VirtualClock()
    with serving(script, wire=cut_in(b"first half")) as server, live(server, clock) as agent:
        seen, outcome = heard(agent)
    assert outcome.text == "All of it."
    kinds = [event.type for event in seen]
    assert "model.retried" in kinds
    assert said(seen[kinds.index("model.retried") :]) == "All of it."
    assert roles(agent) == ["user", "assistant"]


def roles(agent: Agent) -> list[str]:
    return [message["role"] for message in agent.messages]


def test_a_stop_during_a_slow_stream_cancels_it_at_its_next_piece() -> None:
    stopped, in_time = threading.Event(), list[bool]()
    hold, pieces = until_read(stopped, 3, in_time), 0
    with serving([lk.say("a" * 2400), lk.say("x")], gap=hold) as server, live(server) as agent:
        for event in agent.stream("Go."):
            if event.type == "text.delta":
                pieces += 1
                agent.stop.set()
                stopped.set()
        assert agent.outcome is not None
        assert agent.outcome.reason == "cancelled"
        assert accepted(agent)
    assert (pieces, in_time) == (1, [True])


# Usage and cost


def test_usage_has_all_four_kinds_of_tokens_and_what_they_cost() -> None:
    # The server says 7 in, 3 of the cache and 5 out for each reply.
    script = [lk.use("ping"), lk.say("done"), lk.say("more")]
    with serving(script) as server, live(server, model=DEFAULT_MODEL) as agent:
        usage = agent.run("Go.").usage
        assert (usage.input_tokens, usage.output_tokens) == (14, 10)
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (6, 0)
        assert usage.cost == pytest.approx((14 * 4 + 10 * 20 + 6 * 0.2) / 1e6)
        assert agent.run("More.").usage.requests == 1


COUNTS = {
    "input_tokens": 1_000_000,
    "output_tokens": 100_000,
    "cache_read_input_tokens": 2_000_000,
    "cache_creation_input_tokens": 500_000,
}


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        ({}, 5 + 2.5 + 1 + 3.125),
        ({"cache_creation": {"ephemeral_1h_input_tokens": 200_000}}, 5 + 2.5 + 1 + 1.875 + 2),
        ({"speed": "standard", "service_tier": "standard"}, 11.625),
        ({"speed": "fast"}, None),
        ({"service_tier": "batch"}, None),
        ({"inference_geo": "us"}, None),
    ],
)
def test_each_kind_of_token_has_its_price(more: dict[str, Any], cost: float | None) -> None:
    price = Price(5, 25, 6.25, 10, 0.5)
    assert price.of({**COUNTS, **more}) == (None if cost is None else pytest.approx(cost))


def test_a_long_prompt_may_have_another_price() -> None:
    price = Price(1, 1, 1, 1, 1, above=(1000, Price(5, 5, 5, 5, 5)))
    assert price.of({"input_tokens": 400, "cache_read_input_tokens": 600}) == 1000 / 1e6
    assert price.of({"input_tokens": 401, "cache_read_input_tokens": 600}) == 5005 / 1e6


@pytest.mark.parametrize(
    ("model", "prices", "cost"),
    [
        ("my-model", PRICES, None),
        ("my-model", {"my-model": Price(1, 1, 1, 1, 1)}, 15e-6),
        (DEFAULT_MODEL, {}, None),
    ],
)
def test_the_price_table_can_be_replaced_and_an_unknown_model_has_no_price(
    model: str, prices: Any, cost: float | None
) -> None:
    def wire(content: bytes) -> tuple[int, str, bytes]:
        name = lk.scripted([]).model.encode()
        return 200, "application/json", content.replace(name, model.encode())

    with serving([lk.say("done")], wire=wire) as server, live(server, prices=prices) as agent:
        usage = agent.run("Go.").usage
    assert usage.cost == (None if cost is None else pytest.approx(cost))
    assert usage.input_tokens == 7


def test_subagents_count_for_their_parent() -> None:
    child = lk.Subagents(lambda: [lk.Toolbox(ping)])
    script = [
        lk.use("task", prompt="Ping it.", description="a ping"),
        lk.use("ping"),
        lk.say("It answers."),
        lk.say("done"),
    ]
    with serving(script) as server, live(server, mechanisms=[child], tools=()) as agent:
        assert agent.run("Go.").usage.requests == 4
    agent.events.append("model.replied", "leader", usage={})
    assert Usage.of(agent.events, "lead").requests == 4
    meter = "2 turns · 1 tool call · 20 tokens in, of which 6 from the cache · 10 out · "
    assert str(Meter.of(agent.events, "lead")).startswith(meter)


# Short forms


def test_an_agent_takes_functions_as_tools() -> None:
    def weather(city: str) -> str:
        """Current weather for a city."""
        return f"31 degrees in {city}"

    agent = lk.Agent(lk.scripted([lk.use("weather", city="Rome"), lk.say("ok")]), tools=[weather])
    assert went(agent) == "ok"
    assert agent.messages[2]["content"][0]["content"] == "31 degrees in Rome"
    with pytest.raises(lk.UsageError, match="two tools are called"):
        lk.Agent(lk.scripted([]), [lk.Toolbox(weather)], tools=[weather])


def test_a_model_by_name_asks_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving([lk.say("hello")]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert lk.Agent(lk.scripted([]), model=OTHER_MODEL).model == OTHER_MODEL
        agent = lk.Agent(model=OTHER_MODEL)
        assert went(agent) == "hello"
        agent.client.close()
    assert server.bodies[0]["model"] == OTHER_MODEL


def test_an_agent_needs_a_client_or_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test")
    with pytest.raises(lk.UsageError, match="a client, such as"):
        lk.Agent()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(lk.UsageError, match="ANTHROPIC_API_KEY"):
        lk.Agent(model=OTHER_MODEL)


# Who inherits


def test_children_and_teammates_inherit_the_settings(tmp_path: Any) -> None:
    callers, prices = list[tuple[str, Any]](), dict[str, Price]()

    class NoPing(Mechanism):
        def refuse(self, agent: Agent, call: Call) -> str | None:
            if call.name != "ping":
                return None
            callers.append((agent.name, agent.prices))
            return "No pings."

    settings = {"output_config": {"effort": "low"}}
    task = lk.use("task", prompt="Ping it.", description="a ping")
    spawn = lk.use("spawn_teammate", name="alice", role="tester", prompt="Ping it.")

    def model(request: dict[str, Any]) -> Any:
        last = request["messages"][-1]["content"]
        text = last if isinstance(last, str) else str(last)
        if text == "Ping it.":
            return lk.use("ping")
        if text == "Go.":
            return lk.reply(task, spawn)
        return lk.say("done")

    with serving(model) as server:
        team = lk.Team(tmp_path, lambda name, role: [lk.Toolbox(ping)])
        children = lk.Subagents(lambda: [lk.Toolbox(ping)])
        options = {"request": settings, "max_tokens": 1234, "model": OTHER_MODEL}
        options["prices"] = prices
        parts = [NoPing(), children, team]
        with live(server, mechanisms=parts, tools=(), **options) as agent, team:
            agent.run("Go.")
    lanes = {event.lane for event in agent.events if event.type == "model.replied"}
    assert len(lanes) == 3
    assert {name for name, _ in callers} == lanes - {"lead"}
    assert all(table is prices for _, table in callers)
    for body in server.bodies:
        assert body.get("output_config") == settings["output_config"]
        assert (body["max_tokens"], body["model"]) == (1234, OTHER_MODEL)
    ended = [e for e in agent.events if e.type == "tool.ended" and e.data["name"] == "ping"]
    assert [event.data["how"] for event in ended] == ["refused", "refused"]

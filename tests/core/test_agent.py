"""The loop: the table of replies row by row, tools, hooks, ends, and what the log says of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.clients.connect import from_source
from learnkit.clients.contract.rules import check
from learnkit.clients.scripted import Scripted
from learnkit.core.catalog import DEFAULT_MODEL
from learnkit.core.interface import Call, Result
from learnkit.core.mechanism import Mechanism
from learnkit.core.request import WAITS
from learnkit.core.usage import Meter
from learnkit.errors import UsageError

SERVER_CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}


@lk.tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@lk.tool
def boom(kind: str = "") -> str:
    """Go wrong."""
    raise lk.ToolError("no such city") if kind == "expected" else ZeroDivisionError("by zero")


class Watch(Mechanism):
    """Says what it was told to say at each hook, and remembers that it was asked."""

    def __init__(self, **says: Any) -> None:
        self.says = {hook: iter(lines) for hook, lines in says.items()}
        self.asked: list[str] = []

    def _say(self, hook: str, agent: lk.Agent) -> Any:
        self.asked.append(hook)
        said = next(self.says.get(hook, iter(())), None)
        return said(agent) if callable(said) else said

    def system(self, agent: lk.Agent) -> str | None:
        return self._say("system", agent)

    def before_model(self, agent: lk.Agent) -> None:
        self._say("before_model", agent)

    def refuse(self, agent: lk.Agent, call: Call) -> str | None:
        return self._say("refuse", agent)

    def after_tools(self, agent: lk.Agent, calls: Sequence[Call]) -> str | None:
        return self._say("after_tools", agent)

    def on_stop(self, agent: lk.Agent) -> str | None:
        return self._say("on_stop", agent)


def agent_of(script: Any, *mechanisms: Mechanism, **options: Any) -> lk.Agent:
    client = lk.scripted(script, options.pop("clock", None))
    return lk.Agent(client, [lk.Toolbox(echo, boom), *mechanisms], **options)


def results(agent: lk.Agent, at: int = -1) -> list[tuple[str, bool]]:
    """The results in a message, as (text, is an error)."""
    content = agent.messages[at]["content"]
    return [(b["content"], b.get("is_error", False)) for b in content if "tool_use_id" in b]


def hows(agent: lk.Agent) -> list[str]:
    return [event.data["how"] for event in agent.events if event.type == "tool.ended"]


def roles(agent: lk.Agent) -> str:
    return "".join(message["role"][0] for message in agent.messages)


def sound(agent: lk.Agent) -> bool:
    """Whether the API would take the array, with one more message of the user."""
    body = agent.request()
    more = {"role": "user", "content": "Go on."}
    refusal = check({**body, "messages": [*body["messages"], more]})
    assert refusal is None, refusal
    return True


# The table of replies


@pytest.mark.parametrize("stop_reason", ["tool_use", "end_turn", "stop_sequence", "refusal"])
def test_calls_are_answered_whatever_the_stop_reason(stop_reason: str) -> None:
    calls = lk.reply(
        "Two.", lk.use("echo", text="a"), lk.use("echo", text="b"), stop_reason=stop_reason
    )
    agent = agent_of([calls, lk.say("done")])
    assert agent.run("Go.") == lk.Outcome("done", "end_turn", 2)
    assert roles(agent) == "uaua"
    assert results(agent, 2) == [("a", False), ("b", False)]
    ids = [block["id"] for block in agent.messages[1]["content"] if "id" in block]
    assert [block["tool_use_id"] for block in agent.messages[2]["content"]] == ids


def test_calls_of_a_reply_cut_by_max_tokens_are_answered_and_not_run() -> None:
    cut = lk.reply(lk.use("echo", text="a"), lk.use("echo"), stop_reason="max_tokens")
    agent = agent_of([cut, lk.say("done")])
    assert agent.run("Go.").reason == "end_turn"
    assert hows(agent) == ["cut", "cut"]
    assert all(error and "cut off at max_tokens" in text for text, error in results(agent, 2))


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence"])
def test_a_model_that_has_stopped_may_be_given_another_turn(stop_reason: str) -> None:
    first, second = Watch(on_stop=["You have mail."]), Watch()
    script = [lk.say("one", stop_reason=stop_reason), lk.say("two", stop_reason=stop_reason)]
    agent = agent_of(script, first, second)
    assert agent.run("Go.") == lk.Outcome("two", stop_reason, 2)
    assert agent.messages[2] == {
        "role": "user",
        "content": [{"type": "text", "text": "You have mail."}],
    }
    assert roles(agent) == "uaua"
    assert second.asked.count("on_stop") == 1  # the first one's text came before it
    added = [event.data for event in agent.events if event.type == "message.added"]
    assert [data.get("injected", False) for data in added] == [False, False, True, False]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "model_context_window_exceeded"])
def test_a_reply_that_was_cut_or_refused_ends_the_run(reason: str) -> None:
    watch = Watch(on_stop=["More!"])
    script = [lk.say("Well", stop_reason=reason), lk.say("again"), lk.say("at last")]
    agent = agent_of(script, watch)
    assert agent.run("Go.") == lk.Outcome("Well", reason, 1)
    assert "on_stop" not in watch.asked
    assert agent.run("Once more.") == lk.Outcome("at last", "end_turn", 2)


def test_a_pause_sends_the_array_again_as_it_is() -> None:
    requests: list[Any] = []

    def model(request: Any) -> Any:
        requests.append(request["messages"])
        if len(requests) == 1:
            return lk.reply("I search.", SERVER_CALL, stop_reason="pause_turn")
        return lk.say("found")

    agent = agent_of(model)
    assert agent.run("Search.") == lk.Outcome("found", "end_turn", 2)
    assert requests[1] == [*requests[0], agent.messages[1]]
    assert roles(agent) == "uaa"


THOUGHT = {"type": "thinking", "thinking": "Hm."}


@pytest.mark.parametrize(
    "empty",
    [
        lk.say(""),
        lk.reply("  \n"),
        lk.reply(THOUGHT, THOUGHT),
        lk.say("", stop_reason="tool_use"),
    ],
)
def test_an_empty_reply_is_not_appended(empty: Any) -> None:
    watch = Watch(on_stop=["Anything else?"])
    agent = agent_of([empty, empty], watch)
    assert agent.run("Go.") == lk.Outcome("", "end_turn", 2)
    assert roles(agent) == "uu"
    assert sound(agent)


def test_an_empty_reply_keeps_its_reason_when_that_ends_the_run() -> None:
    calls = lk.reply("I look.", lk.use("echo", text="a")), lk.use("echo", text="b")
    agent = agent_of([*calls, lk.say("", stop_reason="refusal"), lk.say("")])
    assert agent.run("Go.") == lk.Outcome("I look.", "refusal", 3)
    assert roles(agent) == "uauau"
    assert agent.run("Go on.") == lk.Outcome("", "end_turn", 1)


def test_a_stop_of_somebody_else_is_not_cleared() -> None:
    clock = lk.VirtualClock()
    stop = clock.signal("the team's stop")
    agent = agent_of([lk.say("done")], stop=stop, clock=clock)
    stop.set()
    assert agent.run("Go.").reason == agent.run("Go.").reason == "cancelled"
    assert stop.is_set()
    stop.clear()
    assert agent.run("Go.").reason == "end_turn"


def test_a_stop_during_the_reply_answers_its_calls_and_ends() -> None:
    watch = Watch()
    agent = agent_of([lk.use("echo", text="a"), lk.say("done")], watch)
    stopper = agent.clock.spawn("stopper", lambda: agent.clock.sleep(0.5) or agent.stop.set())
    assert agent.run("Go.") == lk.Outcome("", "cancelled", 1)
    stopper.join()
    assert "refuse" not in watch.asked  # nobody is asked about a call that will not run
    assert results(agent) == [("Cancelled before it ran.", True)]
    assert agent.run("Go on.").text == "done"


def test_a_stop_that_comes_too_late_does_not_cancel_the_next_run() -> None:
    agent = agent_of([lk.say("one"), lk.say("two")])
    stopper = agent.clock.spawn("stopper", lambda: agent.clock.sleep(0.5) or agent.stop.set())
    assert agent.run("Go.") == lk.Outcome("one", "end_turn", 1)
    stopper.join()
    assert agent.run("Go on.") == lk.Outcome("two", "end_turn", 1)


def test_a_stop_in_a_hook_before_the_request_asks_no_more() -> None:
    watch = Watch(before_model=[lambda agent: agent.stop.set()])
    agent = agent_of([lk.say("one")], watch)
    assert agent.run("Go.") == lk.Outcome("", "cancelled", 0)
    assert "model.requested" not in [event.type for event in agent.events]


def test_the_turn_limit_ends_with_every_call_answered() -> None:
    agent = agent_of([lk.use("echo", text="a")] * 3 + [lk.say("done")], max_turns=3)
    assert agent.run("Go.") == lk.Outcome("", "turn_limit", 3)
    assert results(agent) == [("a", False)]
    assert agent.run() == lk.Outcome("done", "end_turn", 1)
    async_client: Any = anthropic.AsyncAnthropic(api_key="none")
    with pytest.raises(UsageError, match=r"AsyncAnthropic answers with .* pass Anthropic\(\)"):
        lk.Agent(async_client)
    with pytest.raises(UsageError, match="max_turns is 0; a run needs at least one turn"):
        agent_of([], max_turns=0)
    for dollars in (0, -1, float("nan")):
        with pytest.raises(UsageError, match="give US dollars"):
            agent_of([], max_cost=dollars)
    with pytest.raises(UsageError, match="max_cost needs the price of"):
        agent_of([], max_cost=1, prices={})


#: A dollar for each token that is written.
DOLLARS = {DEFAULT_MODEL: lk.Price(0, 1e6, 0, 0, 0)}


def costly(*replies: Any) -> list[Any]:
    """Replies that cost a dollar each."""
    return [lk.reply(one, usage={"input_tokens": 9, "output_tokens": 1}) for one in replies]


def test_the_limit_of_cost_ends_with_every_call_answered() -> None:
    script = costly(*[lk.use("echo", text="a")] * 3, lk.say("done"))
    agent = agent_of(script, max_cost=2.0, prices=DOLLARS)
    assert agent.run("Go.") == lk.Outcome("", "cost_limit", 2)
    assert results(agent) == [("a", False)]
    assert agent.run() == lk.Outcome("done", "end_turn", 2), "each run has the limit for itself"


def test_subagents_spend_from_the_same_limit() -> None:
    task = lk.use("task", prompt="p", description="d")
    script = costly(task, *[lk.use("echo", text="a")] * 8)
    agent = agent_of(script, lk.Subagents(), max_cost=3.5, prices=DOLLARS)
    assert agent.run("Go.").reason == "cost_limit"
    ends = [event.data["reason"] for event in agent.events if event.type == "subagent.ended"]
    assert ends == ["cost_limit"]
    assert sum(event.type == "model.replied" for event in agent.events) == 4


def test_a_reply_whose_price_is_not_known_ends_a_limited_run() -> None:
    agent = agent_of([lk.use("echo", text="a")] * 3, max_cost=100)
    agent.prices = {}
    assert agent.run("Go.") == lk.Outcome("", "cost_limit", 1)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (529, anthropic.InternalServerError),
        (429, anthropic.RateLimitError),
    ],
)
def test_an_error_of_the_api_raises_and_the_run_can_be_called_again(
    status: int, error: type[anthropic.APIStatusError]
) -> None:
    failures = [lk.fail(status)] * (1 + len(WAITS) if status in (429, 529) else 1)
    agent = agent_of([lk.use("echo", text="a"), *failures, lk.say("done")])
    with pytest.raises(error) as caught:
        agent.run("Go.")
    assert caught.value.status_code == status
    failed = next(event.data for event in agent.events if event.type == "model.failed")
    assert (failed["turn"], failed["status"]) == (2, status)
    assert failed["error_type"].endswith("_error")
    assert roles(agent) == "uau"
    assert sound(agent)
    assert agent.run().text == "done"


# Calls


def test_what_goes_wrong_with_a_call_is_told_to_the_model() -> None:
    calls = [
        lk.use("nope", a=1),
        lk.use("echo", txt="a"),
        lk.use("boom", kind="expected"),
        lk.use("boom"),
        lk.use("echo", text=""),
        lk.use("echo", text="a\udcffb"),
    ]
    agent = agent_of([lk.reply(*calls), lk.say("sorry")])
    assert agent.run("Go.").text == "sorry"
    told = results(agent, 2)
    assert hows(agent) == ["unknown", "invalid", "raised", "raised", "ran", "ran"]
    assert told[0] == ("There is no tool 'nope'. The tools are: echo, boom.", True)
    assert "text" in told[1][0]
    assert told[2:] == [
        ("no such city", True),
        ("ZeroDivisionError: by zero", True),
        ("(no output)", False),
        ("a?b", False),
    ]


def test_a_refused_call_gives_its_reason_and_does_not_run() -> None:
    watch = Watch(refuse=[None, "Not on a Friday."])
    agent = agent_of(
        [lk.reply(lk.use("echo", text="a"), lk.use("echo", text="b")), lk.say("ok")], watch
    )
    agent.run("Go.")
    assert results(agent, 2) == [("a", False), ("Not on a Friday.", True)]
    assert hows(agent) == ["ran", "refused"]


def gave(value: Any) -> lk.Agent:
    """An agent that has called a tool which returns, or raises, a value."""

    def run() -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    tool = lk.Tool(run, name="blocks", description="Give blocks.")
    agent = lk.Agent(lk.scripted([lk.use("blocks"), lk.say("ok")]), tools=[tool])
    assert agent.run("Go.").text == "ok"
    return agent


def test_a_tool_may_return_blocks_and_none_of_them_is_empty() -> None:
    blocks = [{"type": "text", "text": " "}, picture(), {"type": "text", "text": "\udcff"}]
    (result,) = gave(blocks).messages[2]["content"]
    assert [block.get("text") for block in result["content"]] == ["(no output)", None, "?"]
    assert result["content"][1] == picture()


def test_blocks_that_json_cannot_hold_are_an_error_of_the_tool() -> None:
    agent = gave([{"type": "image", "source": b"raw"}])
    assert results(agent, 2) == [("TypeError: Object of type bytes is not JSON serializable", True)]


def picture(size: int = 4, **more: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * size}
    return {"type": "image", "source": {**source, **more}}


@pytest.mark.parametrize(
    ("value", "how"),
    [
        ("a" * 3_000_000, "characters left out"),
        ({"rows": ["a" * 100] * 30_000}, "characters left out"),
        ([{"type": "text", "text": "a" * 60_000}] * 50, "characters left out"),
        ([{"type": "audio", "data": "a" * 3_000_000}], "characters left out"),
        (lk.ToolError("a" * 3_000_000), "characters left out"),
        (ValueError("a" * 3_000_000), "characters left out"),
        ([picture(7_000_001)], "too large"),
        ([picture(2_000_000)] * 4, "too large"),
        ([{"type": "text", "text": "a"}] * 3_000, "3,000 blocks"),
    ],
)
def test_whatever_a_tool_gives_its_result_is_bounded(value: Any, how: str) -> None:
    agent = gave(value)
    block = agent.messages[2]["content"][0]
    assert how in str(block)
    assert len(str(block)) < 110_000
    logged = next(event.data for event in agent.events if event.type == "tool.ended")
    assert len(logged["output"]) < 110_000


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image"}, "source is None"),
        ({"type": "image", "source": {"type": "path"}}, "it needs a source of type base64, url"),
        (picture(0), "without source.data"),
        (picture(data=7), "without source.data"),
        (picture(media_type="image/tiff"), "image/tiff; the API takes image/jpeg"),
        ({"type": "document", "source": {"type": "url"}}, "without source.url"),
        ({"type": "text"}, "text is None"),
        ({"type": "text", "text": 7}, "text is 7"),
    ],
)
def test_a_block_that_the_api_would_refuse_is_an_error_of_the_tool(block: Any, words: str) -> None:
    ((text, is_error),) = results(gave([{"type": "text", "text": "Look:"}, block]), 2)
    assert words in text
    assert is_error


def test_a_picture_is_named_in_the_log_and_not_written_into_it() -> None:
    agent = gave([{"type": "text", "text": "Look:"}, picture(1_000_000)])
    ended = next(event.data for event in agent.events if event.type == "tool.ended")
    assert ended["output"] == "Look:\n[image]"


def test_each_call_and_its_result_are_shown_to_a_hook() -> None:
    seen: list[tuple[str, Any, bool, str]] = []

    class Look(Mechanism):
        def refuse(self, agent: lk.Agent, call: Call) -> str | None:
            return "No." if call.input == {"text": "refused"} else None

        def after_tool(self, agent: lk.Agent, call: Call, result: Result) -> str | None:
            before = [event.type for event in agent.events].count("tool.ended")
            seen.append((call.name, result.content, result.is_error, result.how))
            return f"{before} ended" if call.name == "echo" else None

        def after_tools(self, agent: lk.Agent, calls: Sequence[Call]) -> str | None:
            return "all of them"

    calls = [lk.use("echo", text="a"), lk.use("boom", kind="expected"), lk.use("nope")]
    script = [lk.reply(*calls, lk.use("echo", text="refused")), lk.say("ok")]
    agent = lk.Agent(lk.scripted(script), [Look()], tools=[echo, boom])
    assert agent.run("Go.").text == "ok"
    assert seen == [
        ("echo", "a", False, "ran"),
        ("boom", "no such city", True, "raised"),
        ("nope", "There is no tool 'nope'. The tools are: echo, boom.", True, "unknown"),
        ("echo", "No.", True, "refused"),
    ]
    logged = [event.data["is_error"] for event in agent.events if event.type == "tool.ended"]
    assert logged == [is_error for _, _, is_error, _ in seen]
    notes = [b["text"] for b in agent.messages[2]["content"] if b["type"] == "text"]
    assert notes == ["1 ended", "4 ended", "all of them"]  # before the next call is run


def test_calls_side_by_side_are_shown_to_a_hook_in_their_order() -> None:
    seen: list[float] = []

    @lk.tool(parallel=3)
    def nap(agent: lk.Agent, seconds: float) -> str:
        """Take a while."""
        agent.clock.sleep(seconds)
        return f"{seconds}"

    class Look(Mechanism):
        def after_tool(self, agent: lk.Agent, call: Call, result: Result) -> str | None:
            seen.append(result.seconds)
            return None

    script = [lk.reply(*(lk.use("nap", seconds=n) for n in (3, 1, 2))), lk.say("ok")]
    lk.Agent(lk.scripted(script), [Look()], tools=[nap]).run("Go.")
    assert seen == [3, 1, 2]


def test_injected_text_follows_the_results() -> None:
    one, two = Watch(after_tools=["Remember the list."]), Watch(after_tools=["  ", "Mail: a\udcff"])
    calls = lk.reply(lk.use("echo", text="a"), lk.use("nope"))
    agent = agent_of([calls, calls, lk.say("ok")], one, two)
    agent.run("Go.")
    kinds = [[block["type"] for block in agent.messages[at]["content"]] for at in (2, 4)]
    assert kinds == [["tool_result", "tool_result", "text"]] * 2
    assert agent.messages[2]["content"][2]["text"] == "Remember the list."
    assert agent.messages[4]["content"][2]["text"] == "Mail: a?"


@pytest.mark.parametrize("hook", ["before_model", "refuse", "after_tools", "on_stop"])
@pytest.mark.parametrize("error", [LookupError("lost"), KeyboardInterrupt()])
def test_a_hook_that_raises_leaves_a_valid_array(hook: str, error: BaseException) -> None:
    def fail(agent: lk.Agent) -> None:
        raise error

    calls = lk.reply(lk.use("echo", text="a"), lk.use("echo", text="b"))
    agent = agent_of([calls, lk.say("one"), lk.say("two")], Watch(**{hook: [fail]}))
    with pytest.raises(type(error)):
        agent.run("Go.")
    assert sound(agent)
    ended = agent.events[-1].type == "run.ended"
    assert ended == isinstance(error, KeyboardInterrupt)
    assert agent.run("Go on.").text in ("one", "two")


def test_an_interrupt_in_a_tool_cancels_the_rest() -> None:
    def interrupt(agent: lk.Agent) -> None:
        agent.clock.sleep(90.0)
        raise KeyboardInterrupt

    stop_now = lk.Tool(interrupt, name="stop_now", description="Interrupt.")
    calls = lk.reply(lk.use("echo", text="a"), lk.use("stop_now"), lk.use("echo", text="b"))
    agent = agent_of([calls, lk.say("ok")], lk.Toolbox(stop_now))
    with pytest.raises(KeyboardInterrupt):
        agent.run("Go.")
    cancelled = ("Cancelled: the run was interrupted.", True)
    assert results(agent) == [("a", False), cancelled, cancelled]
    took = [event.data["seconds"] for event in agent.events if event.type == "tool.ended"]
    assert took == [0.0, 90.0, 0.0], "the user hears how long it ran"
    assert agent.events[-1].data == {"reason": "cancelled", "text": "", "turns": 1}
    assert agent.run("Go on.").text == "ok"


def test_calls_that_an_interrupt_left_open_are_answered_before_the_next_request() -> None:
    script = [lk.use("echo", text="a"), lk.say("ok"), lk.use("echo", text="b"), lk.say("ok")]
    agent = agent_of(script)
    agent.run("Go.")
    del agent.messages[2:]  # as if it had come between the reply and its answer
    assert agent.run("Go on.").reason == "end_turn"
    assert results(agent, 2) == [("Cancelled: the run was interrupted.", True)]


def test_a_listener_that_raises_leaves_a_valid_array() -> None:
    agent = agent_of([lk.use("echo", text="a"), lk.say("ok")])

    def broken(event: lk.Event) -> None:
        if event.type.startswith("tool."):
            raise LookupError(event.type)

    unsubscribe = agent.events.subscribe(broken)
    with pytest.raises(LookupError, match=r"tool\."):
        agent.run("Go.")
    assert sound(agent)
    unsubscribe()
    assert agent.run("Go on.").text == "ok"
    indices = [event.data["index"] for event in agent.events if event.type == "message.added"]
    assert indices == list(range(len(agent.messages)))


# Tools side by side


class Meeting:
    """A parallel tool that counts how many of its calls run at a time."""

    def __init__(self, limit: int, seconds: dict[str, float]) -> None:
        self.now, self.most, self.order = 0, 0, ""
        self._seconds = seconds
        self.tool = lk.tool(parallel=limit)(self.meet)

    def meet(self, agent: lk.Agent, who: str) -> str:
        """Meet."""
        self.now += 1
        self.most = max(self.most, self.now)
        agent.clock.sleep(self._seconds[who], agent.stop)
        self.now -= 1
        self.order += who
        return f"met {who}"


def met(limit: int) -> tuple[Meeting, lk.Agent]:
    seconds = {"a": 3.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 0.0, "f": 1.0}
    meeting = Meeting(limit, seconds)
    script = [lk.reply(*(lk.use("meet", who=who) for who in seconds)), lk.say("done")]
    client = lk.scripted(script, lk.VirtualClock())
    agent = lk.Agent(client, [lk.Toolbox(meeting.tool)])
    assert agent.run("Meet.").text == "done"
    assert [text for text, _ in results(agent, 2)] == [f"met {who}" for who in seconds]
    return meeting, agent


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 10])
def test_parallel_calls_keep_the_limit_and_the_order_of_their_results(limit: int) -> None:
    meeting, agent = met(limit)
    assert meeting.most == min(limit, 6)
    assert meeting.order == {1: "abcdef", 2: "bcadef"}.get(limit, meeting.order)
    assert agent.clock.time() == 2 + {1: 7, 2: 4, 3: 3, 6: 3, 10: 3}[limit]


def test_only_neighbours_of_one_parallel_tool_run_side_by_side() -> None:
    running: list[str] = []
    seen: list[str] = []

    def work(agent: lk.Agent, name: str) -> str:
        running.append(name)
        seen.append("+".join(sorted(running)))
        agent.clock.sleep(1)
        running.remove(name)
        return name

    def tool_of(name: str, parallel: int) -> lk.Tool:
        def call(agent: lk.Agent) -> str:
            return work(agent, name)

        return lk.Tool(call, name=name, description="Work.", parallel=parallel)

    tools = [tool_of("p", 2), tool_of("q", 2), tool_of("s", 1)]
    names = ["p", "p", "s", "s", "p", "q", "q"]
    script = [lk.reply(*map(lk.use, names)), lk.say("done")]
    agent = lk.Agent(lk.scripted(script), tools=tools)
    agent.run("Go.")
    assert seen == ["p", "p+p", "s", "s", "p", "q", "q+q"]
    assert [text for text, _ in results(agent, 2)] == names


def test_a_stop_ends_parallel_calls_and_the_ones_behind_them() -> None:
    meeting = Meeting(2, dict.fromkeys("abcd", 10.0))
    calls = lk.reply(*(lk.use("meet", who=who) for who in "abcd"))
    agent = lk.Agent(lk.scripted([calls, lk.say("ok")]), [lk.Toolbox(meeting.tool)])
    stopper = agent.clock.spawn("stopper", lambda: agent.clock.sleep(5) or agent.stop.set())
    assert agent.run("Go.").reason == "cancelled"
    stopper.join()
    cancelled = ("Cancelled before it ran.", True)
    assert results(agent) == [("met a", False), ("met b", False), cancelled, cancelled]
    assert agent.clock.time() == 5


def test_interrupts_in_several_parallel_calls_leave_none_running() -> None:
    ended: list[int] = []

    @lk.tool(parallel=4)
    def visit(agent: lk.Agent, number: int) -> str:
        """Visit."""
        if agent.clock.sleep(number, agent.stop) or number > 2:
            ended.append(number)
            return "home again"
        raise KeyboardInterrupt

    calls = lk.reply(*(lk.use("visit", number=n) for n in (2, 1, 50, 60)))
    agent = lk.Agent(lk.scripted([calls, lk.say("ok")]), [lk.Toolbox(visit)])
    with pytest.raises(KeyboardInterrupt):
        agent.run("Go.")
    assert ended == [50, 60]
    assert agent.clock.time() == 3  # a second for the reply, two for the first interrupt
    cancelled = ("Cancelled: the run was interrupted.", True)
    assert results(agent) == [cancelled, cancelled] + [("home again", False)] * 2
    assert len(hows(agent)) == 4
    assert agent.run("Go on.").text == "ok"
    agent.clock.close()  # each error has been told


# Messages, system prompt and log


def test_messages_by_hand_are_logged() -> None:
    agent = agent_of([lk.say("one"), lk.say("two"), lk.say("three")])
    agent.messages.append({"role": "user", "content": "From before."})
    agent.run("Go.")
    agent.messages = [{"role": "user", "content": "A fresh start."}]
    agent.messages.append({"role": "user", "content": "By hand."})
    agent.run()
    agent.messages.pop()
    agent.run("Again.")
    assert replay(agent) == agent.messages
    whys = [event.data["why"] for event in agent.events if event.type == "messages.rewritten"]
    assert whys == ["assigned", "edited"]
    assert roles(agent) == "uuua"


def replay(agent: lk.Agent) -> list[Any]:
    """The message array as a view folds it from the log."""
    array: list[Any] = []
    for event in agent.events:
        if event.type == "messages.rewritten":
            array = list(event.data["messages"])
        elif event.type == "message.added":
            assert event.data["index"] == len(array)
            array.append(event.data["message"])
    return array


def test_a_message_that_cannot_be_logged_is_refused_until_it_is_mended() -> None:
    agent = agent_of([lk.say("ok")])
    agent.messages.append({"role": "user", "content": object()})
    for _ in range(2):
        with pytest.raises(UsageError, match=r"event 'message\.added' has details that JSON"):
            agent.run("Go.")
    agent.messages.clear()
    assert agent.run("Go.").text == "ok"
    assert replay(agent) == agent.messages


@pytest.mark.parametrize("prompt", ["", "  \n", [], [{"type": "text", "text": ""}]])
def test_an_empty_prompt_is_refused_before_it_is_appended(prompt: Any) -> None:
    agent = agent_of([lk.say("ok")])
    with pytest.raises(UsageError, match="the prompt is empty"):
        agent.run(prompt)
    assert agent.messages == []
    with pytest.raises(UsageError, match="there is nothing to go on with: give run"):
        agent.run()
    assert agent.run([{"type": "text", "text": "Go."}]).text == "ok"
    with pytest.raises(UsageError, match="the model has had the last word: give run"):
        agent.run()


def test_prompt_and_tools_stay_the_same_bytes_for_a_run() -> None:
    requests: list[Any] = []

    def model(request: Any) -> Any:
        requests.append(request)
        return lk.use("echo", text="a") if len(requests) < 4 else lk.say("ok")

    watch = Watch(system=["Monday.", "Tuesday."])
    agent = agent_of(model, watch, Watch(system=[None, ""]), system="Be brief.")
    agent.run("Go.")
    mark = {"cache_control": {"type": "ephemeral"}}
    for one in requests:
        assert one["system"] == [{"type": "text", "text": "Be brief.\n\nMonday.", **mark}]
    assert all(one["tools"] == requests[0]["tools"] for one in requests)
    assert all(one["cache_control"] == {"type": "ephemeral"} for one in requests)
    for earlier, later in itertools.pairwise(requests):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
    agent.run("Go.")
    assert agent.system == "Be brief.\n\nTuesday."


def test_the_log_tells_a_run_from_start_to_end() -> None:
    agent = agent_of([lk.reply("I look.", lk.use("echo", text="a")), lk.say("ok")], system="Brief.")
    agent.run("Go.")
    assert [event.type for event in agent.events] == [
        "run.started",
        "message.added",
        "model.requested",
        "model.replied",
        "message.added",
        "tool.started",
        "tool.ended",
        "message.added",
        "model.requested",
        "model.replied",
        "message.added",
        "run.ended",
    ]
    started, replied = agent.events[0].data, agent.events[3]
    assert (started["prompt"], started["system"], started["model"]) == (
        "Go.",
        "Brief.",
        agent.model,
    )
    assert [tool["name"] for tool in started["tools"]] == ["echo", "boom"]
    assert replied.time == replied.data["seconds"] == 1.0
    assert replied.data["stop_reason"] == "tool_use"
    assert replied.data["usage"]["simulated"] is True
    ended = agent.events[6].data
    assert (ended["name"], ended["output"], ended["is_error"]) == ("echo", "a", False)
    assert ended["id"] == agent.messages[1]["content"][1]["id"]
    assert replay(agent) == agent.messages


def test_one_step_is_one_turn() -> None:
    agent = agent_of([lk.use("echo", text="a"), lk.say("ok")])
    agent.start("Go.")
    assert agent.step() is None
    assert roles(agent) == "uau"
    assert agent.step() == lk.Outcome("ok", "end_turn", 2)


def test_agents_of_one_clock_speak_in_their_own_lanes() -> None:
    log = lk.EventLog()
    script = {
        "alice": [lk.use("echo", text="a"), lk.say("from alice")],
        "bob": [lk.say("from bob")],
    }
    client = from_source(Scripted(script), lk.VirtualClock(), "scripted")

    def work(name: str) -> str:
        return lk.Agent(client, [lk.Toolbox(echo)], name=name, events=log).run("Go.").text

    with client.clock as clock:
        workers = [clock.spawn(name, work, name) for name in script]
        assert [worker.join() for worker in workers] == ["from alice", "from bob"]
    assert {event.lane for event in log} == {"alice", "bob"}
    ends = [(e.time, e.lane) for e in log if e.type == "run.ended"]
    assert ends == [(1.0, "bob"), (2.0, "alice")]
    assert Meter.of((event for event in log if event.time >= 1.0), "alice").seconds == 1.0


def test_a_client_of_the_plain_sdk_will_do() -> None:
    with anthropic.Anthropic(api_key="none", base_url="http://localhost:9") as client:
        agent = lk.Agent(client)
    assert isinstance(agent.clock, lk.SystemClock)
    assert agent.request()["model"] == lk.scripted([]).model
    assert agent.request().keys() == {"model", "max_tokens", "messages", "cache_control"}


# Against an independent loop


def ten_lines(client: Any, prompt: str, tools: dict[str, Callable[..., str]], specs: Any) -> Any:
    """The loop as everybody writes it, for a model that makes no mistakes."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        reply = client.messages.create(
            model=client.model, max_tokens=16_000, messages=messages, tools=specs
        )
        content = [block.to_dict() for block in reply.content]
        messages.append({"role": "assistant", "content": content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return messages
        answers = [
            {"type": "tool_result", "tool_use_id": c.id, "content": tools[c.name](**c.input)}
            for c in calls
        ]
        messages.append({"role": "user", "content": answers})


WORDS = st.text("ab é北", min_size=1, max_size=6).filter(str.strip)
USES = WORDS.map(lambda text: lk.use("echo", text=text))
TURNS = st.builds(
    lambda thinking, parts, call: lk.reply(*parts, call, thinking=thinking),
    st.none() | st.just("") | WORDS,
    st.lists(WORDS | USES, max_size=3),
    USES,
)


@given(st.lists(TURNS, max_size=5), WORDS)
def test_the_bare_loop_and_the_agent_make_the_same_messages(turns: list[Any], last: str) -> None:
    def script() -> Iterator[Any]:
        return iter([*turns, lk.say(last)])

    agent = lk.Agent(lk.scripted(script()), [lk.Toolbox(echo)])
    outcome = agent.run("Go.")
    specs = [tool.spec() for tool in agent.tools.values()]
    expected = ten_lines(lk.scripted(script()), "Go.", {"echo": lambda text: text}, specs)
    assert agent.messages == expected
    assert outcome == lk.Outcome(last, "end_turn", len(turns) + 1)

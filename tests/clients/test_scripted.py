"""Replies written in Python, through the real SDK."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

import learnkit as lk
from learnkit.clients.scripted import Reply, ScriptEnded
from learnkit.events.log import LANE

TOOL = {"name": "bash", "description": "Run.", "input_schema": {"type": "object"}}


def ask(client: Any, text: str = "hello", **more: Any) -> Any:
    messages = more.pop("messages", [{"role": "user", "content": text}])
    return client.messages.create(
        model=client.model, max_tokens=100, messages=messages, tools=[TOOL], **more
    )


def test_replies_come_in_order_and_a_text_will_do() -> None:
    client = lk.scripted([lk.say("one"), "two", lambda request: lk.say(str(len(request)))])
    assert [ask(client).content[0].text for _ in range(3)] == ["one", "two", "4"]


def test_lanes_have_scripts_of_their_own() -> None:
    client = lk.scripted({"lead": ["I lead"], "alice": lambda request: "I am alice"})
    assert ask(client).content[0].text == "I lead"
    token = LANE.set("alice")
    try:
        assert ask(client).content[0].text == "I am alice"
    finally:
        LANE.reset(token)
    token = LANE.set("bob")
    try:
        with pytest.raises(ScriptEnded, match=r"'bob' asked.*lead, alice"):
            ask(client)
    finally:
        LANE.reset(token)


def test_a_script_that_has_ended_says_so_at_once() -> None:
    asked = []
    client = lk.scripted([lk.say("only one")])
    ask(client)
    client.clock.sleep = lambda *_: asked.append(1)  # type: ignore[method-assign]
    with pytest.raises(ScriptEnded, match="held only 1"):
        ask(client)
    assert asked == []
    client = lk.scripted(["one", "two", "three"])
    for _ in range(3):
        ask(client)
    for _ in range(2):
        with pytest.raises(ScriptEnded, match=r"agent 'lead' .* held only 3: add a reply, or end"):
            ask(client)


@pytest.mark.parametrize("status", [429, 529, 500])
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_retries_without_waiting(status: int, stream: bool) -> None:
    asked: list[int] = []

    def failing(request: dict[str, Any]) -> Any:
        asked.append(len(asked))
        return lk.say("at last") if len(asked) == 3 else lk.fail(status)

    reply = ask(lk.scripted(failing), stream=stream)
    text = (
        reply.content[0].text
        if not stream
        else "".join(event.delta.text for event in reply if event.type == "content_block_delta")
    )
    assert (text, len(asked)) == ("at last", 3)
    client = lk.scripted([lk.fail(status)] * 3)
    with pytest.raises(anthropic.APIStatusError) as caught:
        ask(client)
    assert caught.value.status_code == status
    wait = float(caught.value.response.headers["retry-after-ms"])
    assert 0 < wait < 1  # milliseconds; the SDK takes 0 for "not said", and backs off


@pytest.mark.parametrize("answer", [None, 3, {"type": "text"}])
def test_what_is_no_reply_is_refused(answer: Any) -> None:
    with pytest.raises(ScriptEnded, match="give say"):
        ask(lk.scripted([answer]))


def use_of(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": arguments}


def test_a_reply_is_made_of_its_parts() -> None:
    text, call = {"type": "text", "text": "I look."}, use_of("bash", command="ls")
    plan = {"type": "thinking", "thinking": "First look."}
    whole = lk.reply("I look.", lk.use("bash", command="ls"), dict(text), thinking="First look.")
    assert whole == Reply((plan, text, call, text))
    assert lk.reply(lk.say("x", stop_reason="refusal"), "y").stop_reason == "refusal"
    cut = lk.reply(lk.say("x", stop_reason="refusal"), stop_reason="max_tokens")
    assert cut.stop_reason == "max_tokens"
    slow = lk.reply("x", latency=2.0, usage={"input_tokens": 3})
    assert (slow.latency, slow.usage) == (2.0, {"input_tokens": 3})
    assert lk.say("x", thinking="First look.").content == (plan, {"type": "text", "text": "x"})
    assert lk.say("") == Reply(())
    assert (lk.say("x").stop_reason, lk.say("x").latency, lk.use("bash").latency) == (None, 1, 1)

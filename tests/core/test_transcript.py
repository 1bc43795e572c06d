"""Transcripts: messages as text, and the request that is being worked on."""

from __future__ import annotations

import learnkit as lk
from learnkit.core.transcript import as_text, request_of


def test_what_was_said_called_and_answered_stands_in_order() -> None:
    call = {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "echo ü"}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "ü"}]}
    messages = [
        {"role": "user", "content": "say it"},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, call],
        },
        {"role": "user", "content": [result, {"type": "text", "text": "a reminder"}]},
    ]
    assert as_text(messages).splitlines() == [
        "user: say it",
        'assistant: bash {"command": "echo ü"}',
        "user: ü",
        "user: a reminder",
    ]


def test_what_is_no_text_is_named() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "…"}}
    assert as_text([{"role": "user", "content": [image]}]) == "user: [image]"


def test_the_request_is_found_after_the_messages_were_rewritten() -> None:
    agent = lk.Agent(lk.scripted([lk.say("one"), lk.say("two")]))
    assert request_of(agent) == ""
    agent.run("first")
    agent.run([{"type": "text", "text": "second"}])
    agent.rewrite([{"role": "user", "content": "a summary"}], "compacted")
    assert request_of(agent) == "second"


def test_the_request_is_the_agents_own() -> None:
    log = lk.EventLog()
    lk.Agent(lk.scripted([lk.say("x")]), events=log).run("for the lead")
    lk.Agent(lk.scripted([lk.say("x")]), events=log, name="alice").run("for alice")
    assert request_of(lk.Agent(lk.scripted([]), events=log)) == "for the lead"

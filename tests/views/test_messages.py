"""The message array view, step by step."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from learnkit.core.events import EventLog
from learnkit.core.token_count import estimate_tokens
from learnkit.views import Messages


def test_every_step_says_what_happened(story: EventLog) -> None:
    view = Messages(story)
    heads = [re.sub(r"≈ \d+", "≈ N", view.head(view.at(k))) for k in range(len(story) + 1)]
    assert heads == [
        "Nothing has happened yet.",
        "The run starts with “Count the files.”",
        "Message 0 enters the array: “Count the files.”",
        "Turn 1: the model gets 1 message, ≈ N tokens.",
        "Turn 1: the reply is here, the model wants a tool (10 tokens in, 5 out).",
        "Message 1: the model calls bash and send_mail.",
        "bash runs: ls | wc -l",
        "bash is done after 0.2 s: “3”.",
        "send_mail runs: to: me body: a b",
        "send_mail does not exist: “no tool”.",
        "Message 2 brings back 2 results, 1 error among them.",
        "Turn 2: the model gets 3 messages, ≈ N tokens.",
        "Turn 2: the reply is here, the model is done (10 tokens in, 5 out).",
        "Message 3: the model says “There are three.”",
        "The run ends after 2 turns: the model is done.",
    ]


def test_a_step_draws_only_what_it_touches(story: EventLog) -> None:
    view = Messages(story)
    state = view.init()
    for event in story:
        before, state = view.frame(state), view.step(state, event)
        drawn = [key for key, html in view.frame(state).items() if html is not before.get(key)]
        cards = {key for key in drawn if key not in ("ruler", "lead/summary", "lead/system")}
        kind = event.type.partition(".")[0]
        assert len(cards) == {"message": 1, "tool": 1}.get(kind, 0), event


def test_a_call_shows_how_it_stands_until_its_result_is_there(story: EventLog) -> None:
    view = Messages(story)
    stands = ["pending", "working", "completed", "completed", "completed"]
    for k, word in zip(range(5, 10), stands, strict=True):
        assert f">{_label(word)}<" in view.frame(view.at(k))["lead/1"], k
    assert "failed" in view.frame(view.at(9))["lead/1"]


def _label(word: str) -> str:
    glyph = {"pending": "○", "working": "▶\ufe0e", "completed": "✓"}[word]
    return f"{glyph}\u00a0{word}"


def test_calls_and_results_are_paired_and_errors_marked(story: EventLog) -> None:
    frame = Messages(story).frame(Messages(story).at())
    for pair in ("lead/t1", "lead/t2"):
        assert frame["lead/1"].count(f'data-pair="{pair}"') == 1
        assert frame["lead/2"].count(f'data-pair="{pair}"') == 1
    assert frame["lead/2"].count("m-error") == 1
    assert frame["lead/2"].count("m-injected") == 1
    assert "thinking (signed, not shown)" in frame["lead/1"]


def test_tokens_are_lengths_on_one_printed_scale(story: EventLog, run: Callable[..., Any]) -> None:
    view = Messages(story)
    state = view.at()
    messages = [event.data["message"] for event in story if event.type == "message.added"]
    for place, message in enumerate(messages):
        assert f"--n:{estimate_tokens(message)}" in view.frame(state)[f"lead/{place}"]
    assert f"≈ {estimate_tokens(messages)} tokens" in view.frame(state)["lead/summary"]
    assert "100 tokens" in view.frame(state)["ruler"]
    run(story).say("user", "x" * 5000)
    assert "2,000 tokens" in view.frame(view.at())["ruler"]


def test_text_that_the_harness_injects_is_not_the_persons(run: Callable[..., Any]) -> None:
    one = run()
    one.start("first")
    one.say("assistant", "ok")
    one.say("user", "<background-results>done</background-results>")
    one.say("assistant", "ok")
    one.start("second")
    view = Messages(one.log)
    kinds = ["user", "assistant", "injected", "assistant", "user"]
    for place, kind in enumerate(kinds):
        assert f'class="msg {kind}"' in view.frame(view.at())[f"lead/{place}"]
    assert "The harness injects message 2" in view.head(view.at(4))


def test_compaction_keeps_the_cards_that_stay(run: Callable[..., Any]) -> None:
    one = run()
    one.start("first")
    for number in range(4):
        one.say("assistant", f"answer {number}")
        one.say("user", f"question {number}")
    before = Messages(one.log).at()
    first, last = ({"role": "user", "content": text} for text in ("first", "question 3"))
    summary = {"role": "user", "content": "<summary>short</summary>"}
    one.add("messages.rewritten", messages=[first, summary, last], why="over the threshold")
    view = Messages(one.log)
    state = view.step(before, one.log[-1])
    frame = view.frame(state)
    assert [key for key in frame if key.startswith("lead/")][2:] == ["lead/0", "lead/1", "lead/2"]
    assert frame["lead/0"] is view.frame(before)["lead/0"]
    assert 'class="msg injected"' in frame["lead/1"]
    assert view.head(state) == (
        "The array is rewritten and has 3 messages now: over the threshold."
    )
    assert state.arrays["lead"].tokens == estimate_tokens([first, summary, last])


def test_lanes_stand_side_by_side_or_alone(story: EventLog, run: Callable[..., Any]) -> None:
    alice = run(story, "alice")
    alice.start("Parse.")
    both = Messages(story)
    frame = both.frame(both.at())
    assert {key.rpartition("/")[0] for key in frame} == {"", "lead", "alice"}
    assert both.head(both.at()) == "alice: Message 0 enters the array: “Parse.”"
    alone = Messages(story, lane="alice")
    assert not any(key.startswith("lead") for key in alone.frame(alone.at()))
    assert alone.head(alone.at()) == "Message 0 enters the array: “Parse.”"


def test_a_message_that_comes_again_replaces_what_followed(run: Callable[..., Any]) -> None:
    one = run()
    one.start("first")
    one.say("assistant", "dropped")
    one.say("user", "dropped too")
    one.index = 1
    one.say("assistant", "kept")
    view = Messages(one.log)
    assert len(view.at().arrays["lead"].cards) == 2
    assert "kept" in view.frame(view.at())["lead/1"]

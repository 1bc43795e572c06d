"""Whole conversations, drawn at random: valid ones pass, and each way of spoiling one shows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

from learnkit.clients.contract.rules import check
from learnkit.clients.contract.thinking import sign_reply
from learnkit.core.catalog import DEFAULT_MODEL

Body = dict[str, Any]
Spoil = Callable[[Body, st.DataObject], None]

TOOL: Body = {"name": "bash", "description": "Run.", "input_schema": {"type": "object"}}
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
INPUTS = st.dictionaries(WORDS, st.one_of(WORDS, st.integers(), st.lists(WORDS, max_size=2)))


def text(value: str) -> Body:
    return {"type": "text", "text": value}


@st.composite
def conversations(draw: st.DrawFn) -> Body:
    """A valid request: rounds of signed thinking and calls, with their results, merged roles."""
    body: Body = {"model": DEFAULT_MODEL, "max_tokens": 100, "tools": [TOOL]}
    body["system"] = draw(st.one_of(WORDS, st.lists(st.builds(text, WORDS), max_size=2)))
    messages: list[Body] = [{"role": "user", "content": draw(WORDS)}]
    body["messages"] = messages
    for number in range(draw(st.integers(1, 4))):
        ids = [f"t{number}_{k}" for k in range(draw(st.integers(1, 3)))]
        content: list[Body] = []
        # The first reply thinks, so that there is something to spoil.
        if number == 0 or draw(st.booleans()):
            content.append({"type": "thinking", "thinking": draw(st.one_of(st.just(""), WORDS))})
        content += [text(draw(WORDS))] * draw(st.integers(0, 1))
        for id in ids:
            if draw(st.integers(0, 4)) == 0:
                content.append({"type": "thinking", "thinking": ""})
            content.append({"type": "tool_use", "id": id, "name": "bash", "input": draw(INPUTS)})
        messages.append({"role": "assistant", "content": sign_reply(body, content)})
        answers = [draw(results(id)) for id in draw(st.permutations(ids))]
        cut = draw(st.integers(0, len(answers)))
        notes = [text(draw(WORDS)) for _ in range(draw(st.integers(0, 2)))]
        parts = [answers[:cut], answers[cut:] + notes]
        messages.extend({"role": "user", "content": part} for part in parts if part)
        if draw(st.booleans()):
            said: Body = {"role": "assistant", "content": draw(WORDS)}
            messages += [said, {"role": "user", "content": draw(WORDS)}]
    wire: Body = json.loads(json.dumps(body))
    return wire


@st.composite
def results(draw: st.DrawFn, id: str) -> Body:
    block: Body = {"type": "tool_result", "tool_use_id": id}
    content = draw(st.one_of(st.none(), st.just(""), WORDS, st.lists(st.builds(text, WORDS))))
    if content is not None:
        block["content"] = content
    if draw(st.booleans()):
        block["is_error"] = draw(st.booleans())
    return block


def places(body: Body, kind: str) -> list[tuple[list[Body], int]]:
    """Each list of blocks and the index in it where a block of this kind stands."""
    lists = [m["content"] for m in body["messages"] if isinstance(m["content"], list)]
    return [(blocks, i) for blocks in lists for i, b in enumerate(blocks) if b["type"] == kind]


def drop_a_result(body: Body, data: st.DataObject) -> None:
    blocks, i = data.draw(st.sampled_from(places(body, "tool_result")))
    del blocks[i]


def repeat_a_result(body: Body, data: st.DataObject) -> None:
    blocks, i = data.draw(st.sampled_from(places(body, "tool_result")))
    blocks.insert(i, copy.deepcopy(blocks[i]))


def put_text_before_a_result(body: Body, data: st.DataObject) -> None:
    blocks, i = data.draw(st.sampled_from(places(body, "tool_result")))
    blocks.insert(i, text("by the way"))


def empty_a_text(body: Body, data: st.DataObject) -> None:
    body["messages"].append({"role": "user", "content": [text("x")]})
    blocks, i = data.draw(st.sampled_from(places(body, "text")))
    blocks[i]["text"] = ""


def rename_a_call(body: Body, data: st.DataObject) -> None:
    blocks, i = data.draw(st.sampled_from(places(body, "tool_use")))
    blocks[i]["id"] += "x"


def change_what_thinking_was_about(body: Body, data: st.DataObject) -> None:
    as_blocks(body)
    blocks = [block for message in body["messages"] for block in message["content"]]
    last = max(i for i, block in enumerate(blocks) if block["type"] == "thinking")
    before = [block for block in blocks[:last] if block["type"] != "thinking"]
    block = data.draw(st.sampled_from(before))
    if block["type"] == "text":
        block["text"] += data.draw(WORDS)
    elif block["type"] == "tool_use" and data.draw(st.booleans()):
        block["name"] += "_2"
    elif block["type"] == "tool_use":
        block["input"]["more"] = [block["input"].pop("more", None)]
    else:
        block["content"] = [*(block.get("content") or ()), text(data.draw(WORDS))]


def change_the_system_prompt(body: Body, data: st.DataObject) -> None:
    body["system"] = [text("You are someone else."), text(data.draw(WORDS))]


def change_the_thinking(body: Body, data: st.DataObject) -> None:
    blocks, i = data.draw(st.sampled_from(places(body, "thinking")))
    blocks[i]["thinking"] += data.draw(WORDS)


def end_with_the_assistant(body: Body, data: st.DataObject) -> None:
    body["messages"].append({"role": "assistant", "content": data.draw(WORDS)})


SPOILS: dict[Spoil, set[str]] = {
    drop_a_result: {"unanswered_call", "empty_message"},
    repeat_a_result: {"double_result"},
    put_text_before_a_result: {"unanswered_call"},
    empty_a_text: {"empty_text"},
    rename_a_call: {"unanswered_call"},
    change_what_thinking_was_about: {"bound_thinking"},
    change_the_system_prompt: {"bound_thinking"},
    change_the_thinking: {"bound_thinking", "changed_thinking"},
    end_with_the_assistant: {"prefill"},
}


@pytest.mark.slow
@given(body=conversations())
def test_a_valid_conversation_is_accepted(body: Body) -> None:
    assert check(body, size=len(json.dumps(body))) is None


@pytest.mark.slow
@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
@settings(max_examples=examples(40))  # of each of the ways
@given(body=conversations(), data=st.data())
def test_a_spoilt_conversation_is_refused(spoil: Spoil, body: Body, data: st.DataObject) -> None:
    spoil(body, data)
    refusal = check(body)
    assert refusal is not None
    assert (refusal.status, refusal.type) == (400, "invalid_request_error")
    assert refusal.rule in SPOILS[spoil]


def as_blocks(body: Body) -> None:
    for message in body["messages"]:
        if isinstance(message["content"], str):
            message["content"] = [text(message["content"])]
    for blocks, i in places(body, "tool_result"):
        if blocks[i].get("content") and isinstance(blocks[i]["content"], str):
            blocks[i]["content"] = [text(blocks[i]["content"])]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def everywhere(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value inside a JSON value."""
    if not isinstance(value, dict | list):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for key, one in inner for p in everywhere(one, (*path, key)))]


RICH: Body = {
    "tool_choice": {"type": "auto", "name": "bash"},
    "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}},
    "stop_sequences": ["END"],
    "cache_control": {"type": "ephemeral"},
}


@pytest.mark.slow
@given(body=conversations(), junk=JSON, data=st.data())
def test_junk_anywhere_in_a_request_is_answered(body: Body, junk: Any, data: st.DataObject) -> None:
    body |= copy.deepcopy(RICH)
    *path, last = data.draw(st.sampled_from(everywhere(body)[1:]))
    target: Any = body
    for key in path:
        target = target[key]
    target[last] = junk
    refusal = check(body, size=10_000_000)
    assert refusal is None or refusal.status in (400, 404)

"""What can be taken out of a message array: the pure half of compaction."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import ROOT

import learnkit as lk
from learnkit.core.token_count import TokenCount
from learnkit.mechanisms.compaction.edits import (
    clearable,
    cut_before,
    pending,
    results,
    seen,
    shortened,
    without_stale_thinking,
)
from learnkit.mechanisms.compaction.plan import Limits, plan

LONG = "x" * 150
SKILLS = ROOT / "skills"


def call(id: str, name: str = "read_file", *, thinking: bool = False) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "tool_use", "id": id, "name": name, "input": {"n": 1}}]
    if thinking:
        blocks.insert(0, {"type": "thinking", "thinking": "hm", "signature": "s"})
    return {"role": "assistant", "content": blocks}


def answer(id: str, content: str = LONG, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": content, **more}
    return {"role": "user", "content": [block]}


def rounds(number: int, name: str = "read_file", content: str = LONG) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n in range(number):
        messages += [call(f"t{n}", name), answer(f"t{n}", content)]
    return messages


def texts(messages: Any) -> list[str]:
    blocks = [
        b for m in messages if m["role"] == "user" for b in m["content"] if isinstance(b, dict)
    ]
    return [b["content"] for b in blocks if b["type"] == "tool_result"]


def cleared(messages: list[dict[str, Any]], keep: int = 3, tools: Any = None) -> list[Any]:
    return shortened(messages, clearable(messages, keep, tools or {}))


def test_old_long_results_are_cleared_and_the_last_three_stay() -> None:
    messages = rounds(6)
    compacted = cleared(messages)
    assert texts(compacted) == ["[Previous: used read_file]"] * 3 + [LONG] * 3
    assert texts(messages) == [LONG] * 6, "the array that was given stays as it is"
    assert compacted[-1] is messages[-1], "what did not change is shared"


def test_what_the_model_has_not_seen_is_never_cleared() -> None:
    ids = [f"t{n}" for n in range(6)]
    calls = [block for id in ids for block in call(id)["content"]]
    results = [block for id in ids for block in answer(id)["content"]]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]
    assert cleared(messages, keep=0) == messages
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "I see."}]})
    assert texts(cleared(messages, keep=0)) == ["[Previous: used read_file]"] * 6


def test_failures_and_loaded_skills_and_the_last_list_are_kept() -> None:
    messages = [
        *rounds(1, "load_skill"),
        call("f"),
        answer("f", is_error=True),
        call("old", "todo"),
        answer("old"),
        call("new", "todo"),
        answer("new"),
        *[part for id in "wxyz" for part in (call(id), answer(id))],
    ]
    agent = lk.Agent(lk.scripted([]), [lk.Todo(), lk.Skills(SKILLS)])
    kept = texts(cleared(messages, keep=0, tools=agent.tools))
    assert kept == [
        LONG,
        LONG,
        "[Previous: used todo]",
        LONG,
        *["[Previous: used read_file]"] * 3,
        LONG,
    ]


def test_thinking_goes_behind_a_change_and_stays_before_it() -> None:
    messages = [
        {"role": "user", "content": "go"},
        call("a", thinking=True),
        answer("a"),
        call("b", thinking=True),
        answer("b"),
    ]
    left = without_stale_thinking(messages, 2)
    kinds = [[b["type"] for b in m["content"]] for m in left if m["role"] == "assistant"]
    assert kinds == [["thinking", "tool_use"], ["tool_use"]]
    assert len(messages[3]["content"]) == 2


@given(st.integers(0, 8), st.booleans(), st.integers(0, 20))
def test_an_array_is_only_cut_where_no_result_loses_its_call(
    number: int, ended: bool, index: int
) -> None:
    messages = rounds(number)
    if ended:
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "done"}]})
    place = cut_before(messages, min(index, len(messages)))
    rest = messages[place:]
    called = {
        b["id"]
        for m in rest
        if m["role"] == "assistant"
        for b in m["content"]
        if b["type"] == "tool_use"
    }
    assert {one.id for one in results(rest)} <= called
    unseen = messages[pending(messages) :]
    assert all(one in unseen for one in messages[seen(messages) :])
    assert not (unseen and results(unseen[:1])), "it never begins with a result"


# The plan


def kinds(messages: Any, limits: Limits) -> list[str]:
    changes = plan(messages, limits, TokenCount())
    return ["summarise" if one.summarise else "clear" for one in changes]


@pytest.mark.parametrize(("keep", "planned"), [(6, []), (4, ["clear"])])
def test_a_batch_must_gain_enough(keep: int, planned: list[str]) -> None:
    """A fifth of the threshold: here 160 tokens, and each result has 37."""
    assert kinds(rounds(9), Limits(900, keep)) == planned


@pytest.mark.parametrize(
    ("threshold", "wait_until", "planned"),
    [
        (10_000, 0, []),
        (700, 0, ["clear"]),
        (300, 0, ["summarise"]),
        (300, 10_000, []),
    ],
)
def test_a_plan_changes_nothing_itself(threshold: int, wait_until: int, planned: list[str]) -> None:
    messages = rounds(9)
    before = deepcopy(messages)
    assert kinds(messages, Limits(threshold, 3, wait_until)) == planned
    assert messages == before


def test_a_summary_is_planned_for_the_array_that_a_clearing_leaves() -> None:
    """A cleared result still has some words, which the gain leaves out."""
    messages = [*rounds(12), call("last", thinking=True), answer("last")]
    clearing, summary = plan(messages, Limits(740), TokenCount())
    kinds = [block["type"] for block in clearing.messages[-2]["content"]]
    assert kinds == ["tool_use"], "what is thought after a change goes with it"
    assert summary.summarise == 25


@lk.tool(holds="always")
def rules() -> str:
    """Return the rules."""
    return LONG


@lk.tool(holds="last")
def draft() -> str:
    """Write the plan."""
    return LONG


def test_what_still_holds_is_said_at_the_tool() -> None:
    names = ["rules", "draft", "read_file", "draft", *["read_file"] * 5]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n, name in enumerate(names):
        messages += [call(f"t{n}", name), answer(f"t{n}", name * 30)]
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "Seen."}]})
    for tools, kept in (({"rules": rules, "draft": draft}, ["t0", "t3"]), ({}, [])):
        left = cleared(messages, 0, tools)
        assert [one.id for one in results(left) if one.chars > 100] == kept

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
    replaced,
    results,
    seen,
    without_stale_thinking,
)
from learnkit.mechanisms.compaction.policies import Change, Layers, Limits, Pressure, plan

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


def test_old_long_results_are_cleared_and_the_last_three_stay() -> None:
    messages = rounds(6)
    compacted = lk.micro_compact(messages)
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
    assert lk.micro_compact(messages, keep=0) == messages
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "I see."}]})
    assert texts(lk.micro_compact(messages, keep=0)) == ["[Previous: used read_file]"] * 6


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
    kept = texts(lk.micro_compact(messages, keep=0, tools=agent.tools))
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


# Policies


def test_a_batch_must_gain_enough() -> None:
    gain = 6 * len(LONG) // 4
    assert Layers(clear_at_least=gain + 1).choose(rounds(9), 900, 1_000) is None
    assert Layers(clear_at_least=gain).choose(rounds(9), 900, 1_000) is not None


def test_over_the_threshold_what_was_seen_is_summarised() -> None:
    change = Layers(clear_at_least=10_000).choose(rounds(9), 1_001, 1_000)
    assert change == Change(summarise=17)
    assert Layers().choose(rounds(0), 1_001, 1_000) is None, "there is nothing to summarise"


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
    before, count = deepcopy(messages), TokenCount()
    changes = plan(Layers(), messages, Limits(threshold, wait_until), count)
    assert ["summarise" if one.summarise else "clear" for one in changes] == planned
    assert messages == before


def test_a_summary_is_planned_for_the_array_that_a_clearing_leaves() -> None:
    class Both:
        def choose(self, messages: Any, tokens: int, threshold: int, tools: Any) -> Change:
            found = clearable(messages)
            return (
                Change(replaced(messages, found, str), found, 1) if found else Change((), (), 0, 3)
            )

    messages = [*rounds(4), call("last", thinking=True)]
    cleared, summary = plan(Both(), messages, Limits(100), TokenCount())
    assert summary.summarise == 3
    kinds = [block["type"] for block in cleared.messages[-1]["content"]]
    assert kinds == ["tool_use"], "what is thought after a change goes with it"


def test_from_seventy_per_cent_on_long_output_that_can_be_read_again_goes() -> None:
    messages = [*rounds(5, content="x" * 6_000), call("o", "other"), answer("o", "x" * 6_000)]
    messages += [part for id in "xyz" for part in (call(id), answer(id))]
    change = Pressure().choose(messages, 750, 1_000)
    assert change is not None
    shown = texts(change.messages)
    assert shown[:5] == ["[Large output: 6000 chars, can re-read]"] * 5
    assert shown[5] == "x" * 6_000, "nobody knows whether it can be had again"
    assert Pressure().choose(rounds(9), 750, 1_000) is None, "short output stays"


@lk.tool(holds="always")
def rules() -> str:
    """Return the rules."""
    return LONG


@lk.tool(holds="last", group="plan")
def draft() -> str:
    """Write the plan."""
    return LONG


@lk.tool(holds="last", group="plan")
def change() -> str:
    """Change the plan."""
    return LONG


@pytest.mark.parametrize("policy", [Layers(keep=0, clear_at_least=0), Pressure(keep=0)])
def test_what_still_holds_is_said_at_the_tool(policy: Any) -> None:
    """In every policy; and the last of a group is the last of all its tools."""
    names = ["rules", "draft", "read_file", "change", *["read_file"] * 5]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n, name in enumerate(names):
        messages += [call(f"t{n}", name), answer(f"t{n}", name * 30)]
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "Seen."}]})
    marked = {"rules": rules, "draft": draft, "change": change}
    for tools, kept in ((marked, {"rules", "change"}), ({}, set())):
        made = policy.choose(messages, 950, 1_000, tools)
        assert made is not None
        whole = {one.name for one in results(made.messages) if one.chars > 100}
        assert whole == kept


def test_from_ninety_per_cent_on_chains_of_calls_become_notes() -> None:
    messages = rounds(7)
    messages[3]["content"].insert(0, {"type": "text", "text": "I read on, because of the units."})
    messages[4] = answer("t1", "no such file", is_error=True)
    change = Pressure().choose(messages, 950, 1_000)
    assert change is not None
    first, note, *rest = change.messages
    assert first == messages[0]
    assert rest == messages[9:]
    text = note["content"][0]["text"]
    assert "I read on, because of the units." in text
    assert "- read_file(n=1) failed: no such file" in text
    assert LONG not in text
    assert len(change.cleared) == 4


@given(st.integers(0, 9), st.integers(1, 2_000), st.sampled_from([Layers(), Pressure()]), st.data())
def test_what_a_policy_leaves_is_whole(
    number: int, tokens: int, policy: Any, data: st.DataObject
) -> None:
    content = data.draw(st.sampled_from([LONG, "short", "x" * 6_000]))
    messages = rounds(number, content=content)
    change = policy.choose(messages, tokens, 1_000)
    if change is None:
        return
    assert bool(change.summarise) != bool(change.messages)
    left = change.messages or messages[change.summarise :]
    calls = [b["id"] for m in left if m["role"] == "assistant" for b in m["content"]]
    assert [one.id for one in results(left)] == calls
    assert messages[: change.first] == list(change.messages)[: change.first]
    assert not clearable(messages[:1])

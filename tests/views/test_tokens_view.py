"""Tokens over turns, and the array before and after: what compaction did, in lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.views import Compaction, Tokens


@lk.tool
def read(day: int) -> str:
    """Read a day."""
    return f"day {day}: " + "31 degrees. " * 100


def ran(
    folder: Path, compaction: lk.Compaction | None, days: int = 14, thinking: bool = True
) -> Any:
    count = iter(range(1, days + 1))

    def answer(request: dict[str, Any]) -> Any:
        if "tools" not in request:
            return lk.say("We decided on °C.")
        day = next(count, None)
        if day is None:
            return lk.say("done")
        return lk.reply(lk.use("read", day=day), thinking="on" if thinking else None)

    mechanisms = [lk.Toolbox(read), *([compaction] if compaction else [])]
    agent = lk.Agent(lk.scripted(answer), mechanisms)
    agent.run("Read.")
    return agent


@pytest.fixture
def cleared(tmp_path: Path) -> Any:
    return ran(tmp_path, lk.Compaction(4_000, transcripts=tmp_path))


@pytest.fixture
def summarised(tmp_path: Path) -> Any:
    return ran(tmp_path, lk.Compaction(3_000, 99, tmp_path))


def test_without_compaction_each_request_is_longer_than_the_one_before(tmp_path: Path) -> None:
    view = Tokens(ran(tmp_path, None).events)
    lengths = [one.tokens for one in view.at().requests]
    assert lengths == sorted(set(lengths))
    assert len(lengths) == 15
    assert all(one.cached for one in view.at().requests[1:])


def test_a_length_is_an_estimate_until_the_api_has_counted(tmp_path: Path) -> None:
    agent = ran(tmp_path, None, days=1)
    view = Tokens(agent.events)
    k = next(i for i, e in enumerate(agent.events, 1) if e.type == "model.requested")
    (asked,) = view.at(k).requests
    specs = [tool.spec() for tool in agent.tools.values()]
    assert asked.tokens == estimate_tokens(specs) + estimate_tokens(agent.messages[:1])
    assert not asked.counted
    assert view.at().requests[0].counted


def test_the_system_prompt_and_the_tools_count_too() -> None:
    log = lk.EventLog()
    system, tools = "Be brief. " * 30, [{"name": "read", "description": "Read a day. " * 20}]
    message = {"role": "user", "content": "Read."}
    log.append("run.started", prompt="Read.", system=system, tools=tools, model="m")
    log.append("message.added", index=0, message=message)
    log.append("model.requested", turn=1, messages=1)
    parts = [estimate_tokens(one) for one in (system, tools, message)]
    assert [one.tokens for one in Tokens(log).at().requests] == [sum(parts)]
    log.append("model.requested", turn=9, messages=1, purpose="summary")
    log.append("model.replied", turn=9, usage={"input_tokens": 5}, purpose="summary")
    assert [one.tokens for one in Tokens(log).at().requests] == [sum(parts)]


def test_a_compaction_stands_before_the_request_that_it_made_shorter(cleared: Any) -> None:
    state = Tokens(cleared.events).at()
    assert state.shortened
    for one in state.shortened:
        assert state.requests[one.place].tokens < state.requests[one.place - 1].tokens
        assert "results cleared" in one.said
        assert f"≈{one.before - one.after:,} saved" in one.said
    assert state.threshold == 4_000
    assert state.scale >= 4_000


def test_the_request_for_a_summary_is_no_turn(summarised: Any) -> None:
    view = Tokens(summarised.events)
    state = view.at()
    assert len(state.requests) == summarised.turns
    assert [one.layer for one in state.shortened] == ["summarised"]
    assert max(one.tokens for one in state.requests) <= 3_000 * 1.05
    assert "1 compaction saved" in view.line(state)


def test_seventy_turns_have_a_static_form(tmp_path: Path) -> None:
    agent = lk.Agent(
        lk.scripted([*[lk.use("read", day=n) for n in range(69)], lk.say("x")]),
        [lk.Toolbox(read), lk.Compaction(6_000, transcripts=tmp_path)],
        max_turns=80,
    )
    agent.run("Read.")
    html = Tokens(agent.events).html()
    assert len(html.encode()) < 20_000
    assert "threshold" in html or "from the cache" in html


def last(agent: Any, type: str) -> int:
    return max(i for i, e in enumerate(agent.events, 1) if e.type == type)


def test_what_was_cleared_is_marked_and_thinking_that_went_too(cleared: Any) -> None:
    view = Compaction(cleared.events)
    k = 1 + next(i for i, e in enumerate(cleared.events) if e.type == "messages.rewritten")
    state = view.at(k)
    fates = [one.fate for one in state.before]
    names = [
        r["name"]
        for e in cleared.events
        if e.type == "compaction.cleared"
        for r in e.data["results"]
    ]
    assert fates[0] == "kept"
    assert 0 < fates.count("cleared") <= len(names)
    assert "shorter" in fates
    assert [one.fate for one in state.after] == fates
    assert sum(one.tokens for one in state.after) < sum(one.tokens for one in state.before)
    frame = view.frame(state)
    assert "gone" in next(
        html for key, html in frame.items() if "⊘" in html and key[:6] == "before"
    )
    assert "gone" not in "".join(html for key, html in frame.items() if key[:5] == "after")


def test_what_became_a_summary_is_marked_and_what_stayed(summarised: Any) -> None:
    view = Compaction(summarised.events)
    k = 1 + next(i for i, e in enumerate(summarised.events) if e.type == "messages.rewritten")
    state = view.at(k)
    assert [one.fate for one in state.after] == ["summary", "kept", "kept"]
    assert {one.fate for one in state.before[:-2]} == {"summarised"}
    assert [one.fate for one in state.before[-2:]] == ["kept", "kept"]
    assert "% less" in view.line(state)


def test_before_a_compaction_the_array_stands_alone(tmp_path: Path) -> None:
    view = Compaction(ran(tmp_path, None, days=2).events)
    keys = list(view.frame(view.at()))
    assert all(key.startswith("after/") for key in keys)
    assert "the array" in view.frame(view.at())[keys[0]]
    assert "nothing was compacted" in view.line(view.at())

"""The contexts view: who has how much in front of them, and what the parent was spared."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.core.events import LANE
from learnkit.core.token_count import estimate_tokens
from learnkit.views import Contexts


@lk.tool
def look() -> str:
    """Look."""
    return "a long line of output " * 60


def family(children: int) -> tuple[lk.Agent, Contexts]:
    calls = [
        lk.use("task", prompt=f"Look at {n}.", description=f"look at {n}") for n in range(children)
    ]
    lead = iter([lk.reply(*calls), lk.say("All done.")])

    def answer(request: dict[str, Any]) -> Any:
        if LANE.get() == "lead":
            return next(lead)
        return lk.use("look") if len(request["messages"]) == 1 else lk.say("One line.")

    agent = lk.Agent(lk.scripted(answer), [lk.Subagents(lambda: [lk.Toolbox(look)])])
    agent.run("Look everywhere.")
    return agent, Contexts(agent.events)


def test_every_agent_has_a_row_a_child_below_its_parent() -> None:
    _, view = family(3)
    state = view.at()
    assert next(iter(state.lanes)) == "lead"
    assert [one.parent for one in state.children] == ["lead"] * 3
    assert [one.title for one in state.children] == ["look at 0", "look at 1", "look at 2"]
    assert all(one.mark.word == "completed" for one in state.lanes.values())


def test_lengths_are_estimates_of_what_was_sent() -> None:
    agent, view = family(1)
    lead = view.at().lanes["lead"]
    specs = [tool.spec() for tool in agent.tools.values()]
    told = sum(n for key, n in lead.parts if key == "system")
    assert told == estimate_tokens(agent.system) + estimate_tokens(specs)
    results = sum(n for key, n in lead.parts if key == "result")
    assert results == estimate_tokens(agent.messages[2]["content"][0])


def test_what_the_parent_was_spared_is_what_did_not_come_back() -> None:
    _, view = family(3)
    state = view.at()
    read = sum(one.tokens for one in state.children)
    back = sum(one.returned for one in state.children)
    assert back < 0.05 * read
    said = view.frame(state)["contexts/ spared"]
    assert f"≈{read:,}" in said
    assert f"≈{read - back:,}" in said


def test_one_scale_for_all_and_it_is_printed() -> None:
    _, view = family(2)
    state = view.at()
    assert state.scale >= max(one.tokens for one in state.lanes.values())
    assert f"full width: ≈{state.scale:,} tokens" in view.frame(state)["contexts/ scale"]


def test_forty_children_fit_and_the_static_form_counts_what_it_leaves_out() -> None:
    _, view = family(40)
    assert len(view.frame(view.at())) == 40 + 1 + 2
    html = view.html()
    assert len(html.encode()) < 20_000
    assert "more" in html
    assert "40 subagents had" in html


def test_compaction_makes_a_row_shorter() -> None:
    log = lk.EventLog()
    long = {"role": "user", "content": "x" * 4_000}
    log.append("message.added", index=0, message=long)
    log.append("messages.rewritten", messages=[{"role": "user", "content": "short"}], why="x")
    view = Contexts(log)
    assert view.at(1).lanes["lead"].tokens == 1_000
    assert view.at(2).lanes["lead"].tokens == 2


def test_a_long_row_has_no_more_segments_than_can_be_seen() -> None:
    log = lk.EventLog()
    for number in range(400):
        call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * 400}
        log.append("message.added", message={"role": "assistant", "content": [call]})
        log.append("message.added", message={"role": "user", "content": [result]})
    view = Contexts(log)
    row = view.frame(view.at())["contexts/lead"]
    assert 20 < row.count("<i ") <= 61
    assert len(view.html().encode()) < 20_000
    widths = [float(part.split("%")[0]) for part in row.split("width:")[1:]]
    lead = view.at().lanes["lead"]
    assert abs(sum(widths) - 100 * lead.tokens / view.at().scale) < 1

"""The contexts view: who has how much in front of them, and what one agent alone would have."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import said

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import LANE
from learnkit.views import Contexts
from learnkit.views.drawing.display import NARROW, WIDE


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
            return next(lead, lk.say("Once more."))
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
    assert results == estimate_tokens(agent.messages[2])
    agent.run("Again.")  # with the same system prompt and tools, which are there once
    parts = Contexts(agent.events).at().lanes["lead"].parts
    assert [n for key, n in parts if key == "system"] == [told]


def test_the_finding_says_what_came_back_of_what_the_children_read() -> None:
    _, view = family(3)
    state = view.at()
    read = sum(n for one in state.children for key, n in one.parts if key == "result")
    back = sum(one.returned for one in state.children)
    assert back < 0.05 * read
    assert said(view, state) == (
        f"lead ends with ≈{state.lanes['lead'].tokens:,} tokens in its context. 3 subagents read "
        f"≈{read:,} tokens of results and returned ≈{back:,}."
    )


def test_the_finding_is_about_the_agent_that_began() -> None:
    agent, _ = family(1)
    other = lk.Agent(lk.scripted([lk.say("Hello.")]), name="other", events=agent.events)
    other.run("Hello?")
    view = Contexts(agent.events)
    assert said(view).startswith("lead ends with")


def test_before_the_end_it_says_who_is_still_at_work_and_claims_no_gain() -> None:
    agent, view = family(2)
    kinds = [event.type for event in agent.events]
    below = view.because(view.at(kinds.index("subagent.ended") + 1))
    assert "2 subagents (1 still working) read ≈" in below
    assert below.endswith("so far.")
    assert "%" not in below
    view.alone = lone().events
    state = view.at(kinds.index("subagent.ended") + 1)
    assert state.alone is not None
    assert f" so far, one agent alone ≈{state.alone.tokens:,}. " in said(view, state)
    assert "spared lane lead" not in view.draw(state, WIDE, 60)


def test_a_step_says_whose_message_it_is() -> None:
    agent, view = family(2)
    said = []
    for k, event in enumerate(agent.events):
        old, new = view.at(k), view.at(k + 1)
        if old != new:
            said.append(view.told(new, old, event))
    assert "look at 1: Message 2 brings back 1 result." in said
    assert "Message 2 brings back 2 results." in said


def lone() -> lk.Agent:
    """One agent that does itself what the subagents of a family do."""
    script = [lk.reply(*[lk.use("look")] * 3), lk.say("All done.")]
    agent = lk.Agent(lk.scripted(script), [lk.Toolbox(look)])
    agent.run("Look everywhere.")
    return agent


def test_a_lone_agent_stands_above_the_others_on_the_same_scale() -> None:
    agent, _ = family(3)
    alone = lone()
    view = Contexts(agent.events, alone=alone.events)
    state = view.at()
    canvas = view.draw(state, WIDE, 60)
    assert state.alone is not None
    specs = estimate_tokens([tool.spec() for tool in alone.tools.values()])
    whole = estimate_tokens(alone.system) + specs
    whole += sum(n for key, n in state.alone.parts if key != "system")
    assert state.alone.tokens == whole
    assert canvas["who alone"].y < canvas["who lane lead"].y
    lengths = {
        name: sum(one.width for one in canvas.shapes if one.key.rpartition(" ")[0] == name)
        for name in ("alone", "lane lead")
    }
    lead = state.lanes["lead"].tokens
    assert abs(lengths["alone"] / lengths["lane lead"] - whole / lead) < 0.1
    assert canvas["spared lane lead"].lines == (f"≈{whole - lead:,} less",)
    assert f" tokens, one agent alone ≈{whole:,}. " in said(view, state)


def test_forty_children_fit_and_the_static_form_counts_what_it_leaves_out() -> None:
    _, view = family(40)
    canvas = view.draw(view.at(), WIDE, 60)
    assert sum(one.key.startswith("who ") for one in canvas.shapes) == 41
    html = view.html()
    assert len(html.encode()) < 20_000
    assert "more" in html
    assert "40 subagents read" in html


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_is_wider_than_the_canvas_and_the_scale_is_printed(width: float) -> None:
    _, view = family(2)
    state = view.at()
    canvas = view.draw(state, width, 60)
    assert max(one.x + one.width for one in canvas.shapes) <= width
    assert canvas["legend "].lines == (f"full width: ≈{state.scale:,} tokens",)


def test_compaction_makes_a_row_shorter() -> None:
    log = lk.EventLog()
    long = {"role": "user", "content": "x" * 4_000}
    log.append("message.added", index=0, message=long)
    log.append("messages.rewritten", messages=[{"role": "user", "content": "short"}], why="x")
    view = Contexts(log)
    assert view.at(1).lanes["lead"].tokens == estimate_tokens(long) == 1_007
    assert view.at(2).lanes["lead"].tokens == 9


def test_a_long_row_has_no_more_segments_than_can_be_seen() -> None:
    log = lk.EventLog()
    for number in range(400):
        call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * 400}
        log.append("message.added", message={"role": "assistant", "content": [call]})
        log.append("message.added", message={"role": "user", "content": [result]})
    view = Contexts(log)
    canvas = view.draw(view.at(), WIDE, 60)
    row = [one for one in canvas.shapes if one.key.startswith("lane lead ")]
    assert [one.mark for one in row] == ["call", "result"], "of more than 60, one of a kind"
    assert len(view.html().encode()) < 20_000
    whole = row[-1].x + row[-1].width - row[0].x
    assert abs(whole / (WIDE - 294) - view.at().lanes["lead"].tokens / view.at().scale) < 0.01

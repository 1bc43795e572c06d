"""The contexts view: who has how much in front of them."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import drawn, said

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
    told = estimate_tokens(agent.system) + estimate_tokens(specs)
    assert lead.parts["system"] == told
    assert lead.parts["result"] == estimate_tokens(agent.messages[2])
    agent.run("Again.")  # with the same system prompt and tools, which are there once
    assert Contexts(agent.events).at().lanes["lead"].parts["system"] == told


def test_the_finding_says_what_came_back_of_what_the_children_read() -> None:
    _, view = family(3)
    state = view.at()
    read = sum(one.parts["result"] for one in state.children)
    back = sum(one.returned for one in state.children)
    assert back < 0.05 * read
    wide = {
        lane: sum(one.width for one in drawn(view).shapes if one.key.startswith(f"lane {lane} "))
        for lane in state.lanes
    }
    assert all(wide[child.lane] > wide["lead"] > 0 for child in state.children)
    assert said(view, state) == (
        f"lead ends with ≈{state.lanes['lead'].tokens:,} tokens in its context. 3 subagents read "
        f"≈{read:,} tokens of results and returned ≈{back:,}."
    )


def test_forty_children_fit_into_the_picture_and_the_static_form() -> None:
    _, view = family(40)
    canvas = view.draw(view.at(), WIDE, 60)
    assert sum(one.key.startswith("who ") for one in canvas.shapes) == 41
    html = view.html()
    assert len(html.encode()) < 20_000
    assert f"{40 - html.count('given back')} agents left out" in html
    assert "40 subagents read" in html


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_is_wider_than_the_canvas_and_the_scale_is_printed(width: float) -> None:
    _, view = family(2)
    state = view.at()
    canvas = view.draw(state, width, 60)
    assert max(one.x + one.width for one in canvas.shapes) <= width
    assert canvas["legend "].lines == (f"full width: ≈{state.scale:,} tokens",)


def test_a_row_has_one_length_of_each_kind_however_many_calls_there_were() -> None:
    log = lk.EventLog()
    for number in range(400):
        call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * 400}
        log.append("message.added", message={"role": "assistant", "content": [call]})
        log.append("message.added", message={"role": "user", "content": [result]})
    view = Contexts(log)
    row = [one for one in drawn(view).shapes if one.key.startswith("lane lead ")]
    assert [one.mark for one in row] == ["call", "result"]
    whole = row[-1].x + row[-1].width - row[0].x
    assert abs(whole / WIDE - view.at().lanes["lead"].tokens / view.at().scale) < 0.01

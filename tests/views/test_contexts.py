"""The contexts view: who has how much in front of them."""

from __future__ import annotations

import re
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


def children(state: dict[str, Any]) -> list[Any]:
    """The subagents."""
    return [one for one in state.values() if one.parent]


def family(many: int) -> tuple[lk.Agent, Contexts]:
    calls = [
        lk.use("task", prompt=f"Look at {n}.", description=f"look at {n}") for n in range(many)
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
    assert next(iter(state)) == "lead"
    assert [one.parent for one in children(state)] == ["lead"] * 3
    assert [one.title for one in children(state)] == ["look at 0", "look at 1", "look at 2"]
    assert all(one.mark.word == "completed" for one in state.values())


def test_lengths_are_estimates_of_what_was_sent() -> None:
    agent, view = family(1)
    lead = view.at()["lead"]
    specs = [tool.spec() for tool in agent.tools.values()]
    told = estimate_tokens(agent.system) + estimate_tokens(specs)
    assert lead.parts["system"] == told
    assert lead.parts["result"] == estimate_tokens(agent.messages[2])
    agent.run("Again.")  # with the same system prompt and tools, which are there once
    assert Contexts(agent.events).at()["lead"].parts["system"] == told


def test_the_finding_says_what_came_back_of_what_the_children_read() -> None:
    _, view = family(3)
    state = view.at()
    read = sum(one.parts["result"] for one in children(state))
    back = sum(one.returned for one in children(state))
    assert back < 0.05 * read
    wide = {
        lane: sum(one.width for one in drawn(view).shapes if one.key.startswith(f"lane {lane} "))
        for lane in state
    }
    assert all(wide[child.lane] > wide["lead"] > 0 for child in children(state))
    assert said(view, state) == (
        f"Subagents read ≈{read:,} tokens, and ≈{back:,} come back. 3 subagents. "
        f"The context of lead has ≈{state['lead'].tokens:,} tokens. "
        f"Of its results ≈{state['lead'].parts['result'] - back:,} are ids, brackets and other "
        "output."
    )


def test_what_comes_back_is_a_sliver_on_the_scale_of_the_bars_and_a_line() -> None:
    _, view = family(3)
    canvas = drawn(view)
    level, tip = canvas["lane lead system"], canvas["tip"]
    assert level.y < tip.y < level.y + level.height
    goal = float(tip.path.partition("H")[2].partition("m")[0])
    assert goal > canvas["tokens lane lead"].x + 30, "it keeps clear of the number"
    back = sum(one.returned for one in children(view.at()))
    assert canvas["back"].lines == (f"≈{back:,} come back",)
    for child in children(view.at()):
        row, line = canvas[f"lane {child.lane} system"], canvas[f"back {child.lane}"]
        x, y = map(float, re.findall(r"[\d.]+", line.path)[:2])
        assert row.y < y < row.y + row.height
        assert x > canvas[f"tokens lane {child.lane}"].x + 30
        gives, gets = canvas[f"gives {child.lane}"], canvas[f"gets {child.lane}"]
        each = (row.width + 1) / child.parts["system"]
        assert gives.width == gets.width == pytest.approx(each * child.returned, abs=0.1)
        assert (gives.y, gets.y) == (row.y, level.y)
        assert gets.x + gets.width <= WIDE


def test_without_a_child_nothing_comes_back() -> None:
    log = lk.EventLog()
    log.append("message.added", message={"role": "user", "content": "Alone."})
    assert "tip" not in drawn(Contexts(log))
    assert said(Contexts(log)).startswith("The context of lead has ≈")


def test_forty_children_fit_into_the_picture_and_the_static_form() -> None:
    _, view = family(40)
    canvas = view.draw(view.at(), WIDE, 60)
    assert sum(one.key.startswith("who ") and one.key.endswith(" 0") for one in canvas.shapes) == 41
    html = view.html()
    assert len(html.encode()) < 20_000
    assert f"{40 - html.count('given back')} agents left out" in html
    assert "40 subagents." in html


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_is_wider_than_the_canvas_and_the_axis_is_that_of_the_bars(width: float) -> None:
    _, view = family(2)
    state = view.at()
    canvas = view.draw(state, width, 60)
    assert max(one.x + one.width for one in canvas.shapes) <= width
    marks = [one for one in canvas.shapes if one.key.startswith("tick ")]
    values = [int(one.key[5:]) for one in marks]
    each = (marks[-1].x - marks[0].x) / values[-1]
    assert [one.x for one in marks] == pytest.approx(
        [marks[0].x + each * it for it in values], abs=0.2
    )
    for lane, one in state.items():
        row = [it for it in canvas.shapes if it.key.startswith(f"lane {lane} ")]
        assert row[0].x == marks[0].x > canvas[f"who lane {lane} 0"].x
        end = row[-1].x + row[-1].width
        assert end - row[0].x == pytest.approx(each * one.tokens, abs=2)
        assert canvas[f"tokens lane {lane}"].x == pytest.approx(end + 7, abs=1)


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
    room = drawn(view)["tick 40000"].x - row[0].x
    assert whole / room == pytest.approx(view.at()["lead"].tokens / 40_000, abs=0.01)

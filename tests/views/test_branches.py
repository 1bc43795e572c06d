"""Two runs compared: where they part, and nothing of either is lost."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from canvases import said

import learnkit as lk
from learnkit.views.branches import FORK, WAS, Branches, merged
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE


def run(*replies: Any) -> lk.Agent:
    client = lk.scripted(replies)
    with client.clock:
        agent = lk.Agent(client, [lk.Toolbox(look)])
        agent.run("Go.")
    return agent


@lk.tool
def look(at: str) -> str:
    """Look at something."""
    return f"I see {at}."


A, B, C = (lk.use("look", at=name) for name in "abc")


def cards(view: Branches, lane: str) -> int:
    shapes = view.draw(view.at(), WIDE, 60).shapes
    return sum(one.key.startswith(lane) and one.key.endswith(" index") for one in shapes)


def test_what_is_shared_is_shown_once() -> None:
    view = Branches.of(run(A, B, lk.say("x")), run(A, C, lk.say("y")))
    assert view.at().shared == 3
    assert (cards(view, "both"), cards(view, WAS), cards(view, FORK)) == (3, 3, 3)
    assert said(view) == (
        "Both runs share 3 messages; then the replies differ. "
        "As it was: it calls look, and its last message is “x”. "
        "Forked: it calls look, and its last message is “y”."
    )


def test_the_shared_part_is_told_once_and_never_counted_as_anybodys_own() -> None:
    view = Branches.of(run(*[A] * 8, B, lk.say("x")), run(*[A] * 8, C, lk.say("y")))
    told, state = [], view.init()
    for event in view.events:
        old, state = state, view.step(state, event)
        if view.frame(old) != view.frame(state):
            told.append(view.told(state, old, event))
            own = [len(array.cards) - 17 for array in state.arrays.values()]
            assert all(number >= 0 for number in own), "nobody is behind what both share"
            assert len(state.arrays) == 1 or state.shared == 17
    assert "17 messages" in told[0]
    assert "17 messages" in told[1]
    assert len(told) <= 2 + 2 * 5
    assert [one.mark for one in view.at().both[:2]] == [theme.USER, theme.ASSISTANT]


def test_where_they_part_is_seen_without_scrolling() -> None:
    view = Branches.of(run(*[A] * 8, B, lk.say("x")), run(*[A] * 8, C, lk.say("y")))
    canvas = view.draw(view.at(), WIDE, 48)
    assert canvas["fork"].y < canvas[f"{WAS} 17 text 0"].y < 300
    assert canvas[f"{WAS} 17 text 0"].y == canvas[f"{FORK} 17 text 0"].y


def test_it_says_whether_the_model_or_its_input_was_changed() -> None:
    heard = [run(A, lk.say("x"), lk.say("y")) for _ in range(2)]
    for agent, more in zip(heard, ("On.", "Back."), strict=True):
        agent.run(more)
    view = Branches.of(*heard)
    assert "4 messages; then what the model is told differs." in said(view)


def test_one_that_ends_earlier_is_shared_up_to_its_end() -> None:
    view = Branches.of(run(A, B, lk.say("x")), run(A, lk.say("y")))
    assert view.at().shared == 3
    equal = Branches.of(run(A, lk.say("x")), run(A, lk.say("x")))
    assert "Both hold the same 4 messages." in str(equal)
    assert (cards(equal, "both"), cards(equal, WAS)) == (4, 0)
    assert Branches.of([], []).at().shared == 0
    assert "Both hold the same 0 messages." in str(Branches.of([], []))
    assert Branches.of(run(lk.say("x")), []).at().shared == 0


def test_both_grow_by_their_clocks_and_other_agents_stay_out() -> None:
    one, other = run(A, lk.say("x")), run(A, B, lk.say("y"))
    for lane in ("child", "lead.t1"):
        one.events.append("message.added", lane=lane, message={"role": "user", "content": "?"})
    log = merged(one.events, other.events)
    assert {event.lane for event in log} == {WAS, FORK}
    times = [event.time for event in log if event.type != "messages.rewritten"]
    assert times == sorted(times)
    kept = [event for event in log if event.type == "message.added"]
    assert len(kept) == 1 + 3, "what is not shared"
    view = Branches(log)
    shared = [view.at(k).shared for k in range(len(log) + 1)]
    assert shared[-1] == 3
    assert shared == sorted(shared)


@pytest.mark.parametrize("turns", [1, 40])
def test_the_static_form_has_both_columns(turns: int) -> None:
    hostile = lk.say("<script>alert(1)</script>")
    view = Branches.of(run(*[A] * turns, hostile), run(*[A] * turns, B, lk.say("y")))
    html = view.html()
    assert len(html.encode()) < 20_000
    assert "<script>" not in html
    assert "As it was" in html
    assert "the same" in html
    (picture,) = re.findall(r"base64,([^\"]+)", html)
    svg = base64.b64decode(picture).decode()
    assert "In both: " in svg
    assert "Forked: 3 more" in svg
    assert "… 7" in svg or turns == 1

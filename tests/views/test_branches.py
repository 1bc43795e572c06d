"""Two runs compared: where they part, and nothing of either is lost."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

import learnkit as lk
from learnkit.views.branches import FORK, WAS, Branches, merged


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


def cards(view: Branches, region: str) -> int:
    frame = view.frame(view.at())
    return sum('<article class="msg' in html for key, html in frame.items() if region in key)


def test_what_is_shared_is_shown_once() -> None:
    view = Branches.of(run(A, B, lk.say("x")), run(A, C, lk.say("y")))
    assert view.at().shared == 3
    assert (cards(view, "both "), cards(view, f"{WAS}/"), cards(view, f"{FORK}/")) == (3, 3, 3)
    assert "They share 3 messages and part at message 3." in str(view)
    assert cards(view, "") == 9


def test_equal_runs_have_nothing_of_their_own() -> None:
    view = Branches.of(run(A, lk.say("x")), run(A, lk.say("x")))
    assert "Both hold the same 4 messages." in str(view)
    assert (cards(view, "both "), cards(view, f"{WAS}/")) == (4, 0)


def test_one_that_ends_earlier_is_shared_up_to_its_end() -> None:
    view = Branches.of(run(A, B, lk.say("x")), run(A, lk.say("y")))
    assert view.at().shared == 3
    assert Branches.of([], []).at().shared == 0
    assert "Both hold the same 0 messages." in str(Branches.of([], []))
    assert Branches.of(run(lk.say("x")), []).at().shared == 0


def test_both_grow_by_their_clocks_and_other_agents_stay_out() -> None:
    one, other = run(A, lk.say("x")), run(A, B, lk.say("y"))
    one.events.append("message.added", lane="child", message={"role": "user", "content": "?"})
    log = merged(one.events, other.events)
    assert {event.lane for event in log} == {WAS, FORK}
    assert [event.time for event in log] == sorted(event.time for event in log)
    assert len(log) == len(one.events) - 1 + len(other.events)
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
    assert "Forked: 3 messages of its own" in svg
    assert "left out" in svg or turns == 1

"""Lesson 3's picture of drift: where its detour begins and ends, and what marks it."""

from __future__ import annotations

import pytest

import learnkit as lk
from learnkit.course.lessons.s03.detour import NAME, Detour
from learnkit.views import Messages
from learnkit.views.drawing.display import WIDE

LOOK = lk.use("bash", command="true")
EDIT = lk.use("write_file", path="a.py", content="x = 1")
ODD = lk.reply("There's a reading of -9999.", LOOK)


def run(*replies: lk.Reply) -> lk.Agent:
    """An agent after a run whose request has the distraction in it, too."""
    lab = lk.lesson("s03")
    with lab.scenario("script", script=[*replies, lk.say("Done.")]) as opened:
        agent = opened.agent([lk.CodingTools(opened.workspace)])
        agent.run("Is -9999 fine?")
    lab.remove()
    return agent


def marked(view: Detour) -> list[str]:
    return [key for key, html in view.frame(view.at()).items() if 'class="detour"' in html]


def test_the_detour_ends_before_the_next_edit_and_the_picture_right_after_it() -> None:
    view = Detour(run(EDIT, ODD, LOOK, EDIT, LOOK).events)
    state = view.at()
    assert view.finding(state) == (
        "A detour: replies 2 and 3 follow a reading of -9999, and edit no file."
    )
    assert marked(view) == [f"lead/{n}" for n in (3, 4, 5, 6)]
    keys = ["lead/0", "lead/left out", *marked(view), "lead/7"]
    assert list(view.frame(state)) == keys, "what a reader looks for, and nothing else"
    assert view.frame(state)["lead/7"] == Messages(view.events).frame(state)["lead/7"]
    assert [key for key, html in view.frame(state).items() if NAME in html] == ["lead/3"]
    assert len(state.arrays["lead"].cards) == 8, "it ends with the edit, message 7"
    canvas = view.draw(state, WIDE, 48)
    assert [n for n in range(8) if f"edge lead {n}" in canvas] == [0, 3, 4, 5, 6, 7]
    assert "request lead 1" not in canvas
    bar = canvas["detour"]
    assert bar.y == canvas["edge lead 3"].y
    assert canvas["edge lead 6"].y < bar.y + bar.height < canvas["edge lead 7"].y
    assert canvas["the detour"].lines == (NAME,)


@pytest.mark.parametrize("replies", [(), (EDIT, LOOK)])
def test_a_run_without_a_detour_is_shown_whole_and_plain(replies: tuple[lk.Reply, ...]) -> None:
    events = run(*replies).events
    view, plain = Detour(events), Messages(events)
    assert view.frame(view.at()) == plain.frame(plain.at())
    assert view.line(view.at()) == plain.line(plain.at())
    assert "detour" not in view.draw(view.at(), WIDE, 48)


def test_a_detour_may_last_to_the_end() -> None:
    view = Detour(run(EDIT, ODD, LOOK).events)
    assert marked(view) == [f"lead/{n}" for n in (3, 4, 5, 6, 7)]
    assert view.finding(view.at()).startswith("A detour: replies 2, 3 and 4 follow")
    assert Detour([]).finding(Detour([]).at()) == "The array is empty."

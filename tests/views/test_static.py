"""The static form survives what GitHub and nbviewer do to a page, and stays small."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from every_view import VIEWS
from static_page import Page

from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import EventLog
from learnkit.views import Compaction, Dispatch, Messages, Todo, View
from learnkit.views.drawing import display, static
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import WIDE

PLAIN = {"p", "strong", "img", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"}
HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(1)> ]]> </svg> \u202e\u2066abc '
    "\x00\x1b[31m \ud800 " + "W" * 5000
)


@pytest.mark.parametrize("view", VIEWS)
def test_only_plain_tags_and_a_picture_with_a_real_alt_text(
    view: type[View[Any]], story: EventLog
) -> None:
    shown = view(story)
    page = Page(shown.html())
    assert set(page.tags) <= PLAIN
    assert page.attributes <= {"alt", "src", "align"}
    assert page.tags.count("img") == 1
    assert len(page.alt) >= 40
    assert shown.finding(shown.at()) in page.text


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("turns", [0, 1, 40, 400])
def test_under_20_kilobytes_however_long_the_run(
    view: type[View[Any]], turns: int, run: Callable[..., Any]
) -> None:
    one = run()
    one.start()
    for turn in range(turns):
        call = {"command": "echo " + "long " * 200}
        block = {"type": "tool_use", "id": f"t{turn}", "name": f"tool{turn % 50}", "input": call}
        one.say("assistant", [block])
        one.say("user", [one.call(f"t{turn}", f"tool{turn % 50}", call, "täglich 数据\n" * 500)])
    html = view(one.log).html()
    assert len(html.encode()) < static.LIMIT
    if turns == 400 and view in (Messages, Dispatch, Todo, Compaction):
        assert re.search(r"7\d\d messages left out|… \d+ (more|earlier)<", html)


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_text_is_only_text(view: type[View[Any]], run: Callable[..., Any]) -> None:
    one = run(None, "lead<b>")
    one.start(HOSTILE, HOSTILE)
    block = {"type": "tool_use", "id": HOSTILE, "name": HOSTILE, "input": {HOSTILE: HOSTILE}}
    one.say("assistant", [block, {"type": HOSTILE}])
    one.say("user", [one.call(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, HOSTILE, is_error=True)])
    one.add(HOSTILE)
    page = Page(view(one.log).html())
    assert set(page.tags) <= PLAIN
    assert len(view(one.log).html().encode()) < static.LIMIT
    page.svg()
    one_view = view(one.log)
    frame = one_view.frame(one_view.at()).values()
    if isinstance(one_view, Diagram):
        frame = [shape.markup() for shape in one_view.draw(one_view.at(), WIDE, 48).shapes]
    fragments = Page("".join(frame))
    assert not {"script", "img", "svg"} & set(fragments.tags)
    assert not {name for name in fragments.attributes if name.startswith("on")}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("k", [0, 1, 2, None])
def test_every_line_of_the_picture_lies_inside_it(
    view: type[View[Any]], k: int | None, story: EventLog
) -> None:
    svg = Page(view(story).html(k)).svg()
    height = float(svg.attrib["height"])
    for element in svg.iter():
        if "y" in element.attrib and element.tag.endswith("text"):
            assert 10 < float(element.attrib["y"]) < height - 5
            assert 0 < float(element.attrib["x"]) < display.WIDE


def test_the_table_says_what_the_picture_shows(story: EventLog) -> None:
    page = Page(Messages(story).html())
    for said in ("Count the files.", "send_mail: to: me body: a b", "✗\u00a0error", "There are"):
        assert said in page.text
    drawn = " ".join("".join(text.itertext()) for text in page.svg().iter())
    for said in ("Count the files.", "send_mail", "✗\u00a0error", "✉\ufe0e\u00a0injected"):
        assert said in drawn


def test_text_plain_is_one_line_and_the_same_every_time(story: EventLog) -> None:
    bundle = Messages(story)._repr_mimebundle_()
    messages = [event.data["message"] for event in story if event.type == "message.added"]
    sent = estimate_tokens("Be brief.") + estimate_tokens(story[0].data["tools"])
    assert bundle["text/plain"] == (
        "message array: Each request carries the whole array again: 2 requests, "
        f"≈ {2 * sent + estimate_tokens([*messages[:1], *messages[:3]])} tokens in all, "
        f"≈ {sent + estimate_tokens(messages[:3])} in the last one alone."
    )
    assert bundle == Messages(list(story))._repr_mimebundle_()
    assert str(Dispatch(story)) == (
        "tool dispatch: 2 calls to 1 of 3 tools: 1 ok, 1 failed; there is no tool called send_mail."
    )


@pytest.mark.parametrize(
    ("costs", "room", "shown"),
    [
        ([1, 1, 1], 3, "abc"),
        ([1] * 10, 6, "ab4ghij"),
        ([2] * 10, 6, "a7ij"),
        ([9, 9, 9], 2, "2c"),
        ([1, 1, 9], 9, "abc"),
        ([], 4, ""),
    ],
)
def test_the_middle_is_cut(costs: list[int], room: int, shown: str) -> None:
    things = "abcdefghij"[: len(costs)]
    cut = static.cut(things, room, costs)
    assert "".join(map(str, cut)) == shown
    assert all(isinstance(one, static.Gap) != str(one).isalpha() for one in cut)

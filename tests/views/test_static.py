"""The static form survives what GitHub and nbviewer do to a page, and stays small."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from every_view import VIEWS
from static_page import Page
from workday import ALONE, RACING, TOGETHER

from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import EventLog
from learnkit.views import Compaction, Dispatch, Messages, Todo, View
from learnkit.views.drawing import display, static
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import NARROW, WIDE

PLAIN = {"p", "strong", "img", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"}
HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(1)> ]]> </svg> \u202e\u2066abc '
    "\x00\x1b[31m \ud800 " + "W" * 5000
)
#: Fields that hold what somebody wrote, and those with a name or an id.
TEXTS = {
    *("text", "content", "prompt", "system", "description", "command", "output", "problem"),
    *("subject", "note", "role", "where", "focus", "message", "error", "thinking", "path", "body"),
    *("texts", "problems", "why", "transcript"),
}
NAMES = {
    *("id", "name", "owner", "branch", "tool", "sender", "from", "to", "reader", "writers"),
    *("refs", "tags", "files"),
}


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
        assert re.search(r"7\d\d messages left out|\d+ (rounds|(more|earlier) \w+) left out<", html)


def hostile(value: Any, key: str = "") -> Any:
    """The same, with hostile text wherever a model or a person has written something."""
    if isinstance(value, str):
        return HOSTILE if key in TEXTS else HOSTILE[:60] if key in NAMES else value
    if isinstance(value, dict):
        return {name: hostile(one, name) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [hostile(one, key) for one in value]
    return value


@pytest.mark.parametrize("kind", VIEWS)
def test_hostile_text_is_only_text(kind: type[View[Any]]) -> None:
    log = EventLog()
    for lane, type, data in (*ALONE, *TOGETHER, *RACING):
        log.append(type, lane=f"{lane}<b>", time=len(log) / 2, **hostile(data))
    log.append(HOSTILE)
    view = kind(log)
    page = Page(view.html())
    assert set(page.tags) <= PLAIN
    assert len(view.html().encode()) < static.LIMIT
    assert not {"\u202e", "\u2066", "\x1b"} & set("".join(page.svg().itertext()))
    fragments = list(view.frame(view.at()).values())
    if isinstance(view, Diagram):
        fragments = []
        for width in (WIDE, NARROW):
            canvas = view.draw(view.at(), width, 48)
            fragments += [shape.markup() for shape in canvas.shapes]
            for one in canvas.shapes:
                if one.kind == "text" and not {"c", "e"} & set(one.style):
                    assert one.x + 5.5 * len(one.lines[0]) <= width, one.key
    shown = Page("".join(fragments))
    assert not {"script", "img", "svg"} & set(shown.tags)
    assert not {name for name in shown.attributes if name.startswith("on")}


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


def test_text_plain_is_one_line_and_the_same_every_time(story: EventLog) -> None:
    bundle = Messages(story)._repr_mimebundle_()
    messages = [event.data["message"] for event in story if event.type == "message.added"]
    sent = estimate_tokens("Be brief.") + estimate_tokens(story[0].data["tools"])
    assert bundle["text/plain"] == (
        "message array: Each request carries the whole array again: 2 requests. "
        f"≈ {2 * sent + estimate_tokens([*messages[:1], *messages[:3]])} tokens in all, "
        f"≈ {sent + estimate_tokens(messages[:3])} in the last one alone."
    )
    assert bundle == Messages(list(story))._repr_mimebundle_()
    assert str(Dispatch(story)) == ("tool dispatch: 2 calls: there is no tool send_mail.")

"""What all diagrams are made of: shapes and their markup, scales, marks, tables and cut texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from learnkit.views.drawing.display import Canvas, Shape, fitting
from learnkit.views.drawing.static import Gap, cut, form, table
from learnkit.views.drawing.time_axis import Axis, duration

MINUTE, HOUR = 60, 3600


# Shapes


def every_shape() -> Canvas:
    canvas = Canvas(200)
    canvas.text("t", 10, 20.04, "a\nb" * 40, "m", "user", says="says\nit", pair="p q")
    canvas.text("end", 70, 20, "x" * 40, "e")
    canvas.text("middle", 150, 20, "y" * 40, "c")
    canvas.text("left middle", 40, 20, "z" * 40, "c")
    canvas.text("short", 0, 20, "w" * 40, "h", width=50)
    canvas.box("b", 1, 30.06, 90, 40, "call", ["first line of it", "second line of it"])
    canvas.box("light", 1, 30, 90, 24, lines=["first line of it"], style="l", intent={"a": "ü"})
    canvas.bar("r", 0.123, 80, 7.77, 12, "result", "p", says="long")
    canvas.dot("d", 30, 90, mark="done", glyph="✓")
    canvas.dot("plain", 30, 90, 4)
    canvas.edge("e", "M0 0H9", "error", "wd", x=3, y=95, pair="p")
    return canvas


def test_shapes_are_what_they_were_drawn_as() -> None:
    assert every_shape().frame() == {
        "@/size": '["size",200,96]',
        "@/t": '["text",10,20,0,0,"user","m",["a ba ba ba ba ba ba ba ba…"],"","says\\nit","p q"]',
        "@/end": '["text",70,20,0,0,"","e",["xxxxxxxxx…"]]',
        "@/middle": '["text",150,20,0,0,"","c",["yyyyyyyyyyyyyy…"]]',
        "@/left middle": '["text",40,20,0,0,"","c",["zzzzzzzzzzz…"]]',
        "@/short": '["text",0,20,0,0,"","h",["wwwww…"]]',
        "@/b": '["box",1,30.1,90,40,"call","",["first lin…","second lin…"]]',
        "@/light": r'["box",1,30,90,24,"","l",["first line…"],"","","","{\"a\": \"ü\"}"]',
        "@/r": '["bar",0.1,80,7.8,12,"result","p",[],"","long"]',
        "@/d": '["dot",30,90,6,0,"done","cg",["✓"]]',
        "@/plain": '["dot",30,90,4,0,"","c"]',
        "@/e": '["edge",3,95,0,0,"error","wd",[],"M0 0H9","","p"]',
    }


def test_shapes_are_svg_for_a_reader_and_for_a_living_page() -> None:
    shapes = {
        key: every_shape()[key].markup() for key in ("t", "b", "light", "r", "d", "plain", "e")
    }
    assert shapes == {
        "t": '<g class="text m k-user" transform="translate(10 20)" data-pair="p q" tabindex="0"'
        ' role="img" aria-label="says\nit"><title>says\nit</title>'
        "<text>a ba ba ba ba ba ba ba ba…</text></g>",
        "b": '<g class="box k-call" transform="translate(1 30.1)">'
        '<rect width="90" height="40" rx="3"/><text x="8" y="17">first lin…</text>'
        '<text x="8" y="33">second lin…</text></g>',
        "light": '<g class="box l" transform="translate(1 30)"'
        ' data-intent="{&quot;a&quot;: &quot;ü&quot;}"><rect width="90" height="24" rx="3"/>'
        '<text x="8" y="17">first line…</text></g>',
        "r": '<g class="bar p k-result" transform="translate(0.1 80)" tabindex="0" role="img"'
        ' aria-label="long"><title>long</title><rect width="7.8" height="12"/></g>',
        "d": '<g class="dot c g k-done" transform="translate(30 90)">'
        '<circle r="6"/><text y="4">✓</text></g>',
        "plain": '<g class="dot c" transform="translate(30 90)"><circle r="4"/></g>',
        "e": '<g class="edge w d k-error" transform="translate(3 95)" data-pair="p">'
        '<path d="M0 0H9"/></g>',
    }
    button = Shape("k", "bar", says="press", intent="{}", pair="p")
    assert button.markup() == (
        '<g class="bar" data-pair="p" data-intent="{}" tabindex="0" role="button"'
        ' aria-label="press"><title>press</title><rect width="0" height="0"/></g>'
    )
    assert button.markup(static=True) == '<g class="bar"><rect width="0" height="0"/></g>'
    only_down = Shape("k", "text", y=3, lines=("one", "two"))
    assert only_down.markup() == '<g class="text" transform="translate(0 3)"><text>one</text></g>'
    assert json.loads(Shape("k", "bar").wire()) == ["bar"]


def test_a_diagram_brings_its_ground_and_its_size() -> None:
    canvas = Canvas(200)
    canvas.bar("r", 0, 0, 8, 30.04, "result")
    assert canvas.marks == {"result"}
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{} {}" width="{}" height="{}"'
    plain, margin, inline = canvas.svg(), canvas.svg(margin=8), canvas.inline('a "bar"')
    assert plain.startswith(head.format("0 0", "200 30", 200, 30) + "><style>:root{")
    ground = 'rx="6" style="fill:var(--lk-ground)"/><g class="bar k-result">'
    assert f'</style><rect width="200" height="30" {ground}' in plain
    assert margin.startswith(head.format("-8 -8", "216 46", 216, 46) + "><style>:root{")
    assert f'</style><rect x="-8" y="-8" width="216" height="46" {ground}' in margin
    assert "@media(prefers-color-scheme:dark){:root{" in plain
    label = ' role="img" aria-label="a &quot;bar&quot;"><rect width="200" height="30"'
    assert f'<div class="lk-inline">{head.format("0 0", "200 30", 200, 30)}{label}' in inline
    assert inline.startswith("<style>.lk-inline{")
    assert "[data-jp-theme-light=false] .lk-inline{" in inline
    for one in (plain, inline):
        assert ".k-result" in one
        assert ".k-error" not in one


# Texts


@pytest.mark.parametrize(
    ("text", "width", "style", "shown"),
    [
        ("one two three", 100, "", "one two three"),
        ("one two three", 84.5, "", "one two three"),
        ("one two three", 84.4, "", "one two…"),
        ("one two three", 65, "", "one two…"),
        ("one two threes", 52, "", "one two…"),
        ("a lengthyword", 65, "", "a lengthy…"),
        ("one", 1, "", "one"),
        ("ones", 1, "", "on…"),
        ("one two three", 91, "b", "one two three"),
        ("one two three", 90, "b", "one two…"),
        ("one two three", 94.9, "m", "one two three"),
        ("one two three", 94, "m", "one two…"),
        ("one two three", 98.6, "h", "one two three"),
        ("one two three", 98, "h", "one two…"),
        ("  one two", 66, "m", "  one two"),
        ("  one two", 58, "m", "  one…"),
        ("你好", 26, "", "你好"),
        ("你好", 25, "", "你…"),
    ],
)
def test_a_text_is_cut_to_what_fits(text: str, width: float, style: str, shown: str) -> None:
    assert fitting(text, width, style) == shown


# Scales


@pytest.mark.parametrize(
    ("now", "tick", "scale", "marks"),  # it ends at most a fifth of a mark later
    [
        (0, 0.5, 0.5, 1),
        (0.4, 0.5, 0.5, 1),
        (2.5, 0.5, 2.5, 5),
        (2.6, 1, 2.6, 3),
        (10, 2, 10, 5),
        (10.1, 5, 11, 3),
        (26, 10, 26, 3),
        (75, 15, 75, 5),
        (76, 30, 78, 3),
        (151, MINUTE, 156, 3),
        (301, 2 * MINUTE, 312, 3),
        (601, 5 * MINUTE, 11 * MINUTE, 3),
        (26 * MINUTE, 10 * MINUTE, 26 * MINUTE, 3),
        (51 * MINUTE, 15 * MINUTE, 51 * MINUTE, 4),
        (76 * MINUTE, 30 * MINUTE, 78 * MINUTE, 3),
        (151 * MINUTE, HOUR, 156 * MINUTE, 3),
        (6 * HOUR, 2 * HOUR, 6 * HOUR, 3),
        (11 * HOUR, 3 * HOUR, 11.4 * HOUR, 4),
        (16 * HOUR, 6 * HOUR, 16.8 * HOUR, 3),
        (31 * HOUR, 12 * HOUR, 31.2 * HOUR, 3),
        (61 * HOUR, 24 * HOUR, 62.4 * HOUR, 3),
        (240 * HOUR, 48 * HOUR, 240 * HOUR, 5),
    ],
)
def test_an_axis_of_time_has_round_marks(now: float, tick: float, scale: float, marks: int) -> None:
    axis = Axis(now, 10, 100)
    assert (axis.tick, axis.scale) == (tick, pytest.approx(scale))
    assert [at for at, _ in axis.ticks] == pytest.approx([tick * n / scale for n in range(marks)])
    assert [axis.x(at) for at in (0, scale / 2, scale, 2 * scale)] == [10, 60, 110, 110]


def test_a_length_of_time_is_in_the_unit_that_reads_well() -> None:
    said = [duration(seconds) for seconds in (0, 90.25, 119.5, 120, 3_930, 5_400, 7_200, 9_000)]
    assert said == ["0 s", "90.2 s", "119.5 s", "2 min", "65.5 min", "90 min", "2 h", "2.5 h"]


# Tables


def test_a_table_is_escaped_and_numbers_stand_to_the_right() -> None:
    rows: list[list[Any]] = [["<a>", 1_000], ["b", 2.5], ["c", ""]]
    head = "<table><thead><tr><th>x&amp;y</th><th>n</th></tr></thead><tbody>"
    first = '<tr><td>&lt;a&gt;</td><td align="right">1,000</td></tr>'
    last = "<tr><td>c</td><td></td></tr>"
    end = "</tbody></table>"
    assert table(["x&y", "n"], rows) == f"{head}{first}<tr><td>b</td><td>2.5</td></tr>{last}{end}"
    assert form("a < b", "<img>", "<table/>", "b > a") == (
        "<p><strong>a &lt; b</strong></p><p>b &gt; a</p><img>"
        "<details><summary>the same in words</summary><table/></details>"
    )


@pytest.mark.parametrize(
    ("room", "costs", "first", "gap", "last"),
    [
        (10, None, 10, 0, 0),
        (9, None, 3, 1, 6),
        (6, None, 2, 4, 4),
        (2, None, 0, 8, 2),
        (1, None, 0, 9, 1),
        (0, None, 0, 9, 1),
        (10, [2] * 10, 1, 5, 4),
        (9, [1, 5, *[1] * 8], 1, 1, 8),
        (9, [*[1] * 9, 7], 3, 6, 1),
    ],
)
def test_the_middle_of_a_list_is_left_out(
    room: int, costs: list[int] | None, first: int, gap: int, last: int
) -> None:
    things = [*"abcdefghij"]
    shown = cut(things, room, costs)
    gaps = [one for one in shown if isinstance(one, Gap)]
    assert gaps == ([gap] if gap else [])
    assert [one for one in shown if one not in gaps] == [*things[:first], *things[10 - last :]]

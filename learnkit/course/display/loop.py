"""The loop as a picture, with its six hooks: each lesson has a dot at every hook that it uses.

It is the map of the course, and the strip at the head of a lesson, whose column is lit there. Both
are drawn for each of :data:`WIDTHS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from learnkit.course.content import load
from learnkit.course.display.card import Card
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST, Canvas

#: What each hook may do.
HOOKS = {
    "system": "adds to the prompt",
    "before_model": "changes messages",
    "tools": "offers tools",
    "on_stop": "lets it go on",
    "refuse": "stops a call",
    "after_tools": "adds text",
}
#: The loop from top to bottom: what is done, and the hooks that are asked between.
ORDER = (
    *("messages", "system", "before_model", "tools", "the model", "any calls?", "on_stop"),
    *("refuse", "run them", "after_tools", "results"),
)
FLOW = (
    "The loop: messages go to the model; if the reply has calls, they run, and their results "
    "become a message; if not, the run ends."
)
#: The lessons, by number.
LESSONS = {number: f"s{number:02}" for number in range(1, 13)}
#: The widths that the picture is drawn for, and from how much room each is shown; in pixels.
WIDTHS = {NARROW: 0, WIDE: 560, WIDEST: 920}
#: How a form is hidden that the page has no style for, and the style that shows what has room.
_HIDDEN = ' style="display:none"'
_STYLE = ".lk-loop{container-type:inline-size}"
_STYLE += ".lk-loop :is(img,svg){display:block;width:100%;height:auto}"
_STYLE += ".jp-RenderedHTMLCommon:has(>.lk-loop){padding-right:0}"
_STYLE += "".join(
    f".lk-{width}{{max-width:{1.3 * width:g}px}}@container(min-width:{room}px){{"
    f".lk-loop>.lk-{width}{{display:block!important}}"
    f".lk-loop>:not(.lk-{width}){{display:none!important}}}}"
    for width, room in WIDTHS.items()
)
#: Where the loop, its hooks, what they do, and the columns begin.
_SPINE, _HOOK, _DOES, _GRID = 18, 40, 134, 268
#: What stands before the number over a lesson's column, and the mark and the style of its dots.
Head = tuple[str, str, str]
#: Where a lesson's links may lie: x, y, width and height.
Place = tuple[float, float, float, float]


#: Also where no style sheet is kept: as cards look.
_FRAME = (
    "color:var(--jp-content-font-color1,#1f2328);background:var(--jp-layout-color0,#fff);"
    "border:1px solid var(--jp-border-color2,#d9dce1);border-radius:6px;padding:14px 16px"
)


def fitted(forms: Mapping[int, str]) -> str:
    """Return HTML that shows what there is room for; the wide one where no style is kept."""
    parts = "".join(
        f'<div class="lk-{width}"{_HIDDEN * (width != WIDE)}>{form}</div>'
        for width, form in forms.items()
    )
    return f'<style>{_STYLE}</style><div class="lk-loop" style="{_FRAME}">{parts}</div>'


def draw(width: float, heads: Mapping[int, Head], lit: int = 0) -> tuple[Canvas, dict[int, Place]]:
    """Return the picture, and the place of each lesson in it.

    Without room beside the loop, the map has its dots below the hooks, and a strip has none.
    Lesson 1 knows no hooks yet.

    Args:
        width: in pixels.
        heads: of the columns, by the lesson.
        lit: the lesson whose strip it is; without one, it is the map.
    """
    wide, hooks = width >= WIDTHS[WIDE], {} if lit == 1 else HOOKS
    if wide and not hooks:
        return _lying(width), {}
    canvas, folded = Canvas(width), not (wide or lit)
    own = load(LESSONS[lit]).hooks if lit else HOOKS
    row, radius = (20 if hooks else 30, 5) if lit else (30, 11) if folded else (26, 7)
    lessons = [one for one in heads if one > 1] if folded or (wide and hooks) else []
    start, end = (_GRID, width - 36) if wide else (_SPINE + 8, width)
    each = (end - start) / max(len(lessons), 1)
    columns = {one: start + each * place for place, one in enumerate(lessons)}
    head = 12 if lit else 80
    under = 74 + 22 * (not lit) if columns and wide else head + 18 * 4 * folded
    order = [name for name in ORDER if hooks or name not in HOOKS]
    down = (row + 30 * (folded and name in HOOKS) for name in order[:-1])
    heights = dict(zip(order, accumulate(down, initial=under + 16 if hooks else head), strict=True))
    low = canvas.height = heights["results"] + 14
    if not lit:
        each_is = "number" if folded else "column"
        canvas.text("title", 0, 16, "One loop. Six places to plug into.", "h")
        where = f"its {'place says' if folded else 'dots say'} where it plugs in."
        canvas.rows("reads", 0, 36, (f"Each {each_is} is a lesson;", where), "q")
    elif columns:
        for at, words, style in ((5.0, "built before", ""), (106, "to come", "gv")):
            canvas.dot(f"sign {words}", at, under - 14, 4, "plain", style=style)
            canvas.text(f"means {words}", at + 10, under - 10, words, "q")
    for place, number in enumerate(heads if folded else ()):
        name = f"{heads[number][0]}{number} {load(LESSONS[number]).title}"
        canvas.text(f"name {number}", (0, 118, 218)[place // 4], head + 18 * (place % 4), name)
    if hooks and 1 in heads and not folded:
        canvas.text("lesson 1", 0, head, f"{heads[1][0]}1 {load(LESSONS[1]).title}", "b")
    if hooks and lit and not wide:
        canvas.text("lit", _DOES, head, f"{lit} {load(LESSONS[lit]).title}", "b", "cause")
    if wide:
        grid = "".join(f"M{start} {heights[hook]}H{width:g}" for hook in hooks)
        canvas.edge("grid", grid)
    if wide and lit in columns:
        canvas.bar("lit", columns[lit], under - 24, each, low - under + 24, "cause", "p")
    _line(canvas, [(_SPINE, heights[name]) for name in order if name not in HOOKS], lit)
    for name, y in heights.items():
        if name not in hooks:
            canvas.text(f"node {name}", 32, y + 4, name, "b")
            continue
        mark, quiet = ("cause", "") if name in own else ("plain", "q")
        canvas.edge(f"stub {name}", f"M{_SPINE} {y}H{_HOOK - 9}", mark)
        canvas.dot(f"asks {name}", _HOOK - 9, y, 3.5, mark)
        canvas.text(f"hook {name}", _HOOK, y + 4, name, "m" + quiet)
        look = ("", "cause") if lit else ("q", "")
        canvas.text(f"does {name}", _DOES, y + 4, own.get(name, ""), *look)
    y = heights["any calls?"]
    canvas.edge("exit", f"M105 {y}H116m-5 -4l5 4l-5 4", "", "i")
    canvas.text("end", 122, y + 4, "no: answer")
    for number, x in columns.items():
        (glyph, mark, style), lesson, middle = heads[number], load(LESSONS[number]), x + each / 2
        words, ink = ("bn", mark) if number == lit else ("q" * ("g" in style), "")
        if not folded:
            canvas.text(f"lesson {number}", middle, under - 8, f"{glyph}{number}", f"c{words}", ink)
            name, y = lesson.title, under - 26
            canvas.text(f"name {number}", middle, y, name, f"s{words}", ink, width=99)
        for hook in lesson.hooks:
            y = heights[hook] + 27 * folded
            size, inside = radius - ("g" in style), str(number) * folded
            canvas.dot(f"dot {hook} {number}", middle, y, size, mark, inside, "c" + style)
    top = under if folded else head - 12
    places = {number: (x, top, each, low - top) for number, x in columns.items()}
    return canvas, {1: (0, head - 12, 117, 20), **places}


def _lying(width: float) -> Canvas:
    """The loop of lesson 1 over the width."""
    canvas, names = Canvas(width), [name for name in ORDER if name not in HOOKS]
    stops = [(34 + n * (width - 62) / 4, 54) for n in range(5)]
    _line(canvas, stops, 1)
    for name, (x, y) in zip(names, stops, strict=True):
        canvas.text(f"node {name}", x, y + 24, name, "bc")
    asks = stops[2][0]
    canvas.text("again", asks, 14, "again, with the results", "c")
    canvas.text("yes", asks + 26, 46, "yes", "c")
    canvas.edge("exit", f"M{asks} 86V106m-4 -6l4 6l4 -6", "", "i")
    canvas.text("end", asks, 124, "no: the answer", "c")
    canvas.height = 132
    return canvas


def _line(canvas: Canvas, stops: Sequence[tuple[float, float]], lit: int) -> None:
    """The loop as one line with arrows, down or to the right and back; what is asked is a rhomb."""
    (x, y), (right, low) = stops[0], stops[-1]
    if lies := y == low:
        path = f"M{right:g} {low - 7}V24H{x:g}V{y - 8}m-4 -7l4 7l4 -7"
    else:
        path = f"M{right - 7:g} {low}H1.5V{y}H{x - 8:g}m-7 -4l7 4l-7 4"
    for (a, b), (u, v) in pairwise(stops):
        down = f"M{a:g} {b + 8}V{v - 8}" + "m-4 -6l4 6l4 -6" * (v - b > 20)
        path += f"M{a + 8:g} {b}H{u - 9:g}m-7 -4l7 4l-7 4" if lies else down
    mark = "cause" if lit == 1 else ""
    canvas.edge("loop", path, mark, "wi")
    for number, (x, y) in enumerate(stops):
        ring = "M-7 0L0 -7L7 0L0 7Z" if number == 2 else "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0"
        canvas.edge(f"stop {number}", ring, mark, "wi", x=x, y=y)


def strip(width: float, lit: int) -> Canvas:
    """The picture for a lesson's head: what was built before is filled, what comes is hollow."""
    looks = {n: ("cause", "") if n == lit else ("plain", "gv" * (n > lit)) for n in LESSONS}
    return draw(width, {n: ("", *look) for n, look in looks.items()}, lit)[0]


def loop_card(lit: int) -> Card:
    """The picture for the head of a lesson."""
    said, drawn = alt(lit), {width: strip(width, lit) for width in WIDTHS}
    source = f'<source media="(max-width:600px)" srcset="{drawn[NARROW].uri()}">'
    html = f"<picture>{source}{drawn[WIDE].img(said)}</picture>"
    forms = {width: canvas.inline(said) for width, canvas in drawn.items()}
    return Card(html, said, lambda: {"text/html": fitted(forms)})


def alt(lit: int) -> str:
    """What the strip of a lesson shows, or the map, in words."""
    if lit == 1:
        return f"{FLOW} Lesson 1 builds it."
    if lit:
        adds = ", ".join(f"{hook}: {does}" for hook, does in load(LESSONS[lit]).hooks.items())
        return f"{FLOW} Lesson {lit} adds, by hook: {adds}."
    used = {hook: [str(n) for n, s in LESSONS.items() if hook in load(s).hooks] for hook in HOOKS}
    hooks = (f"{hook} ({HOOKS[hook]}; lessons {', '.join(used[hook])})" for hook in HOOKS)
    return f"{FLOW} Hooks around it: {', '.join(hooks)}."

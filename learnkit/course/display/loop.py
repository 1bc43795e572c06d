"""The loop as a picture, with its six hooks: each lesson has a dot at every hook that it uses.

It is the map of the course, and the strip at the head of a lesson, whose column is lit there. Both
are drawn for each of :data:`WIDTHS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

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
_STYLE = ".lk-loop{container-type:inline-size}.lk-loop :is(img,svg){width:100%;height:auto}"
_STYLE += "".join(
    f".lk-{width}{{max-width:{1.3 * width:g}px}}@container(min-width:{room}px){{"
    f".lk-loop>.lk-{width}{{display:block!important}}"
    f".lk-loop>:not(.lk-{width}){{display:none!important}}}}"
    for width, room in WIDTHS.items()
)
#: Where the loop, its hooks, and what they do begin; and how wide a lit column is.
_SPINE, _HOOK, _DOES, _LIT = 24, 46, 142, 136
#: What stands before the number over a lesson's column, and the mark and the style of its dots.
Head = tuple[str, str, str]


def fitted(forms: Mapping[int, str]) -> str:
    """Return HTML that shows what there is room for; the wide one where no style is kept."""
    parts = "".join(
        f'<div class="lk-{width}"{_HIDDEN * (width != WIDE)}>{form}</div>'
        for width, form in forms.items()
    )
    return f'<style>{_STYLE}</style><div class="lk-loop">{parts}</div>'


def draw(
    width: float, heads: Mapping[int, Head], lit: int = 0
) -> tuple[Canvas, dict[int, tuple[float, float]]]:
    """Return the picture, and where each lesson's column begins and how wide it is.

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
    row, radius = (20, 5) if lit else (26, 10) if folded else (26, 7)
    lessons = [one for one in heads if one > 1] if folded or (wide and hooks) else []
    start, end = (194 if lit else 260, width - 16) if wide else (_SPINE + 8, width)
    each = (end - start - _LIT * bool(lit)) / max(len(lessons) - bool(lit), 1)
    rooms = {one: _LIT if one == lit else each for one in lessons}
    lefts = accumulate(rooms.values(), initial=start)
    columns = {one: (next(lefts), room) for one, room in rooms.items()}
    head, steps = 18 if lit else 66, 16 * (wide and each < 70)
    under = head + 16 * bool(columns) + steps + 10
    order = [name for name in ORDER if hooks or name not in HOOKS]
    down = (row + 30 * (folded and name in HOOKS) for name in order[:-1])
    heights = dict(zip(order, accumulate(down, initial=under + 16 if hooks else head), strict=True))
    low = canvas.height = heights["results"] + 14
    if not lit:
        canvas.text("title", 8, 22, "One loop. Six places to plug into.", "h")
        canvas.text("reads", 8, 42, "A column shows where a lesson hooks in.", "q")
    if hooks and 1 in heads:
        canvas.text("lesson 1", 8, head, f"{heads[1][0]}1 {load(LESSONS[1]).title}", "b")
    if hooks and lit and not wide:
        canvas.text("lit", _DOES, head, f"{lit} {load(LESSONS[lit]).title}", "b", "cause")
    if wide:
        grid = "".join(f"M{start} {heights[hook]}H{end}" for hook in hooks)
        grid += "".join(f"M{x + room / 2:g} {under}V{low - 4}" for x, room in columns.values())
        canvas.edge("grid", grid)
    _line(canvas, [(_SPINE, heights[name]) for name in order if name not in HOOKS], lit)
    for name, y in heights.items():
        if name not in hooks:
            canvas.text(f"node {name}", 36, y + 4, name, "b")
            continue
        mark, quiet = ("cause", "") if name in own else ("plain", "q")
        canvas.edge(f"stub {name}", f"M{_SPINE} {y}H{_HOOK - 4}", mark, "d")
        canvas.dot(f"asks {name}", _SPINE, y, 3.5, mark)
        canvas.text(f"hook {name}", _HOOK, y + 4, name, "m" + quiet)
        if not (lit and wide):
            canvas.text(f"does {name}", _DOES, y + 4, own.get(name, ""), "" if lit else "q")
    y = heights["any calls?"]
    canvas.edge("exit", f"M109 {y}H120m-5 -4l5 4l-5 4", "", "i")
    canvas.text("end", 126, y + 4, "no: answer")
    for number, (x, room) in columns.items():
        (glyph, mark, style), lesson = heads[number], load(LESSONS[number])
        middle, step = x + room / 2, steps * (number % 2)
        if number == lit:
            canvas.bar("lit", x, under, room, low - under - 1, mark, "p")
            title = f"{number} {lesson.title}"
            canvas.text(f"lesson {number}", middle, under - 10, title, "bc", mark)
        elif folded:
            canvas.text(f"lesson {number}", middle, head + 20, glyph.strip(), "c")
        else:
            canvas.text(f"lesson {number}", middle, head, f"{glyph}{number}", "c")
            canvas.text(f"name {number}", middle, head + 16 + step, lesson.title, "c", width=99)
        for hook, words in lesson.hooks.items():
            y = heights[hook] + 25 * folded
            if number == lit:
                middle = x + 13
                canvas.text(f"word {hook}", middle + 10, y + 4, words, "o", mark)
            inside = str(number) * folded
            canvas.dot(f"dot {hook} {number}", middle, y, radius, mark, inside, "c" + style)
    return canvas, columns


def _lying(width: float) -> Canvas:
    """The loop of lesson 1 over the width."""
    canvas, names = Canvas(width), [name for name in ORDER if name not in HOOKS]
    stops = [(48 + n * (width - 96) / 4, 40) for n in range(5)]
    _line(canvas, stops, 1)
    for name, (x, y) in zip(names, stops, strict=True):
        canvas.text(f"node {name}", x, y + 24, name, "bc")
    asks = stops[2][0]
    canvas.text("again", stops[1][0], 29, "again, with the results", "c")
    canvas.text("yes", (asks + stops[3][0]) / 2, 29, "yes", "c")
    canvas.edge("exit", f"M{asks} 72V94m-4 -6l4 6l4 -6", "", "i")
    canvas.text("end", asks, 110, "no: the answer", "c")
    canvas.height = 120
    return canvas


def _line(canvas: Canvas, stops: Sequence[tuple[float, float]], lit: int) -> None:
    """The loop as one line, down or to the right and back, with a ring for each stop."""
    (x, y), (right, low) = stops[0], stops[-1]
    home = f"V10H{x:g}V{y - 8}m-4 -7l4 7l4 -7" if y == low else f"H6V{y}H{x - 8:g}m-7 -4l7 4l-7 4"
    mark = "cause" if lit == 1 else ""
    canvas.edge("loop", f"M{x:g} {y}L{right:g} {low}{home}", mark, "wi")
    for number, (x, y) in enumerate(stops):
        canvas.dot(f"stop {number}", x, y, 5, mark, style="gwi")


def strip(width: float, lit: int) -> Canvas:
    """The picture for a lesson's head: what was built before is filled, what comes is hollow."""
    looks = {n: ("cause", "") if n == lit else ("plain", "g" * (n > lit)) for n in LESSONS}
    return draw(width, {n: ("", *look) for n, look in looks.items()}, lit)[0]


def loop_card(lit: int) -> Card:
    """The picture for the head of a lesson."""
    said, drawn = alt(lit), {width: strip(width, lit) for width in WIDTHS}
    source = f'<source media="(max-width:600px)" srcset="{drawn[NARROW].uri}">'
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

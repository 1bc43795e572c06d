"""The loop as a picture, with its six hooks: each lesson has a dot at every hook that it uses.

It is the map of the course, and the strip at the head of a lesson, whose column is lit there. Both
are drawn for each of :data:`WIDTHS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise

from learnkit.course.display.card import Card
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST, Canvas

#: What the mechanisms of each lesson do, by the hook that they do it with. Lesson 1 is the loop.
LESSONS: dict[int, dict[str, str]] = {
    1: {},
    2: {"tools": "bash and files", "refuse": "permission"},
    3: {"system": "how to plan", "tools": "todo", "after_tools": "a reminder"},
    4: {"system": "when to delegate", "tools": "a loop in a call"},
    5: {"system": "a catalogue", "tools": "load a skill"},
    6: {"tools": "compact", "before_model": "make it shorter"},
    7: {"system": "the board", "tools": "tasks on disk"},
    8: {
        "system": "what may wait",
        "tools": "start a job",
        "after_tools": "results so far",
        "on_stop": "wait for results",
    },
    9: {
        "system": "who is there",
        "tools": "spawn, send",
        "before_model": "new messages",
        "after_tools": "new messages",
        "on_stop": "idle until one",
    },
    10: {"system": "the protocol", "tools": "ask, answer", "refuse": "no plan, no work"},
    11: {
        "system": "claim by yourself",
        "tools": "claim, idle",
        "before_model": "who you are",
        "after_tools": "back to idle",
        "on_stop": "look for work",
    },
    12: {
        "system": "where to work",
        "tools": "worktrees",
        "refuse": "no other folder",
        "after_tools": "new commits",
    },
}
#: What the lessons are called.
NAMES = (
    *("The agent loop", "Tools", "Todo", "Subagents", "Skills", "Compaction", "Tasks"),
    *("Background", "Teams", "Protocols", "Autonomy", "Worktrees"),
)
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
#: The widths that the picture is drawn for, and from how much room each is shown; in pixels.
WIDTHS = {NARROW: 0, WIDE: 560, WIDEST: 920}
_STYLE = "<style>.lk-loop{container-type:inline-size}.lk-loop :is(img,svg){width:100%;height:auto}"
_STYLE += "".join(
    f".lk-{width}{{max-width:{1.3 * width:g}px}}@container(min-width:{room}px){{"
    f".lk-loop>.lk-{width}{{display:block}}.lk-loop>:not(.lk-{width}){{display:none}}}}"
    for width, room in WIDTHS.items()
)
#: Where the loop, its hooks, and what they do begin; and how wide a lit column is.
_SPINE, _HOOK, _DOES, _LIT = 24, 46, 142, 136
#: How a column's dots look: a mark and a style.
Look = tuple[str, str]


def fitted(forms: Mapping[int, str]) -> str:
    """Return HTML that shows what there is room for; the wide one where no style is kept."""
    parts = "".join(
        f'<div class="lk-{width}"{" hidden" * (width != WIDE)}>{form}</div>'
        for width, form in forms.items()
    )
    return f'{_STYLE}</style><div class="lk-loop">{parts}</div>'


def draw(
    width: float, lit: int, labels: Mapping[int, str], looks: Mapping[int, Look]
) -> tuple[Canvas, dict[int, tuple[float, float]]]:
    """Return the picture, and where each lesson's column begins and how wide it is.

    Without room beside the loop, the map has its dots below the hooks, and a strip has none.

    Args:
        width: in pixels.
        lit: the lesson whose strip it is; 0 for the map.
        labels: what stands for the number of each lesson that has a column.
        looks: of each column's dots.
    """
    canvas, wide = Canvas(width), width >= WIDTHS[WIDE]
    hooks = HOOKS if lit != 1 else {}
    if wide and not hooks:
        return _lying(canvas), {}
    folded = not (wide or lit)
    row, radius = (20, 5) if lit else (26, 10) if folded else (26, 7)
    lessons = [one for one in labels if one > 1] if folded or (wide and hooks) else []
    start, end = (194 if lit else 260, width - 16) if wide else (_SPINE + 8, width)
    each = (end - start - _LIT * bool(lit)) / max(len(lessons) - bool(lit), 1)
    rooms = [_LIT if one == lit else each for one in lessons]
    columns = dict(zip(lessons, zip(accumulate(rooms, initial=start), rooms), strict=False))
    head, steps = 18 if lit else 66, 16 * (wide and each < 70)
    under = head + 16 * wide + steps + 10
    heights = stacked(under + 16 if hooks else head, row, row + 30 * folded, hooks)
    low = canvas.height = heights["results"] + 14
    if not lit:
        canvas.text("title", 8, 22, "One loop. Six places to plug into.", "h")
        canvas.text("reads", 8, 42, "A column shows where a lesson hooks in.", "q")
    if hooks and 1 in labels:
        canvas.text("lesson 1", 8, head, f"{labels[1]} {NAMES[0]}", "b")
    if hooks and lit and not wide:
        canvas.text("lit", _DOES, head, f"{labels[lit]} {NAMES[lit - 1]}", "b", "cause")
    if wide:
        grid = "".join(f"M{start} {heights[hook]}H{end}" for hook in hooks)
        grid += "".join(f"M{x + room / 2:g} {under}V{low - 4}" for x, room in columns.values())
        canvas.edge("grid", grid)
    _line(canvas, heights, _SPINE, 6, "" if hooks else "cause")
    own = LESSONS[lit] if lit else HOOKS
    for name, y in heights.items():
        if name not in hooks:
            canvas.text(f"node {name}", 36, y + 4, name, "b", "" if hooks else "cause")
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
        (mark, style), name = looks[number], NAMES[number - 1]
        middle, own, step = x + room / 2, LESSONS[number], steps * (number % 2)
        if number == lit:
            canvas.bar("lit", x, under, room, low - under - 1, mark, "p")
            canvas.text(f"lesson {number}", middle, under - 10, f"{number} {name}", "bc", mark)
        elif wide:
            canvas.text(f"lesson {number}", middle, head, labels[number], "c")
            canvas.text(f"name {number}", middle, head + 16 + step, name, "c", width=99)
        for hook, words in own.items():
            y = heights[hook] + 25 * folded
            if number == lit:
                middle = x + 13
                canvas.text(f"word {hook}", middle + 10, y + 4, words, "o", mark)
            glyph = labels[number] if folded else ""
            canvas.dot(f"dot {hook} {number}", middle, y, radius, mark, glyph, "c" + style)
    return canvas, columns


def stacked(top: float, node: float, hook: float, hooks: Mapping[str, str]) -> dict[str, float]:
    """How high everything in the loop is, by the room that a node and a hook take below."""
    names = [name for name in ORDER if name in hooks or name not in HOOKS]
    rooms = (hook if name in hooks else node for name in names[:-1])
    return dict(zip(names, accumulate(rooms, initial=top), strict=True))


def _lying(canvas: Canvas) -> Canvas:
    """The loop of lesson 1, which knows no hooks yet, over the width."""
    names = [name for name in ORDER if name not in HOOKS]
    places = {name: 48 + n * (canvas.width - 96) / 4 for n, name in enumerate(names)}
    _line(canvas, places, 40, 10, "cause", lying=True)
    for name, x in places.items():
        canvas.text(f"node {name}", x, 64, name, "bc", "cause")
    asks = places["any calls?"]
    canvas.text("yes", (asks + places["run them"]) / 2, 29, "yes", "c")
    canvas.text("again", places["the model"], 29, "again, with the results", "c")
    canvas.edge("exit", f"M{asks} 72V94m-4 -6l4 6l4 -6", "", "i")
    canvas.text("end", asks, 110, "no: the answer", "c")
    canvas.height = 120
    return canvas


def _line(
    canvas: Canvas, places: Mapping[str, float], spine: float, back: float, mark: str, lying=False
) -> None:
    """The loop as one line with a ring for each thing that is done, from the top or the left."""

    def at(along: float, across: float) -> str:
        return f"{along:g} {across:g}" if lying else f"{across:g} {along:g}"

    stops = [place for name, place in places.items() if name not in HOOKS]
    left = (5, 0) if lying else (0, 5)
    rings = "".join(
        f"M{at(one - left[0], spine - left[1])}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0" for one in stops
    )
    down = "".join(f"M{at(a + 5, spine)}L{at(b - 5, spine)}" for a, b in pairwise(stops))
    home = f"M{at(stops[-1], spine - 5)}L{at(stops[-1], back)}L{at(stops[0], back)}"
    home += f"L{at(stops[0], spine - 8)}m{at(-4, -7)}l{at(4, 7)}l{at(4, -7)}"
    canvas.edge("loop", rings + down + home, mark, "w" if mark else "wi")


def strip(width: float, lit: int) -> Canvas:
    """The picture for a lesson's head: what was built before is filled, what comes is hollow."""
    looks = {n: ("cause", "") if n == lit else ("plain", "g" * (n > lit)) for n in LESSONS}
    return draw(width, lit, {n: str(n) for n in LESSONS}, looks)[0]


def loop_card(lit: int) -> Card:
    """The picture for the head of a lesson."""
    said = alt(lit)

    def live() -> dict[str, str]:
        return {"text/html": fitted({width: strip(width, lit).inline(said) for width in WIDTHS})}

    narrow, wide = (strip(width, lit) for width in (NARROW, WIDE))
    source = f'<source media="(max-width:600px)" srcset="{narrow.uri}">'
    return Card(f"<picture>{source}{wide.img(said)}</picture>", said, live)


def alt(lit: int | None) -> str:
    """What the picture shows, in words."""
    if lit is None:
        hooks = ", ".join(
            f"{hook} ({does}; lessons {used_by(hook)})" for hook, does in HOOKS.items()
        )
        return f"{FLOW} Hooks around it: {hooks}."
    if lit == 1:
        return f"{FLOW} Lesson 1 builds it."
    adds = ", ".join(f"{hook}: {does}" for hook, does in LESSONS[lit].items())
    return f"{FLOW} Lesson {lit} adds, by hook: {adds}."


def used_by(hook: str) -> str:
    """The lessons that use a hook, such as ``3, 5, 8``."""
    return ", ".join(str(number) for number, hooks in LESSONS.items() if hook in hooks)

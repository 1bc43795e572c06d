"""The loop as a picture, with its six hooks: each lesson has a dot at every hook that it uses."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise

from learnkit.course.display.card import Card
from learnkit.views.drawing.display import NARROW, Canvas

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
#: The columns of the lessons in the form for a lesson's head: their left edge and their distance.
_COLUMNS, _APART = 254, 6.2


def draw(
    canvas: Canvas, heights: Mapping[str, float], spine: float, back: float, mark: str = ""
) -> None:
    """The loop as one line with a ring for each thing that is done, and a stub for each hook."""
    nodes = [y for name, y in heights.items() if name not in HOOKS]
    rings = "".join(f"M{spine - 5} {y}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0" for y in nodes)
    down = "".join(f"M{spine} {a + 5}V{b - 5}" for a, b in pairwise(nodes))
    home = f"M{spine - 5} {nodes[-1]}H{back}V{nodes[0]}H{spine - 8}m-7 -4l7 4l-7 4"
    canvas.edge("loop", rings + down + home, mark, "w" if mark else "wi")
    for hook in HOOKS:
        if hook in heights:
            canvas.dot(f"asks {hook}", spine, heights[hook], 3.5, "cause")


def stacked(top: float, node: float, hook: float) -> dict[str, float]:
    """How high everything in the loop is, by the room that a node and a hook take above."""
    rooms = (hook if name in HOOKS else node for name in ORDER[1:])
    return dict(zip(ORDER, accumulate(rooms, initial=top), strict=True))


def compact(lit: int) -> Canvas:
    """The loop for a lesson's head: its column is lit, and its words are beside its hooks.

    Lesson 1 knows no hooks yet: it has only the rings.
    """
    canvas, own = Canvas(NARROW), LESSONS[lit]
    heights = stacked(26, 18, 18 if own else 0)
    if not own:
        heights = {name: y for name, y in heights.items() if name not in HOOKS}
    if own:
        x = _COLUMNS + (lit - 2) * _APART
        canvas.text("number", min(x, 288), 14, f"lesson {lit}", "bc", "cause")
        canvas.bar("column", x - 4, 20, 8, heights["results"] - 16, "cause", "p")
    draw(canvas, heights, 24, 6, "" if own else "cause")
    for name, y in heights.items():
        style = "" if name in own or not own else "q"
        if name not in HOOKS:
            canvas.text(f"node {name}", 36, y + 4, name, "b" + style, "" if own else "cause")
            continue
        canvas.edge(f"stub {name}", f"M24 {y}H42", "cause", "d")
        canvas.text(f"hook {name}", 46, y + 4, name, "m" + style)
        canvas.text(f"does {name}", 138, y + 4, own.get(name, ""), width=118)
        for number in (one for one, hooks in LESSONS.items() if name in hooks):
            place, mark = _COLUMNS + (number - 2) * _APART, "cause" if number == lit else "plain"
            canvas.dot(f"dot {name} {number}", place, y, 3.2 if number == lit else 2.2, mark)
    canvas.height += 12
    return canvas


def loop_card(lit: int) -> Card:
    """The picture for the head of a lesson."""
    said, canvas = alt(lit), compact(lit)

    def live() -> dict[str, str]:
        return {"text/html": canvas.inline(said)}

    return Card(canvas.img(said), said, live)


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

"""The loop as a picture, with its hooks: each lesson lights the part that it adds."""

from __future__ import annotations

from learnkit.course.display.card import Card
from learnkit.views.drawing.display import WIDE, Canvas

#: What the mechanisms of each lesson do, by the hook that they do it with. Lesson 1 is the loop.
LESSONS: dict[int, dict[str, str]] = {
    1: {},
    2: {"tools": "bash and files", "refuse": "permission"},
    3: {"system": "how to plan", "tools": "todo", "after_tools": "a reminder"},
    4: {"system": "when to delegate", "tools": "a loop in a call"},
    5: {"system": "a catalogue", "tools": "load a skill", "after_tools": "logs files read"},
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
    "system": "adds to prompt",
    "tools": "offers tools",
    "before_model": "changes messages",
    "refuse": "stops a call",
    "after_tools": "adds text",
    "on_stop": "lets it go on",
}

#: Where everything stands: left, top, width and height in pixels. A hook has its line to the place
#: in the loop at which it is asked.
_Box = tuple[float, float, float, float]
_BOXES: dict[str, _Box] = {
    "prompt": (8, 108, 96, 28),
    "messages": (152, 100, 160, 44),
    "model": (368, 100, 118, 44),
    "reply": (540, 108, 172, 28),
    "run": (564, 216, 128, 28),
    "results": (152, 208, 160, 44),
    "answer": (616, 8, 96, 28),
}
_HOOKS: dict[str, tuple[_Box, str]] = {
    "system": ((56, 34, 146, 40), "M128 74V122"),
    "before_model": ((264, 34, 150, 40), "M339 74V122"),
    "tools": ((352, 154, 134, 40), "M427 154V144"),
    "on_stop": ((486, 46, 150, 40), "M636 66H664"),
    "refuse": ((496, 154, 122, 40), "M618 174H628"),
    "after_tools": ((364, 210, 150, 40), ""),
}
_WAYS = {
    "in": ("M104 122H152", "r"),
    "ask": ("M312 122H368", "r"),
    "reply": ("M486 122H540", "r"),
    "end": ("M664 108V36", "u"),
    "yes": ("M628 136V216", "d"),
    "run": ("M564 230H514", "l"),
    "results": ("M364 230H312", "l"),
    "back": ("M232 208V144", "u"),
}
_SAID = {"yes": (634.0, 152.0), "end": (670.0, 100.0)}
_TIPS = {
    "r": "m-7 -4l7 4l-7 4",
    "d": "m-4 -7l4 7l4 -7",
    "l": "m7 -4l-7 4l7 4",
    "u": "m-4 7l4 -7l4 7",
}
#: What is written in the boxes of the loop.
WORDS = {
    "prompt": ("your prompt",),
    "messages": ("messages", "all of them, again"),
    "model": ("the model", "sees only these"),
    "reply": ("any calls in it?",),
    "run": ("run the calls",),
    "results": ("results", "one for each call"),
    "answer": ("the answer",),
}


def loop(lit: int) -> Canvas:
    """The loop and its six hooks."""
    canvas = Canvas(WIDE)
    whole = "cause" if lit == 1 else ""
    for name, (_, line) in _HOOKS.items():
        if line:
            canvas.edge(f"line {name}", line, "cause" if _adds(lit, name) else "", "d")
    for name, (path, tip) in _WAYS.items():
        canvas.edge(f"way {name}", path + _TIPS[tip], whole or "system", "w")
    for name, place in _BOXES.items():
        canvas.box(f"box {name}", *place, whole or "system", WORDS[name], says=WORDS[name][0])
    for name, (place, _) in _HOOKS.items():
        own = _adds(lit, name)
        says = f"{name}: {own or HOOKS[name]}; lessons {used_by(name)}"
        style, mark = ("", "cause") if own else ("d", "")
        canvas.box(f"hook {name}", *place, mark, [name, own or HOOKS[name]], style, says=says)
    for name, said in (("yes", "yes"), ("end", "no")):
        x, y = _SAID[name]
        canvas.text(f"said {name}", x, y, said, "b")
    canvas.height += 12
    return canvas


def _adds(lit: int, hook: str) -> str:
    """What a lesson does with a hook; empty for nothing."""
    return LESSONS[lit].get(hook, "")


def used_by(hook: str) -> str:
    """The lessons that use a hook, such as ``3–5, 8``."""
    numbers = [number for number, hooks in LESSONS.items() if hook in hooks]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spans = [f"{one[0]}–{one[-1]}" if len(one) > 2 else ", ".join(map(str, one)) for one in runs]
    return ", ".join(spans)


def loop_card(lit: int) -> Card:
    """The picture for the head of a lesson."""
    said, canvas = alt(lit), loop(lit)

    def live() -> dict[str, str]:
        return {"text/html": canvas.inline(said)}

    return Card(canvas.img(said), said, live)


def alt(lit: int | None) -> str:
    """What the picture shows, in words."""
    flow = (
        "The loop: messages go to the model; if the reply has calls, they run, and their results "
        "become a message; if not, the run ends."
    )
    if lit is None:
        hooks = ", ".join(
            f"{hook} ({does}; lessons {used_by(hook)})" for hook, does in HOOKS.items()
        )
        return f"{flow} Hooks around it: {hooks}."
    if lit == 1:
        return f"{flow} Lesson 1 builds it."
    adds = ", ".join(f"{hook}: {does}" for hook, does in LESSONS[lit].items())
    return f"{flow} Lesson {lit} adds, by hook: {adds}."

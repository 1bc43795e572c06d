"""Lesson 3's explorable: the more each step prints, the sooner the plan is out of sight.

Everything comes from the committed table of ``completion``: 200 simulated runs of
:class:`learnkit.simulation.forgetful.Forgetful` without a todo list and with one, for each length.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from learnkit.core.token_count import CHARS_PER_TOKEN
from learnkit.course.lessons.plots import LEFT, legend, scale, short
from learnkit.course.lessons.s03.completion import LINE, LINES, SEEDS, WINDOW, table
from learnkit.course.trials import FEATURE
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore

#: What the trials leave at the defaults of the toy model and of the list: the share of turns in
#: which the model updates its list unasked, and the rounds after which it is reminded.
HABIT, REMINDED = 0.5, 3
#: Tokens of a line.
TOKENS = LINE // CHARS_PER_TOKEN


@cache
def row(lines: int) -> dict[str, Any]:
    """The table's row for a length.

    Args:
        lines: how many lines each step prints.
    """
    return [*table()][lines]


def draw(width: float, lines: int) -> Answer:
    """Where the plan stands in the last request of a run, and what becomes of all runs.

    Args:
        width: in pixels.
        lines: how many lines each step prints.
    """
    canvas = Canvas(width)
    _requests(canvas, row(lines))
    _completed(canvas, lines)
    _tokens(canvas, row(lines))
    return Answer(_finding(lines), canvas, _assumes(), _because(lines))


def explorable() -> Explorable:
    """The window and the shares of completed runs, with the output of each step to drag."""
    said = drag(LINES, 8, "output of each step", said=lambda lines: f"{lines * TOKENS} tokens")
    return explore(draw, lines=said)


def _finding(lines: int) -> str:
    without, listed = (row(lines)[kind]["completed"] for kind in _KINDS)
    times = row(lines)["with"]["tokens"] / row(lines)["without"]["tokens"]
    start = f"With {lines * TOKENS} tokens of output a step,"
    if without == listed == 1:
        return f"{start} every run is completed, and the list only sends {times:.1f} × the tokens."
    return (
        f"{start} {listed:.0%} of the runs are completed with a list, "
        f"{without:.0%} without; the list sends {times:.1f} × the tokens."
    )


def _because(lines: int) -> str:
    without, listed = (row(lines)[kind]["completed"] for kind in _KINDS)
    if without == listed == 1:
        return "All of the work fits where the model notices everything, or nearly so."
    if listed >= 0.5:
        return (
            "Output pushes the request to where the model notices less; "
            "the list is written again near the end."
        )
    return "Now the list, too, is often out of the window before it is written again."


def _assumes() -> str:
    return (
        f"simulated by a toy model of attention, not an LLM: its window is the last {WINDOW:,} "
        f"tokens ({CHARS_PER_TOKEN} characters each); it sees all of the nearer half, and less and "
        f"less of the further one. {len(FEATURE)} steps print lines of {LINE} characters. The "
        f"model updates its list in {HABIT:.0%} of the turns, and is reminded after {REMINDED} "
        f"rounds. {SEEDS} seeds with a list and {SEEDS} without; drawn is the first run "
        "with the median number of forgotten steps."
    )


_KINDS = ("without", "with")
_NAMES = {"without": "no list", "with": "with a list"}
_MARKS = {"request": "user", "list": "assistant", "output": "result"}
#: Tokens of the widest picture of a request.
_MOST = 4_000
#: Heights of the strips, the curves and the bars, in pixels.
_STRIPS, _TOP, _BASE, _BARS, _EACH = (66, 116), 226, 316, 372, 22


def _requests(canvas: Canvas, row: dict[str, Any]) -> None:
    unit, end = (canvas.width - 6) / _MOST, canvas.width - 4
    half, window = (round(end - tokens * unit) for tokens in (WINDOW / 2, WINDOW))
    canvas.text("last", 0, 12, "last request of a typical run, from its end", "b")
    for name, left, right, word in (
        ("near", half, end, "sees all"),
        ("far", window, half, "sees less"),
        ("out", 2, window, "sees nothing"),
    ):
        canvas.text(name, (left + right) / 2, 34, word, "qc" if name == "out" else "c")
        if name != "out":
            canvas.edge(f"{name} bracket", f"M{left + 2} 46v-6H{right - 2}v6", "active", "w")
    for tokens in range(0, _MOST + 1, 1_000):
        x = round(end - tokens * unit)
        if tokens in (WINDOW / 2, WINDOW):
            canvas.edge(f"limit {tokens}", f"M{x} 48V{_STRIPS[-1] + 26}", "active", "d")
        style = "qe" if tokens == 0 else "q" if tokens == _MOST else "qc"
        canvas.text(f"from {tokens}", x, _STRIPS[-1] + 40, short(tokens), style)
    for kind, y in zip(_KINDS, _STRIPS, strict=True):
        done = f"{row[kind]['done']} of {len(FEATURE)} steps done"
        canvas.text(f"{kind} said", 0, y - 5, f"{_NAMES[kind]}: {done}")
        tokens, numbers = 0, dict.fromkeys(_MARKS, 0)
        for part, length in row[kind]["parts"]:
            right, left = (round(end - at * unit) for at in (tokens, tokens + length))
            tokens += length
            if part not in _MARKS or (right - left < 2 and part == "output"):  # a call
                continue
            low = 4 if part == "output" else 0
            numbers[part] += 1
            key, wide = f"{kind} {part} {numbers[part]}", max(right - left - 1, 3)
            canvas.bar(key, right - wide, y + low, wide, 20 - 2 * low, _MARKS[part])
    legend(
        canvas,
        _STRIPS[-1] + 50,
        (theme.USER, "", "request"),
        (theme.ASSISTANT, "", "todo list"),
        (theme.RESULT, "", "output"),
    )


def _completed(canvas: Canvas, lines: int) -> None:
    right = canvas.width - 84
    unit, step = _BASE - _TOP, (right - LEFT) / LINES[-1]
    canvas.text("shares", 0, _TOP - 14, f"completed, of {SEEDS} runs each", "b")
    for share in (0, 50, 100):
        scale(canvas, "share", [share], _BASE, unit / 100, right, "{:.0f}%".format)
    x, low = LEFT + lines * step, 0.0
    canvas.edge("cause", f"M0 0V{_BASE - _TOP}", "cause", "d", x=x, y=_TOP)
    for kind in reversed(_KINDS):
        shares = [row(one)[kind]["completed"] for one in LINES]
        spots = [f"{LEFT + n * step:.0f} {_BASE - one * unit:.0f}" for n, one in enumerate(shares)]
        mark = "assistant" if kind == "with" else "user"
        canvas.edge(f"{kind} curve", f"M{'L'.join(spots)}", mark, "w")
        canvas.dot(f"{kind} now", x, _BASE - shares[lines] * unit, 5, mark)
        low = max(low + 14, _BASE - shares[-1] * unit + 4)
        canvas.text(f"{kind} line", right + 9, low, _NAMES[kind], "", mark)
    canvas.text("output", x, _BASE + 18, f"{lines * TOKENS} tokens", "bc", "cause")


def _tokens(canvas: Canvas, row: dict[str, Any]) -> None:
    most = 16_000
    unit = (canvas.width - _LABEL - 40) / most
    canvas.text("sent", 0, _BARS - 10, "tokens sent, mean of the runs", "b")
    for place, kind in enumerate(_KINDS):
        y, tokens = _BARS + place * _EACH, row[kind]["tokens"]
        canvas.text(f"{kind} sent", 0, y + 12, _NAMES[kind])
        wide = round(tokens * unit)
        canvas.bar(f"{kind} tokens", _LABEL, y, wide, 16, "assistant" if place else "user")
        canvas.text(f"{kind} is", _LABEL + wide + 6, y + 12, f"{tokens / 1000:.1f}k")


#: Room for the names of the bars, in pixels.
_LABEL = 78

"""Lesson 3's explorable: what a todo list is worth depends on how much the model notices.

Everything comes from the committed table of ``completion``: 200 simulated runs of
:class:`learnkit.simulation.forgetful.Forgetful` without a todo list and 200 with one, for each
window and each length of the output.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from learnkit.core.token_count import CHARS_PER_TOKEN
from learnkit.course.lessons.plots import LEFT, legend, scale, short
from learnkit.course.lessons.s03.completion import LINE, OUTPUTS, SEEDS, WINDOWS, table
from learnkit.course.trials import FEATURE
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: What the trials leave at the defaults of the toy model and of the list: the share of turns in
#: which the model updates its list unasked, and the rounds after which it is reminded.
HABIT, REMINDED = 0.5, 3
#: Tokens of a line.
TOKENS = LINE // CHARS_PER_TOKEN
#: What the buttons say, and how many lines a step prints then.
LENGTHS = {f"{lines * TOKENS} tokens": lines for lines in OUTPUTS}


@cache
def rows() -> dict[tuple[int, int], dict[str, Any]]:
    """The table's rows, by window and lines."""
    return {(row["window"], row["lines"]): row for row in table()}


def draw(width: float, window: int, output: str) -> Answer:
    """Draw the last request of a typical run, and what becomes of all runs."""
    canvas = Canvas(width)
    row = rows()[window, LENGTHS[output]]
    _requests(canvas, row)
    _completed(canvas, row)
    _tokens(canvas, row)
    return Answer(_finding(row), canvas, _assumes(), _because(row))


def explorable() -> Explorable:
    """The model's window to drag, and three lengths of output to choose from."""
    window = drag(WINDOWS, 2_000, "window of the model", unit="tokens")
    return explore(
        draw, window=window, output=pick(list(LENGTHS), "360 tokens", "each step prints")
    )


def _finding(row: dict[str, Any]) -> str:
    without, listed = (row[kind]["completed"] for kind in _KINDS)
    sent = [row[kind]["tokens"] for kind in _KINDS]
    times = f"{sent[1] / sent[0]:.1f} × the tokens" if sent[0] else ""
    window = f"With a window of {row['window']:,} tokens"
    if without == listed == 1:
        return f"{window}, every run completes either way; the list only sends {times}."
    more = f"; where both complete, the list sends {times}" if times else ""
    return f"{window}, {listed:.0%} of the runs complete with a list, {without:.0%} without{more}."


def _because(row: dict[str, Any]) -> str:
    without, listed = (row[kind]["completed"] for kind in _KINDS)
    if without == listed == 1:
        return "The whole run fits into what the model notices, so the list adds nothing."
    if without > 0.9:
        return "Nearly the whole run fits into what the model notices, so the list adds little."
    if listed >= 0.5:
        return (
            "Output pushes your request to where the model notices less or nothing; "
            "each update writes the list again, near the end."
        )
    return "Even the list is often out of sight before the model writes it again."


def _assumes() -> str:
    return (
        "simulated by a toy model of attention, not an LLM. Its rule is ours: it notices all of "
        "the half of its window that is nearer to the end, less and less of the other half, and "
        f"nothing beyond ({CHARS_PER_TOKEN} characters a token). {len(FEATURE)} steps print lines "
        f"of {LINE} characters. The model updates its list in {HABIT:.0%} of the turns, and is "
        f"reminded after {REMINDED} rounds. {SEEDS} seeds with a list and {SEEDS} without; tokens "
        "are of the seeds with which both complete. Drawn is the first run with the median number "
        "of forgotten steps."
    )


_KINDS = ("without", "with")
_NAMES = {"without": "no list", "with": "with a list"}
_MARKS = {"request": "user", "list": "assistant", "output": "result", "again": "failed"}
#: Tokens of the widest picture of a request, and of the longest bar of tokens sent.
_MOST, _MOST_SENT = 6_000, 24_000
#: Heights of the strips, the curves and the bars, in pixels.
_STRIPS, _TOP, _BASE, _BARS, _EACH = (78, 124), 236, 326, 382, 22


def _requests(canvas: Canvas, row: dict[str, Any]) -> None:
    unit, end = (canvas.width - 6) / _MOST, canvas.width - 4
    half, window = (round(end - tokens * unit) for tokens in (row["window"] / 2, row["window"]))
    canvas.text("last", 0, 12, "last request of a typical run, from its end", "b")
    said = "all noticed in the nearer half, less and less in the other half, nothing beyond"
    if text_width(said) > canvas.width - 90:
        said = "all of the near half, less beyond"
    canvas.text("noticed", 0, 34, f"window {row['window']:,}: {said}", "", "active")
    for name, left, right in (("near", half, end), ("far", window, half)):
        canvas.edge(f"{name} bracket", f"M{left + 1} 52v-6H{right - 1}v6", "active", "w")
    for name, x in (("half", half), ("window", window)):
        beside = "".join(f"M0 {y - _STRIPS[0]}v26" for y in _STRIPS)  # not through their labels
        canvas.edge(f"{name} limit", beside, "active", "d", x=x, y=_STRIPS[0] - 3)
    for tokens in range(0, _MOST + 1, 1_000):
        style = "qe" if tokens == 0 else "q" if tokens == _MOST else "qc"
        x = round(end - tokens * unit)
        canvas.text(f"from {tokens}", x, _STRIPS[-1] + 40, short(tokens), style)
    for kind, y in zip(_KINDS, _STRIPS, strict=True):
        parts = [part for part, _ in row[kind]["parts"]]
        said = f"{_NAMES[kind]}: {row[kind]['done']} of {len(FEATURE)} steps done"
        if again := parts.count("again"):
            said += f", {again} repeated"
        canvas.text(f"{kind} said", 0, y - 5, said)
        tokens, numbers = 0, dict.fromkeys(_MARKS, 0)
        for part, length in row[kind]["parts"]:
            right, left = (round(end - at * unit) for at in (tokens, tokens + length))
            tokens += length
            if part not in _MARKS or (right - left < 2 and part == "output"):  # a call
                continue
            low = 4 if part in ("output", "again") else 0
            numbers[part] += 1
            key, wide = f"{kind} {part} {numbers[part]}", max(right - left - 1, 3)
            canvas.bar(key, right - wide, y + low, wide, 20 - 2 * low, _MARKS[part])
    legend(
        canvas,
        _STRIPS[-1] + 50,
        (theme.USER, "", "request"),
        (theme.ASSISTANT, "", "todo list"),
        (theme.RESULT, "", "output"),
        (theme.FAILED, "", "repeated"),
    )


def _completed(canvas: Canvas, row: dict[str, Any]) -> None:
    right = canvas.width - 84
    first, *_, last = WINDOWS
    high, unit = _BASE - _TOP, (right - LEFT) / (last - first)
    canvas.text("shares", 0, _TOP - 14, f"completed, of {SEEDS} runs each, by window", "b")
    for share in (0, 50, 100):
        scale(canvas, "share", [share], _BASE, high / 100, right, "{:.0f}%".format)
    x, low = LEFT + (row["window"] - first) * unit, 0.0
    canvas.edge("cause", f"M0 0V{high}", "cause", "d", x=x, y=_TOP)
    for kind in reversed(_KINDS):
        mark = "assistant" if kind == "with" else "user"
        shares = [rows()[window, row["lines"]][kind]["completed"] for window in WINDOWS]
        spots = [
            f"{LEFT + (window - first) * unit:.0f} {_BASE - share * high:.0f}"
            for window, share in zip(WINDOWS, shares, strict=True)
        ]
        canvas.edge(f"{kind} curve", f"M{'L'.join(spots)}", mark, "w")
        canvas.dot(f"{kind} now", x, _BASE - row[kind]["completed"] * high, 5, mark)
        low = max(low + 14, _BASE - shares[-1] * high + 4)
        canvas.text(f"{kind} line", right + 9, low, _NAMES[kind], "", mark)
    canvas.text("window", x, _BASE + 18, f"{row['window']:,}", "bc", "cause")


def _tokens(canvas: Canvas, row: dict[str, Any]) -> None:
    unit = (canvas.width - _LABEL - 40) / _MOST_SENT
    canvas.text("sent", 0, _BARS - 10, "mean tokens sent, where both complete", "b")
    for place, kind in enumerate(_KINDS):
        y, tokens = _BARS + place * _EACH, row[kind]["tokens"]
        canvas.text(f"{kind} sent", 0, y + 12, _NAMES[kind])
        wide = round(tokens * unit)
        canvas.bar(f"{kind} tokens", _LABEL, y, wide, 16, "assistant" if place else "user")
        canvas.text(
            f"{kind} is", _LABEL + wide + 6, y + 12, f"{tokens / 1000:.1f}k" if tokens else "–"
        )


#: Room for the names of the bars, in pixels.
_LABEL = 78

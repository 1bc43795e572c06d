"""Lesson b4's explorable: the first tokens of a reply, with a grammar and without.

Nothing is simulated: the probabilities are those that ``benchmarks/measure_tiny.py`` measured.
"""

from __future__ import annotations

from learnkit.course.lessons.b4.measured import MEASURED
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

WAYS = ("without a grammar", "with a grammar")
_FIRST, _ROW, _NAMES, _NUMBERS = 94, 32, 108, 138


def draw(width: float, step: int, way: str) -> Answer:
    """Draw what the model would say next, what of it was not allowed, and what was taken."""
    steps = MEASURED["tokens"][WAYS.index(way)]["steps"]
    now, canvas = steps[step - 1], Canvas(width)
    said = "".join(one["token"] for one in steps[: step - 1])
    canvas.text("asked", 0, 14, f"Asked: {MEASURED['calls'][0]['rows'][0]['prompt']}", "q")
    lines = wrapped(f"So far: {said.replace(chr(10), '↵') or '(nothing)'}", width, most=2)
    canvas.rows("said", 0, 34, lines)
    canvas.text("next", 0, 80, "What it would say next", "b")
    canvas.text("space", width, 80, "␣ is a space", "qe")
    taken, p_taken, likeliest = now["token"], now["p"], now["likeliest"]
    best, longest = likeliest[0]
    rows = likeliest if taken in dict(likeliest) else [*likeliest[:-1], [taken, p_taken]]
    for place, (token, p) in enumerate(rows):
        y, wide = _FIRST + place * _ROW, max(2, p / longest * (width - _NAMES - _NUMBERS))
        mark, style, verdict = ("cause", "b", " taken") if token == taken else ("system", "", "")
        # Of what is allowed, the most probable one is taken.
        if struck := way == WAYS[1] and token != taken and p > p_taken:
            mark, verdict = "failed", " ✗ not allowed"
        canvas.text(f"token {place}", _NAMES - 8, y + 15, _shown(token), f"{style}e")
        canvas.bar(f"bar {place}", _NAMES, y, wide, 22, mark, "p" * struck)
        if struck:
            canvas.edge(f"struck {place}", f"M-4 0H{wide + 4:g}", mark, x=_NAMES, y=y + 11)
        said = _percent(p) + verdict
        canvas.text(f"p {place}", _NAMES + wide + 10, y + 15, said, style, mark)
    canvas.height = _FIRST + len(rows) * _ROW
    who, because = "model takes", "It is the one that it wanted most."
    if taken != best:
        who = "grammar forces"
        because = f"It wanted “{_shown(best)}” most, and no call or answer goes on like that."
    finding = f"The {who} “{_shown(taken)}”; the model gave it {_percent(p_taken)}."
    return Answer(finding, canvas, _ASSUMES, because)


def explorable() -> Explorable:
    """The tokens, one after the other."""
    return explore(draw, step=drag(range(1, 13), 1, "token"), way=pick(WAYS, WAYS[1], "reply"))


def _shown(token: str) -> str:
    return token.replace("\n", "↵").replace(" ", "␣") + " (new line)" * ("\n" in token)


def _percent(p: float) -> str:
    if p < 0.0001:
        return "< 0.01 %"
    return f"{100 * p:.2g} %" if p < 0.1 else f"{100 * p:.0f} %"


_ASSUMES = (
    f"measured on {MEASURED['date']}: {MEASURED['model']}, {MEASURED['machine']}, temperature 0: "
    "of what is allowed, the most probable token is taken. Probabilities are the model's own, "
    "before the grammar strikes anything out. The longest bar fills the width."
)

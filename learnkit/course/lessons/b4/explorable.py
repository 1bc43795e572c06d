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
    taken, likeliest = [now["token"], now["p"]], now["likeliest"]
    best, wanted = likeliest[0], taken[0] == likeliest[0][0]
    rows = likeliest if taken[0] in dict(likeliest) else [*likeliest[:-1], taken]
    for place, (token, p) in enumerate(rows):
        verdict = "taken" if token == taken[0] else "✗ not allowed" if p > taken[1] else ""
        _bar(canvas, place, token, p, p / best[1], verdict)
    canvas.height = _FIRST + len(rows) * _ROW
    who, it = ("model takes", "it") if wanted else ("grammar forces", "the model")
    finding = f"The {who} {_quoted(taken[0])}, which {it} gave {_percent(taken[1])}."
    because = (
        "It is the one that it wanted most."
        if wanted
        else f"It wanted {_quoted(best[0])} most, but that would be neither a call nor an answer."
    )
    return Answer(finding, canvas, _assumes(), because)


def explorable() -> Explorable:
    """The tokens, one after the other."""
    return explore(draw, step=drag(range(1, 13), 1, "token"), way=pick(WAYS, WAYS[1], "reply"))


def _bar(canvas: Canvas, place: int, token: str, p: float, share: float, verdict: str) -> None:
    """A token and how probable it is; the bar of the most probable one fills the width."""
    y, wide = _FIRST + place * _ROW, max(2, share * (canvas.width - _NAMES - _NUMBERS))
    struck = verdict.startswith("✗")
    mark = "failed" if struck else "cause" if verdict else "system"
    style = "b" if mark == "cause" else ""
    canvas.text(f"token {place}", _NAMES - 8, y + 15, _shown(token), f"{style}e")
    canvas.bar(f"bar {place}", _NAMES, y, wide, 22, mark, "p" * struck)
    if struck:
        canvas.edge(f"struck {place}", f"M-4 0H{wide + 4:g}", mark, x=_NAMES, y=y + 11)
    said = f"{_percent(p)} {verdict}".strip()
    canvas.text(f"p {place}", _NAMES + wide + 10, y + 15, said, style, mark)


def _shown(token: str, form: str = "{}") -> str:
    shown = form.format(token.replace("\n", "↵").replace(" ", "␣"))
    return f"{shown} (new line)" if "\n" in token else shown


def _quoted(token: str) -> str:
    return _shown(token, "“{}”")


def _percent(p: float) -> str:
    if p < 0.0001:
        return "< 0.01 %"
    return f"{100 * p:.2g} %" if p < 0.1 else f"{100 * p:.0f} %"


def _assumes() -> str:
    return (
        f"measured on {MEASURED['date']}: {MEASURED['model']}, {MEASURED['machine']}, temperature "
        "0: of what is allowed, the most probable token is taken. Probabilities are the model's "
        "own, before the grammar strikes anything out. The longest bar fills the width."
    )

"""Lesson b4's explorable: the first tokens of a reply, with a grammar and without.

Nothing is simulated: the probabilities are those that ``benchmarks/measure_tiny.py`` measured.
"""

from __future__ import annotations

from typing import Any

from learnkit.course.lessons.b4.measured import MEASURED
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

WAYS = ("without a grammar", "with a grammar")
_FIRST, _ROW, _NAMES, _NUMBERS = 96, 30, 122, 100


def draw(width: float, step: int, way: str) -> Answer:
    """Draw what the model would say next, and what was taken."""
    steps = MEASURED["tokens"][WAYS.index(way)]["steps"]
    now, canvas = steps[step - 1], Canvas(width)
    said = "".join(one["token"] for one in steps[: step - 1])
    canvas.text("asked", 0, 14, f"Asked: {MEASURED['calls'][0]['rows'][0]['prompt']}", "q")
    lines = wrapped(f"So far: {said.replace(chr(10), '↵') or '(nothing)'}", width, most=2)
    canvas.rows("said", 0, 34, lines)
    canvas.text("next", 0, 78, "What it would say next", "b")
    likeliest = now["likeliest"]
    rows = likeliest if _rank(now) is not None else [*likeliest[:-1], [now["token"], now["p"]]]
    for place, (token, p) in enumerate(rows):
        _bar(canvas, place, token, p, taken=token == now["token"])
    canvas.height = _FIRST + len(rows) * _ROW
    finding = f"Token {step} is {_shown(now['token'])}; the model gave it {_percent(now['p'])}."
    best = _shown(likeliest[0][0])
    because = (
        "It is the one that the model wanted most."
        if _rank(now) == 0
        else f"It wanted {best} most, but that would be neither a call nor an answer."
    )
    return Answer(finding, canvas, _assumes(), because)


def explorable() -> Explorable:
    """The tokens, one after the other."""
    return explore(draw, step=drag(range(1, 13), 1, "token"), way=pick(WAYS, WAYS[1], "reply"))


def _rank(step: dict[str, Any]) -> int | None:
    tokens = [token for token, _ in step["likeliest"]]
    return tokens.index(step["token"]) if step["token"] in tokens else None


def _bar(canvas: Canvas, place: int, token: str, p: float, *, taken: bool) -> None:
    y, room = _FIRST + place * _ROW, canvas.width - _NAMES - _NUMBERS
    canvas.text(f"token {place}", _NAMES - 8, y + 14, _shown(token), "be" if taken else "qe")
    mark = "cause" if taken else "system"
    canvas.bar(f"bar {place}", _NAMES, y, max(2, p * room), 20, mark)
    x = _NAMES + max(2, p * room) + 8
    canvas.text(f"p {place}", x, y + 14, f"{_percent(p)}{' taken' * taken}", "b" if taken else "q")


def _shown(token: str) -> str:
    return token.replace("\n", "↵").replace(" ", "␣")


def _percent(p: float) -> str:
    if p < 0.0001:
        return "< 0.01 %"
    return f"{100 * p:.2g} %" if p < 0.1 else f"{100 * p:.0f} %"


def _assumes() -> str:
    return (
        f"measured on {MEASURED['date']}: {MEASURED['model']}, {MEASURED['machine']}, temperature "
        "0. Probabilities are the model's own, before the grammar strikes anything out. ␣ is a "
        "space, ↵ a line break."
    )

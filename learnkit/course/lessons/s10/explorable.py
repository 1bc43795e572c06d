"""Lesson 10's explorable: what a rule in a prompt adds up to over many turns.

The reader chooses how often a model keeps to it in one turn. All turns have to go well.
"""

from __future__ import annotations

from learnkit.course.lessons.plots import LEFT, scale
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: How often the rule is kept in one turn, as the reader picks it.
RATES = {"90 %": 0.9, "99 %": 0.99, "99.9 %": 0.999}
TURNS = tuple(range(5, 205, 5))
#: The top of the scale and its bottom, in pixels.
_TOP, _BASE = 20, 190


def broken(rate: float, turns: int) -> float:
    """The share of runs in which the rule is broken at least once."""
    return 1 - rate**turns


def draw(width: float, turns: int, kept: str = "99 %") -> Answer:
    """The share of broken runs over the turns, for all rates."""
    canvas, right, tall = Canvas(width), width - 90, _BASE - _TOP

    def at(turn: float) -> float:
        return LEFT + (right - LEFT) * (turn - TURNS[0]) / (TURNS[-1] - TURNS[0])

    scale(canvas, "share", (0, 50, 100), _BASE, tall / 100, right, lambda one: f"{one:g}%")
    for name, rate in RATES.items():
        turned = range(TURNS[0], TURNS[-1] + 1)  # each of them, or the steep curve has corners
        points = [f"{at(n):.1f} {_BASE - tall * broken(rate, n):.1f}" for n in turned]
        mark, style = ("failed", "w") if name == kept else ("plain", "")
        canvas.edge(f"curve {name}", f"M{'L'.join(points)}", mark, style)
        y = float(points[-1].split()[1]) + 4
        canvas.text(f"name {name}", right + 6, y, f"{name} kept", "b", mark)
    canvas.edge("gate", f"M{at(TURNS[0]):.1f} {_BASE}H{right:g}", "done", "w")
    canvas.text("name gate", right + 6, _BASE + 4, "a gate", "b", "done")
    canvas.text("what", LEFT + 4, _TOP - 8, "runs that break the rule", "q")
    share, x = broken(RATES[kept], turns), at(turns)
    percent = _percent(share)
    canvas.edge("turns", f"M0 {_TOP}V{_BASE + 8}", "cause", "w", x=x)
    canvas.dot("here", x, _BASE - tall * share, 6, "failed", says=percent)
    for turn in (TURNS[0], 100, TURNS[-1]):
        canvas.text(f"turn {turn}", at(turn), _BASE + 24, f"{turn} turns", "qc", width=60)
    canvas.height = _BASE + 30
    assumes = (
        f"in each turn the rule is kept with the rate that you pick ({', '.join(RATES)}), whatever "
        "happened before; the rates are no measurement of any model"
    )
    because = f"All {turns} turns have to go well, and the chances multiply."
    finding = f"A rule kept in {kept} of the turns is broken in {percent} of the runs."
    return Answer(finding, canvas, assumes, because, (at(TURNS[0]), _BASE, right, _BASE))


def _percent(share: float) -> str:
    """Whole percents, but never all of them: some run always goes well."""
    return f"{min(99, round(share * 100))} %" if share < 0.995 else "over 99 %"


def explorable() -> Explorable:
    """Let the run get longer, and the model keep to the rule more often."""
    kept = pick([*RATES], "99 %", "kept in one turn")
    return explore(draw, turns=drag(TURNS, 50, "turns in a run"), kept=kept)

"""An explorable as a picture that moves by itself, for a page that runs no script."""

from __future__ import annotations

from learnkit.views.drawing.display import WIDE, Canvas, document, wrapped
from learnkit.widget.explore import Explorable

#: Where the explorable's own picture begins, and what its slider takes below it, in pixels.
_TOP, _SLIDER = 72, 66


def looped(explorable: Explorable, seconds: float = 0.9) -> str:
    """Draw an explorable whose cause is dragged along and back, without end."""
    ((name, cause), *_) = explorable.controls.items()
    places = range(len(cause.values))
    answers = [explorable.answer({**explorable.start, name: place}) for place in places]
    height = _TOP + max(answer.canvas.height for answer in answers)
    order = [*places, *places[-2:0:-1]]
    marks: set[str] = set()
    style, body = [], []
    for place, answer in enumerate(answers):
        frame = Canvas(WIDE)
        frame.text("finding", 0, 16, answer.finding, "h")
        for number, line in enumerate(wrapped(answer.because, WIDE)):
            frame.text(f"because {number}", 0, 36 + 16 * number, line, "q")
        first, _, last, _ = answer.axis or (8, 0, WIDE - 8, 0)
        frame.bar("track", first, height + 18, last - first, 4, "cause", "p")
        x = first + (last - first) * place / places[-1]
        frame.dot("handle", x, height + 20, 9, "cause")
        label = f"{cause.label or name.replace('_', ' ')}: {cause.labels[place]}"
        frame.text("said", 0, height + 50, label, "b", "cause")
        marks |= {shape.mark for shape in (*frame.shapes, *answer.canvas.shapes)}
        inside = _drawn(frame) + f'<g transform="translate(0 {_TOP})">{_drawn(answer.canvas)}</g>'
        body.append(f'<g class="shot f{place}">{inside}</g>')
        style.append(_shown(place, order))
    turn = f"{seconds * len(order):g}s step-end infinite"
    still = f".shot{{animation:none!important}}.f{cause.start}{{visibility:visible}}"
    rules = (
        f".shot{{visibility:hidden;animation:{turn}}}{''.join(style)}"
        f"@media(prefers-reduced-motion:reduce){{{still}}}"
    )
    return document(WIDE, height + _SLIDER, marks, "".join(body), rules, margin=8)


def _drawn(canvas: Canvas) -> str:
    return "".join(shape.markup(static=True) for shape in canvas.shapes)


def _shown(place: int, order: list[int]) -> str:
    """The moments at which a state is visible, as CSS."""
    share = 100 / len(order)
    moments = {0.0: "hidden"}
    for at in (at for at, shown in enumerate(order) if shown == place):
        moments[at * share] = "visible"
        moments[(at + 1) * share] = "hidden"
    steps = "".join(f"{at:.4g}%{{visibility:{how}}}" for at, how in moments.items())
    return f"@keyframes f{place}{{{steps}}}.f{place}{{animation-name:f{place}}}"

"""What a night looks like: its picture, which can be shared, and the card of a notebook."""

from __future__ import annotations

import base64
import textwrap
from typing import Any

from learnkit.course.display.card import Card
from learnkit.course.games.night.alone import SIGHT
from learnkit.course.games.night.fault import PARTS
from learnkit.course.games.night.night import BUDGET, FAULTS, Night
from learnkit.events.text import listed
from learnkit.views.drawing import static
from learnkit.views.drawing.display import SANS
from learnkit.views.drawing.text import esc

RULES = (
    "Twelve things go wrong between 22:00 and 10:00, one an hour. Choose what your harness "
    "carries. Each part adds its prompt and its tools to every request."
)
#: What must stand beside every result.
HONEST = (
    "We wrote each hour for one lesson, so its mechanism decides the result. No model decides: a "
    "program answers, and uses the tools it is offered. At 00:00, 01:00 and 03:00 it reads only "
    f"the last {SIGHT:,} characters of a request, which stands for limited attention. The tools "
    "really run, and each verdict is read from what they leave behind."
)
#: The night that a page without buttons shows.
EXAMPLE = ["tools", "todo", "tasks"]
EXAMPLE_RULES = f"{RULES} In JupyterLab you choose; this night was played with {listed(EXAMPLE)}."
#: How far the bar of tokens reaches: its mark stands at the budget.
REACH = 1.6 * BUDGET

#: The sky from dusk to dawn, in which light text can be read everywhere.
SKY = {0: "#2a2350", 35: "#0f1430", 65: "#101a3a", 85: "#332f58", 100: "#5f3a4e"}
_WIDE, _ROW, _TOP, _TEXT = 864, 38, 218, 300
_STARS = ((520, 28), (566, 62), (612, 22), (660, 48), (704, 78), (742, 24), (836, 92))


def night_card(night: Night, before: str = "") -> Card:
    """Return a night that is over."""
    lines = [
        f"{fault.hour} {'✓ survived' if one.survived else '✗ lost'}: {fault.title}. {fault.story} "
        f"{one.why}"
        for fault, one in zip(FAULTS, night.outcomes, strict=True)
    ]
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    data = base64.b64encode(poster(night).encode()).decode()
    said = "; ".join(line.partition(": ")[0] for line in lines)
    image = f'<img alt="The night: {esc(said)}" src="data:image/svg+xml;base64,{data}">'
    shown = static.form(f"{night.headline}.", image, f"<ul>{items}</ul><p>{esc(HONEST)}</p>")
    intro = f"<p>{esc(before)}</p>" if before else ""
    return Card(f"{intro}{shown}<p>{esc(night.took)}</p>", f"{night.headline}. {night.took}")


def poster(night: Night) -> str:
    """The night as an SVG document: dark on every page, as a night is."""
    stops = "".join(f'<stop offset="{at}%" stop-color="{one}"/>' for at, one in SKY.items())
    body = [
        f'<linearGradient id="sky" x2="0" y2="1">{stops}</linearGradient>',
        f'<rect width="{_WIDE}" height="100%" fill="url(#sky)"/>',
        *(f'<circle cx="{x}" cy="{y}" r="1.2" fill="#dfe6ff"/>' for x, y in _STARS),
        '<path d="M806 26a26 26 0 1 0 18 46a22 22 0 0 1-18-46z" fill="#f4e9c8"/>',
        _text(28, 34, "The night of 14 July", "q"),
        _text(28, 64, night.headline, "h"),
        *_parts(night),
        _text(28, 177, "tokens", "q"),
        *_bar(night.tokens),
    ]
    for place, (fault, one) in enumerate(zip(FAULTS, night.outcomes, strict=True)):
        y, mark = _TOP + 24 + _ROW * place, "ok" if one.survived else "lost"
        tick = "M-5 0l4 4 6-8" if one.survived else "M-4-4 4 4M4-4-4 4"
        lines = textwrap.wrap(one.why, 86, max_lines=2, placeholder=" …")
        body += [
            _text(28, y + 4, fault.hour, "q"),
            f'<g transform="translate(96 {y})"><path class="rail" d="M0-{_ROW // 2}v{_ROW}"/>'
            f'<circle r="10" class="{mark}"/><path class="{mark}" d="{tick}"/></g>',
            _text(122, y + 4, fault.title, "b"),
            *(_text(_TEXT, y + 4 + 15 * n - 7 * (len(lines) - 1), t) for n, t in enumerate(lines)),
        ]
    tall = _TOP + _ROW * len(FAULTS) + 52
    body.append(
        _text(28, tall - 20, "learnkit: build a coding agent, one mechanism at a time", "q")
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{tall}" '
        f'viewBox="0 0 {_WIDE} {tall}"><style>{_RULES}</style>{"".join(body)}</svg>'
    )


_RULES = (
    f"text{{font:12px {SANS};fill:#eef1fb}}.q{{fill:#b9c2dc}}.b{{font-weight:600}}"
    ".h{font-size:24px;font-weight:700}.c{text-anchor:middle}.e{text-anchor:end}"
    ".on{fill:#dfe6ff}.dark{fill:#10264a;font-weight:600}"
    ".off{fill:none;stroke:#8d97b8;stroke-dasharray:3 3}.rail{stroke:#4d5680;stroke-width:2}"
    "path.ok,path.lost{fill:none;stroke-width:2.2}"
    "circle.ok{fill:#7ee2a2}path.ok{stroke:#0f2a1a}"
    "circle.lost{fill:#2a1024;stroke:#ff9fb5;stroke-width:2}path.lost{stroke:#ff9fb5}"
)


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{esc(text)}</text>'


def _parts(night: Night) -> list[Any]:
    """A chip for each part: full if it was chosen, else an outline."""
    shapes, x, y = [_text(28, 104, "it carried", "q")], 122.0, 87
    for part in PARTS:
        wide, has = 7.4 * len(part) + 22, night.harness.has(part)
        if x + wide > _WIDE - 24:
            x, y = 122.0, y + 32
        shapes += [
            f'<rect x="{x:g}" y="{y}" width="{wide:g}" height="25" rx="12.5" '
            f'class="{"on" if has else "off"}"/>',
            _text(x + wide / 2, y + 17, part, "c dark" if has else "c q"),
        ]
        x += wide + 8
    return shapes


def _bar(tokens: int) -> list[str]:
    """The tokens of the night, and the mark of the budget; what lies beyond it is red."""
    left, wide = 122.0, _WIDE - 24 - 122
    most, end = left + wide * BUDGET / REACH, left + wide * min(1.0, tokens / REACH)
    bars = [(left, left + wide, "#ffffff1a"), (left, min(end, most), "#9cc3ff")]
    bars += [(most, end, "#ff9fb5")] * (end > most)
    return [
        *(
            f'<rect x="{a:g}" y="165" width="{b - a:g}" height="16" fill="{c}"/>'
            for a, b, c in bars
        ),
        f'<path d="M{most:g} 160v26" stroke="#eef1fb" stroke-width="2"/>',
        _text(most, 200, f"budget {BUDGET:,}", "c q"),
        _text(left, 200, f"≈{tokens:,}"),
    ]

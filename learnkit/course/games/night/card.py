"""What a night says about itself, and the card of one that is over, for a page without buttons."""

from __future__ import annotations

from learnkit.course.display.card import Card
from learnkit.course.games.night.alone import SIGHT
from learnkit.course.games.night.night import FAULTS, Night
from learnkit.events.text import listed
from learnkit.views.drawing import static
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


def night_card(night: Night) -> Card:
    """Return the night of :data:`EXAMPLE`."""
    played = f"In JupyterLab you choose; this night was played with {listed(EXAMPLE)}."
    rows = [
        (fault.hour, fault.title, fault.story, "✓ survived" if one.survived else "✗ lost", one.why)
        for fault, one in zip(FAULTS, night.outcomes, strict=True)
    ]
    said = f"{night.headline}. {night.took}"
    html = (
        f"<p>{esc(RULES)} {esc(played)}</p><p><strong>{esc(said)}</strong></p>"
        f"{static.table(('hour', 'fault', 'what happens', '', 'why'), rows)}<p>{esc(HONEST)}</p>"
    )
    return Card(html, said)

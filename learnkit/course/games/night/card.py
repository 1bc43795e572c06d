"""What a night looks like as a card in a notebook."""

from __future__ import annotations

from learnkit.course.display.card import Card
from learnkit.course.games.night.fault import PARTS
from learnkit.course.games.night.night import BUDGET, FAULTS, Night, standing_costs
from learnkit.views.drawing import static
from learnkit.views.drawing.text import esc

RULES = (
    "Twelve things go wrong between 22:00 and 10:00, one an hour. Choose the parts of your "
    "harness, and see which hours it survives. Each part adds its prompt and its tools to every "
    f"request, and your budget for the night is ≈{BUDGET:,} tokens."
)
#: What must stand beside every result.
HONEST = (
    "We wrote each hour for one lesson, so its mechanism decides the result. At 00:00, 01:00 and "
    "03:00 a simulated model with limited attention works, ten times. In the other hours a program "
    "answers for the model, and uses the tools it is offered. Neither is an LLM. In those nine "
    "hours the tools really run, and each verdict is read from what they leave behind."
)
_HEAD = ["hour", "what happens", "result", "why", "requests"]


def rules_card() -> Card:
    """Return the rules of the night, and what each part costs."""
    costs = [[part, f"≈{cost:,}"] for part, cost in standing_costs().items()]
    table = static.table(["part", "tokens in each request"], costs)
    html = f"<p>{esc(RULES)}</p>{hours_table()}{table}<p>{esc(HONEST)}</p>"
    return Card(html, f"The night of 14 July: {len(FAULTS)} faults, {len(PARTS)} parts.")


def hours_table() -> str:
    """Return what goes wrong in each hour, as an HTML table."""
    hours = [[one.hour, f"{one.title}. {one.story}"] for one in FAULTS]
    return static.table(["hour", "what happens"], hours)


def night_card(night: Night) -> Card:
    """Return a night that is over."""
    said = f"<p><strong>{esc(night.finding)}</strong></p>"
    return Card(f"{said}{_hours(night)}<p>{esc(HONEST)}</p>", night.finding)


def _hours(night: Night) -> str:
    """What is left of the budget, and the hours as a table that a phone shows as blocks."""
    rows = [
        [
            fault.hour,
            f"{fault.title}. {fault.story}",
            "✓\N{NO-BREAK SPACE}survived" if one.survived else "✗\N{NO-BREAK SPACE}lost",
            one.why,
            one.requests,
        ]
        for fault, one in zip(FAULTS, night.outcomes, strict=False)
    ]
    unused = f"<p>{esc(night.unused)}</p>" if night.unused else ""
    table = static.table(_HEAD, rows)
    return f'{unused}<style>{_NARROW}</style><div class="lk-night">{table}</div>'


_NARROW = (
    ".lk-night{container-type:inline-size}@container (max-width:36rem){"
    ".lk-night thead{display:none}.lk-night tr{display:block;padding:.6rem 0}"
    ".lk-night td{display:block;border:0;padding:.1rem 0;text-align:left!important;"
    "max-width:none!important;white-space:normal}.lk-night td:last-child{display:none}}"
)

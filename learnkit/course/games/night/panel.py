"""The night as a widget: the learner chooses parts, and the hours come one after the other.

All hours have run in a second or two. The page shows each when its turn has come, or at once.
``widget.js`` says what it gets and sends.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from learnkit.course.display.page import Page, script_beside
from learnkit.course.games.night import card
from learnkit.course.games.night.fault import NEEDS, Fault, Outcome
from learnkit.course.games.night.night import (
    BUDGET,
    CONVERSATION,
    FAULTS,
    REQUESTS,
    play,
    standing_costs,
)
from learnkit.views.drawing.base import css_beside

#: How far the bar of tokens reaches: its mark stands at the budget.
REACH = 1.6 * BUDGET


class NightPanel(Page):
    """The page of the night, on which a harness is chosen, and played as often as one likes."""

    _esm = script_beside(__file__)

    def __init__(self) -> None:
        start = {
            "rules": card.RULES,
            "honest": card.HONEST,
            "parts": [
                {"name": name, "cost": cost, "needs": NEEDS.get(name, ())}
                for name, cost in standing_costs().items()
            ],
            "hours": [{"hour": f.hour, "title": f.title, "story": f.story} for f in FAULTS],
            "budget": BUDGET,
            "reach": REACH,
            "requests": REQUESTS,
            "conversation": CONVERSATION,
        }
        super().__init__([css_beside(__file__)], start, self._chosen)

    def _chosen(self, intent: dict[str, Any]) -> None:
        if isinstance(intent.get("play"), list):
            self.play(intent["play"])

    def play(self, parts: list[str]) -> None:
        """Play the night with these parts, and send each hour to the page."""

        def seen(fault: Fault, outcome: Outcome) -> None:
            lesson = int(fault.lesson[1:])
            self.send({"passed": {**asdict(outcome), "lesson": lesson}})

        try:
            night = play(parts, seen)
        except Exception as error:  # the page shows no traceback
            head = f"✗ The harness raised {type(error).__name__}: {error}"
            self.send({"over": {"head": head, "line": "Play without that part."}})
        else:
            self.send({"over": {"head": night.headline, "line": night.took}})

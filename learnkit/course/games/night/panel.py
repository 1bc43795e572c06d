"""The night as widgets: a box to tick for each part, a button, and the hours as they pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from learnkit.core.mechanism import Mechanism
from learnkit.course.games.night import card
from learnkit.course.games.night.fault import NEEDS, PARTS, Fault, Outcome
from learnkit.course.games.night.night import FAULTS, Night, play, standing_costs
from learnkit.errors import lab_extra
from learnkit.events.text import listed
from learnkit.views.drawing.text import esc

with lab_extra():
    import ipywidgets as widgets


class NightPanel:
    """Lets the learner choose a harness, and plays the night when asked to.

    Attributes:
        box: the widget to show.
        boxes: part -> the box to tick.
        start: plays the night.
    """

    def __init__(
        self, own: Mapping[str, Callable[..., Mechanism]], over: Callable[[Night], object]
    ) -> None:
        self._own, self._over = own, over
        costs = standing_costs()
        self.boxes = {
            part: widgets.Checkbox(
                description=f"{part} (+{costs[part]:,} tokens{' · yours' if part in own else ''})",
                indent=False,
            )
            for part in PARTS
        }
        self.start = widgets.Button(
            description="Start the night", button_style="primary", layout={"width": "auto"}
        )
        self._sum, self._shown = widgets.HTML(), widgets.HTML()
        for one in self.boxes.values():
            one.observe(lambda _: self._count(), names="value")
        self.start.on_click(lambda _: self._play())
        columns = widgets.GridBox(
            list(self.boxes.values()),
            layout={"grid_template_columns": "repeat(auto-fill, minmax(230px, 1fr))"},
        )
        hours = f"<details><summary>The twelve hours</summary>{card.hours_table()}</details>"
        rules = widgets.HTML(f"<p>{esc(card.RULES)}</p>{hours}")
        self.box = widgets.VBox([rules, columns, self._sum, self.start, self._shown])
        self._count()

    @property
    def parts(self) -> list[str]:
        """What is ticked."""
        return [part for part, one in self.boxes.items() if one.value]

    def _count(self) -> None:
        costs = standing_costs()
        total = sum(costs[part] for part in self.parts)
        missing = [
            f"{part} needs {listed([one for one in needed if one not in self.parts])}"
            for part, needed in NEEDS.items()
            if part in self.parts and not set(needed) <= set(self.parts)
        ]
        self.start.disabled = bool(missing)
        said = f"The parts you ticked add ≈{total:,} tokens to every request."
        if missing:
            said = f"You can't start yet: {'; '.join(missing)}."
        self._sum.value = f"<p>{esc(said)}</p>"

    def _play(self) -> None:
        self.start.disabled = True
        rows: list[str] = []

        def passed(fault: Fault, outcome: Outcome) -> None:
            mark = "✓" if outcome.survived else "✗"
            rows.append(f"<p>{mark} {esc(f'{fault.hour} {fault.title}: {outcome.why}')}</p>")
            self._shown.value = "".join(rows)

        try:
            night = play(self.parts, self._own, passed)
        except Exception as error:  # of a class of the learner's
            hour = FAULTS[len(rows)].hour
            said = f"At {hour} the harness raised {type(error).__name__}: {error}."
            self._shown.value = f"{''.join(rows)}<p>✗ {esc(said)}</p>"
            return
        finally:
            self._count()
        self._shown.value = card.night_card(night).html
        self._over(night)

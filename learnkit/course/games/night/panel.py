"""The night as widgets: a box to tick for each part, a button, and the hours as they pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from learnkit.core.mechanism import Mechanism
from learnkit.course.games.night import card
from learnkit.course.games.night.fault import NEEDS, PARTS, Fault, Outcome
from learnkit.course.games.night.night import FAULTS, Night, play, standing_costs
from learnkit.errors import UsageError, lab_extra
from learnkit.events.text import listed
from learnkit.runtime import atomic_write
from learnkit.views.drawing.text import esc

with lab_extra():
    import ipywidgets as widgets

#: The page to share is written beside the notebook.
PAGE = "night-of-14-july.html"


class NightPanel:
    """Lets the learner choose a harness, and plays the night when asked to.

    Attributes:
        box: the widget to show.
        boxes: part -> the box to tick.
        start: plays the night.
        save: writes the page; it is there once a night is over.
        night: the last one.
    """

    def __init__(
        self, own: Mapping[str, Callable[..., Mechanism]], over: Callable[[Night], object]
    ) -> None:
        self._own, self._over = own, over
        self.night: Night | None = None
        costs = standing_costs()
        self.boxes = {
            part: widgets.Checkbox(
                description=f"{part} (+{costs[part]:,} tokens{' · yours' if part in own else ''})",
                indent=False,
            )
            for part in PARTS
        }
        wide = {"width": "auto"}  # or the labels are cut
        self.start = widgets.Button(
            description="Start the night", button_style="primary", layout=wide
        )
        self.save = widgets.Button(description="Save a page to share", layout=wide)
        self._over_yet(False)
        self._sum, self._shown = widgets.HTML(), widgets.HTML()
        for one in self.boxes.values():
            one.observe(lambda _: self._count(), names="value")
        self.start.on_click(lambda _: self._play())
        self.save.on_click(lambda _: self._write())
        columns = widgets.GridBox(
            list(self.boxes.values()),
            layout={"grid_template_columns": "repeat(auto-fill, minmax(230px, 1fr))"},
        )
        hours = f"<details><summary>The twelve hours</summary>{card.hours_table()}</details>"
        rules = widgets.HTML(f"<p>{esc(card.RULES)}</p>{hours}")
        buttons = widgets.HBox([self.start, self.save])
        self.box = widgets.VBox([rules, columns, self._sum, buttons, self._shown])
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
        self._over_yet(False)
        rows: list[str] = []

        def passed(fault: Fault, outcome: Outcome) -> None:
            mark = "✓" if outcome.survived else "✗"
            rows.append(f"<p>{mark} {esc(f'{fault.hour} {fault.title}: {outcome.why}')}</p>")
            self._shown.value = "".join(rows)

        try:
            self.night = play(self.parts, self._own, passed)
        except Exception as error:  # of a class of the learner's
            hour = FAULTS[len(rows)].hour
            said = f"At {hour} the harness raised {type(error).__name__}: {error}."
            self._shown.value = f"{''.join(rows)}<p>✗ {esc(said)}</p>"
            return
        finally:
            self._count()
        self._shown.value = card.night_card(self.night).html
        self._over_yet(True)
        self._over(self.night)

    def _over_yet(self, yes: bool) -> None:
        """Offer to save a page only when there is a night to save."""
        self.save.disabled = not yes
        self.save.layout.display = None if yes else "none"

    def _write(self) -> None:
        if self.night is None:
            raise UsageError("no night has been played yet; press Start first")
        atomic_write.replace(Path.cwd() / PAGE, card.page(self.night))
        self._shown.value += f"<p>Saved as {esc(PAGE)}, beside this notebook.</p>"

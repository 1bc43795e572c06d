"""Find the race: an order of steps under which an inbox loses a message, made as short as possible.

One seed is one order in which several writers and one reader take their steps. The game tries all
seeds, shrinks the first schedule that fails, and shows it step by step. In a notebook, nothing runs
before its button is pressed. The static form shows the shrunk schedule at once, and imports nothing
of ipywidgets.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from learnkit.course.display.card import STYLE, bundle
from learnkit.course.games.races import schedules
from learnkit.course.games.races.schedules import Make, Schedule
from learnkit.errors import described, lab_extra
from learnkit.events.text import count
from learnkit.runtime.notebook import is_live
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import esc
from learnkit.views.schedule import Schedule as View

#: The seeds that are tried, each another order of steps.
SEEDS = range(100)
_ORDERS = f"{len(SEEDS)} seeds to try, each another order of steps. Some may lose a message."


class RaceFinder:
    """The game; as the last line of a cell, it shows itself.

    Attributes:
        choose: runs a seed, unless it was tried before, and returns its schedule.
    """

    def __init__(self, make: Make) -> None:
        self.make = make
        self.choose = cache(partial(schedules.run, make))

    def find(self) -> tuple[Schedule, str]:
        """Try all seeds; return the smallest schedule that fails, and what was found."""
        every = [self.choose(seed) for seed in SEEDS]
        failing = [one for one in every if one.fails]
        loses = "loses" if len(failing) < 2 else "lose"
        result = f"{len(failing) or 'None'} of {count(len(every), 'seed')} {loses} a message."
        if not failing:
            return every[0], result
        first = failing[0]
        small, steps = schedules.shrink(self.make, first), count(len(first.steps), "step")
        enough = f"{len(small.steps)} of the {steps} of seed {first.seed} are enough"
        return small, f"{result} {enough}: {small.sentence}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if is_live():
            return {**bundle(self.box()), "text/plain": f"find the race: {_ORDERS}"}
        small, said = self.find()
        html = f"<p>{esc(said)}</p>{View(small.events).embedded()}"
        return {"text/html": html, "text/plain": f"find the race: {said}"}

    def box(self) -> Any:
        """The button, what was found, and below it the player."""
        from learnkit.widget.host import Player

        with lab_extra():
            import ipywidgets as widgets

        def spoken(html: str) -> str:
            return f'<div role="status" aria-live="polite">{html}</div>'

        button = widgets.Button(description="find a seed that loses a message, and shrink it")
        button.add_class("lk-primary")
        status, shown = widgets.HTML(spoken(_ORDERS)), widgets.VBox()

        def find(_: object) -> None:
            try:
                small, said = self.find()
            except Exception as error:  # no cell would print an inbox's error
                status.value = spoken(esc(f"{theme.ERROR.glyph} {described(error)}"))
                return
            player = Player(View(small.events))
            player.settle()
            button.disabled = True
            status.value, shown.children = spoken(esc(said)), (player,)

        button.on_click(find)
        box = widgets.VBox([widgets.HBox([button, widgets.HTML(STYLE)]), status, shown])
        box.add_class("lk-race")
        return box

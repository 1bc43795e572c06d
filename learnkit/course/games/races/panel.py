"""Find the race: choose a seed, and with it an order, under which an inbox loses a message.

One seed is one order in which several writers and one reader take their steps. The game tries
seeds, shrinks a schedule that fails, and shows it step by step. In a notebook, nothing runs
before a button is pressed. The static form shows the shrunk schedule at once, and imports nothing
of ipywidgets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from learnkit.course.display.card import bundle
from learnkit.course.games.races import schedules
from learnkit.course.games.races.schedules import Make, Schedule
from learnkit.errors import described, lab_extra
from learnkit.events.text import count
from learnkit.runtime.notebook import is_live
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import NARROW, Canvas
from learnkit.views.drawing.text import esc
from learnkit.views.schedule import Schedule as View

if TYPE_CHECKING:
    import ipywidgets


#: The seeds that are tried, each another order of steps.
SEEDS = range(100)


class RaceFinder:
    """The game; as the last line of a cell, it shows itself.

    Attributes:
        tried: seed -> its schedule, in the order in which they were tried.
        shown: the schedule that is shown now; None before the first one.
        said: what happened last, in a sentence.
    """

    def __init__(self, make: Make) -> None:
        self.make = make
        self.tried: dict[int, Schedule] = {}
        self.shown: Schedule | None = None
        self.said = _ORDERS
        self._seed = -1  # the last one that was shown
        self._box: Any = None
        self._player: Any = None

    # What the learner can do, with a widget or without one

    def choose(self, seed: int) -> Schedule:
        """Run a seed, unless it was tried before, and show its schedule."""
        return self._show(self._run(seed), "")

    def find(self) -> Schedule | None:
        """Try the seeds after the chosen one, then those before it, until one fails."""
        at = self._seed + 1
        for number, seed in enumerate([*SEEDS[at:], *SEEDS[:at]], 1):
            if self._run(seed).fails:
                return self._show(self.tried[seed], f"Found after {count(number, 'seed')}.")
        self._show(self.tried[SEEDS[0]], _result(self.tried.values()))
        return None

    def shrink(self) -> Schedule | None:
        """Make the shown schedule as small as possible."""
        before = self.shown
        if before is None or not before.fails:
            self.said = "Nothing is lost here: first find a seed that loses a message."
            return None
        small = schedules.shrink(self.make, before)
        return self._show(small, _enough(small, before))

    # How it is shown

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if is_live():
            return {**bundle(self.box), "text/plain": f"find the race: {_ORDERS}"}
        one, said = self._summary()
        html = f"<p>{esc(said)}</p>{View(one.events).embedded()}"
        return {"text/html": html, "text/plain": f"find the race: {said}"}

    def __repr__(self) -> str:
        return f"find the race: {self.said}"

    @property
    def box(self) -> ipywidgets.VBox:
        """The controls, and the player below them."""
        if self._box is None:
            self._build()
        return self._box

    def _summary(self) -> tuple[Schedule, str]:
        """For a page without controls: the result of all seeds, and the smallest schedule."""
        failing = [one for one in map(self._run, SEEDS) if one.fails]
        result = _result(self.tried.values())
        if not failing:
            return self.tried[SEEDS[0]], result
        first, small = failing[0], schedules.shrink(self.make, failing[0])
        return small, f"{result} {_enough(small, first)}"

    def _run(self, seed: int) -> Schedule:
        if seed not in self.tried:
            self.tried[seed] = schedules.run(self.make, seed)
        return self.tried[seed]

    def _show(self, schedule: Schedule, text: str) -> Schedule:
        self.shown, line = schedule, str(schedule)
        if schedule.seed is None:
            line = line.replace("schedule", f"seed {self._seed}, shrunk")
        else:
            self._seed = schedule.seed
        self.said = f"{line}. {text}".strip()
        if self._box is not None:
            self._refresh(schedule)
        return schedule

    def _build(self) -> None:
        from learnkit.course.display.question_widgets import STYLE, spoken

        with lab_extra():
            import ipywidgets as widgets

        self.finds = widgets.Button(description="find a seed that loses a message")
        self.finds.add_class("lk-primary")
        self.finds.on_click(lambda _: self._do(self.find))
        self.shrinks = widgets.Button(description="shrink it", disabled=True)
        self.shrinks.on_click(lambda _: self._do(self.shrink))
        self._status, self._dots = widgets.HTML(spoken(_ORDERS)), widgets.HTML(self._seeds())
        self._shown_player = widgets.VBox()
        acts = widgets.HBox([self.finds, self.shrinks, widgets.HTML(STYLE)])
        self._box = widgets.VBox([acts, self._status, self._dots, self._shown_player])
        self._box.add_class("lk-race")

    def _do(self, act: Callable[[], object]) -> None:
        """Do what a button asks for, and show an inbox's error, which no cell would print."""
        from learnkit.course.display.question_widgets import spoken

        try:
            act()
        except Exception as error:
            self._status.value = spoken(esc(f"{theme.ERROR.glyph} {described(error)}"))

    def _refresh(self, schedule: Schedule) -> None:
        """Update the widgets to what is shown now."""
        from learnkit.course.display.question_widgets import spoken
        from learnkit.widget.host import Player

        self.shrinks.disabled = not schedule.fails
        self._status.value, self._dots.value = spoken(esc(self.said)), self._seeds()
        old, self._player = self._player, Player(View(schedule.events))
        self._player.settle()
        self._shown_player.children = (self._player,)
        if old is not None:
            old.close()

    def _seeds(self) -> str:
        """A dot for each seed, which tells those that were tried."""
        canvas = Canvas(NARROW)
        for seed in SEEDS:
            one, x, y = self.tried.get(seed), 8 + 12.6 * (seed % 25), 8 + 14 * (seed // 25)
            if one and one.fails:
                canvas.text(f"{seed}", x, y + 5, theme.ERROR.glyph, "bc", "error", width=12)
            else:
                canvas.dot(f"{seed}", x, y, 5, "done" if one else "")
        canvas.height += 3
        return canvas.inline(_result(self.tried.values()))


_ORDERS = f"{len(SEEDS)} seeds to try, each another order of steps. Find one that loses a message."


def _enough(small: Schedule, before: Schedule) -> str:
    """How many steps are left of a schedule, and what they do."""
    steps = count(len(before.steps), "step")
    of = "" if before.seed is None else f" of seed {before.seed}"
    return f"{len(small.steps)} of the {steps}{of} are enough: {small.sentence}"


def _result(schedules: Iterable[Schedule]) -> str:
    """In how many schedules a message is lost, in a sentence."""
    fails = [one.fails for one in schedules]
    lost = sum(fails)
    loses = "lose" if lost > 1 else "loses"
    return f"{lost or 'None'} of {count(len(fails), 'seed')} {loses} a message."

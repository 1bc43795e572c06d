"""The panel as a widget, and below it the place where the cell's output goes when it runs again."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from learnkit.course.display.page import Page, script_beside
from learnkit.course.first_edit import desk
from learnkit.course.first_edit.panel import Panel
from learnkit.course.first_edit.seat import CellSeat
from learnkit.course.games.be_the_model.widget import SessionPanel
from learnkit.errors import lab_extra
from learnkit.views.drawing.base import css_beside

with lab_extra():
    import ipywidgets


class EditPanel(Page):
    """The panel's page."""

    _esm = script_beside(__file__)

    def __init__(self, panel: Panel) -> None:
        super().__init__([css_beside(__file__)], panel.message(), panel.act, panel.name)
        panel.screen = self.send


class Place:
    """The panel, and what is below it.

    Attributes:
        box: the widget to display.
    """

    def __init__(self, panel: Panel) -> None:
        self._page = EditPanel(panel)
        self._below = ipywidgets.VBox([])
        self._output: ipywidgets.Output | None = None
        self._seat: SessionPanel | None = None
        self.box = ipywidgets.VBox([self._page, self._below])
        panel.place, panel.seated = self._place, self._seated

    def _place(self) -> AbstractContextManager[Any]:
        """A new, empty place for output; a seat stays where it is, above it."""
        last, self._output = self._output, ipywidgets.Output()
        self._show()
        if last is not None:
            last.close()
        place: AbstractContextManager[Any] = self._output
        return place

    def _seated(self, seat: CellSeat) -> None:
        self._seat = SessionPanel(seat.act, seat.message(), desk.opened(seat))
        seat.tell = self._seat.send
        self._show()

    def _show(self) -> None:
        self._below.children = [one for one in (self._seat, self._output) if one is not None]

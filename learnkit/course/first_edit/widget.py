"""The panel as a widget, and below it the place where the cell's output goes when it runs again."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from learnkit.course.first_edit import desk
from learnkit.course.first_edit.panel import Panel
from learnkit.course.first_edit.seat import CellSeat
from learnkit.course.games.be_the_model.widget import SessionPanel
from learnkit.errors import lab_extra
from learnkit.views.drawing import theme
from learnkit.widget import host

with lab_extra():
    import anywidget
    import ipywidgets
    import traitlets

_HERE = Path(__file__).parent


class EditPanel(anywidget.AnyWidget):
    """The panel's page."""

    _esm = "\n".join([host.script("parts.js"), (_HERE / "widget.js").read_text("utf-8")])
    css = traitlets.Unicode().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    desk = traitlets.Unicode().tag(sync=True)

    def __init__(self, panel: Panel) -> None:
        own = (_HERE / "widget.css").read_text("utf-8")
        looks = [theme.stylesheet(), host.script("player.css"), own]
        super().__init__(css="\n".join(looks), start=panel.message(), desk=panel.name)
        self._panel = panel
        panel.screen = self.send
        self.on_msg(self._on_message)

    def _on_message(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict):
            self._panel.act(content)


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

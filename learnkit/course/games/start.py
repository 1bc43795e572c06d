"""A Start button. A game does nothing before it is pressed, so it costs a Run All nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnkit.course.display.question_widgets import STYLE
from learnkit.errors import described, lab_extra
from learnkit.views.drawing.text import esc

with lab_extra():
    import ipywidgets as widgets


class Start:
    """A button, and below it what it starts.

    The button stays where it is, so that the keyboard's focus does: it starts the game again.

    Attributes:
        box: the widget to show.
        button: starts the game.
        below: has the game's widgets.
    """

    def __init__(self, begin: Callable[[], list[Any]], about: str) -> None:
        self._begin = begin
        self.button = widgets.Button(description="Start")
        self.button.on_click(lambda _: self.press())
        self._about = widgets.HTML(esc(about))
        self.below = widgets.VBox([])
        head = widgets.HBox([self.button, self._about, widgets.HTML(STYLE)])
        self.box = widgets.VBox([head, self.below])
        self.box.add_class("lk-start")

    def press(self) -> None:
        """Start the game, or start it again; an error is shown here, since no cell would."""
        self.button.description, self._about.value = "Start again", ""
        try:
            self.below.children = self._begin()
        except Exception as error:
            self.say(f"✗ {described(error)}")

    def say(self, text: str) -> None:
        """Show a sentence beside the button, in place of the one before."""
        self._about.value = f'<span role="alert">{esc(text)}</span>'

    def count(self, text: str) -> None:
        """Show what changes all the time beside the button; a screen reader isn't interrupted."""
        self._about.value = esc(text)

"""The card of a game: what it is about, what is played, and the button that starts it.

A game does nothing before Start is pressed, so it costs a Run All nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnkit.course.display.question_widgets import STYLE
from learnkit.errors import described, lab_extra
from learnkit.views.drawing.text import esc

with lab_extra():
    import ipywidgets as widgets


class Start:
    """A card. Its button stays, so that the keyboard's focus does: it starts the game again.

    Attributes:
        box: the widget to show.
        button: starts the game.
        below: has the game's widgets.
    """

    def __init__(self, begin: Callable[[], list[Any]], about: str) -> None:
        self._begin, self._task = begin, about
        self.button = widgets.Button(description="Start")
        self.button.on_click(lambda _: self.press())
        self._about = widgets.HTML(esc(about))
        self.below = widgets.VBox([])
        row = widgets.HBox([self.button, widgets.HTML(STYLE)])
        self.box = widgets.VBox([self._about, self.below, row])
        self.box.add_class("lk-start")

    def press(self) -> None:
        """Start the game, or start it again; an error is shown here, since no cell would."""
        self.button.description, self._about.value = "Start again", esc(self._task)
        try:
            self.below.children = self._begin()
        except Exception as error:
            self.say(f"✗ {described(error)}")

    def say(self, text: str) -> None:
        """Show a sentence at the top, in place of the one before."""
        self._about.value = f'<span role="alert">{esc(text)}</span>'

    def count(self, text: str) -> None:
        """Show what changes all the time at the top; a screen reader isn't interrupted."""
        self._about.value = esc(text)

"""The hunt as widgets: a chooser, the run in a player, four buttons, and what was wrong."""

from __future__ import annotations

from learnkit.course.display.buttons import STYLE, Choice, spoken
from learnkit.course.display.card import inline
from learnkit.course.display.cards import explained
from learnkit.course.games.mutants.catalogue import Mutant
from learnkit.course.games.mutants.game import Hunt, line, number
from learnkit.errors import lab_extra
from learnkit.views.drawing.text import esc
from learnkit.widget.host import Player

with lab_extra():
    import ipywidgets as widgets


class HuntBox:
    """One mutant at a time.

    Args:
        hunt: the mutants, and what was answered.

    Attributes:
        box: the widget to show.
        chooser: which mutant is shown.
        choice: its four answers.
    """

    def __init__(self, hunt: Hunt) -> None:
        self._hunt = hunt
        self._players: list[Player] = []
        self.choice: Choice
        self.chooser = widgets.Dropdown(description="mutant", options=self._options(), value=0)
        self.next = widgets.Button(description="next one")
        self.next.on_click(lambda _: self._turn())
        self._score = widgets.HTML()
        self._stage = widgets.VBox()
        head = widgets.HBox([self.chooser, self.next, self._score])
        self.box = widgets.VBox([widgets.HTML(STYLE), head, self._stage])
        self.box.add_class("lk-choice")
        self.chooser.observe(lambda change: self.show(change["new"]), names="value")
        self.show(0)

    def show(self, place: int) -> None:
        """Play a mutant, and ask.

        Args:
            place: from 0.
        """
        mutant = self._hunt.mutants[place]
        self._clear()
        self.choice = Choice(
            "Which line of the harness is wrong?",
            mutant.options,
            lambda letter: self._answered(mutant, letter),
            lambda letter: _feedback(mutant, letter),
        )
        scene = widgets.HTML(f"<p>{inline(mutant.scene)}</p>")
        self._stage.children = [scene, self._player(mutant), self.choice.box]
        self._tell()

    def close(self) -> None:
        """Remove the widgets, and let the players go."""
        self._clear()
        self.box.close()

    def _answered(self, mutant: Mutant, letter: str) -> None:
        self._hunt.answer(mutant, letter)
        title = widgets.HTML("<p><strong>The same run, with the line as it should be:</strong></p>")
        self._stage.children = [*self._stage.children, title, self._player(mutant, sound=True)]
        place = self.chooser.value
        with self.chooser.hold_trait_notifications():
            self.chooser.options = self._options()
            self.chooser.value = place
        self._tell()

    def _player(self, mutant: Mutant, *, sound: bool = False) -> Player:
        player = Player(self._hunt.shown(mutant, sound=sound))
        player.settle()
        self._players.append(player)
        return player

    def _turn(self) -> None:
        self.chooser.value = (self.chooser.value + 1) % len(self._hunt.mutants)

    def _options(self) -> list[tuple[str, int]]:
        return [
            (f"{self._hunt.mark(one)} {number(one)}".strip(), place)
            for place, one in enumerate(self._hunt.mutants)
        ]

    def _tell(self) -> None:
        self._score.value = spoken(esc(self._hunt.score()))

    def _clear(self) -> None:
        self._stage.children = []
        for player in self._players:
            player.close()
        self._players.clear()


def _feedback(mutant: Mutant, letter: str) -> str:
    head = "✓ killed" if letter == mutant.right else f"✗ it is {mutant.right}"
    why = explained(mutant.options, mutant.right, letter)
    return f"<strong>{head}</strong>{why}{line(mutant)}"

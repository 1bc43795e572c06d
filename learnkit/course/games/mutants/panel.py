"""The game as widgets: a chooser, the run in a player, and the lines of code as buttons.

An answer shows the faulty line, and the same run without the fault.
"""

from __future__ import annotations

from learnkit.course.display.card import inline
from learnkit.course.display.question_widgets import STYLE, Choice, spoken
from learnkit.course.games.mutants.game import MutantGame, fault
from learnkit.course.games.mutants.mutant import Mutant
from learnkit.errors import lab_extra
from learnkit.views.drawing.text import esc
from learnkit.widget.host import Player

with lab_extra():
    import ipywidgets as widgets


class MutantsPanel:
    """Shows one mutant at a time.

    Args:
        game: the mutants, and what was answered.

    Attributes:
        box: the widget to show.
        chooser: which mutant is shown.
        choice: the lines to press.
    """

    def __init__(self, game: MutantGame) -> None:
        self._game = game
        self._players: list[Player] = []
        self.choice: Choice
        self.chooser = widgets.Dropdown(description="mutant", options=self._options(), value=0)
        self.next = widgets.Button(description="next one")
        self.next.on_click(lambda _: self._next_one())
        self._score = widgets.HTML()
        self._shown = widgets.VBox()
        head = widgets.HBox([self.chooser, self.next, self._score])
        self.box = widgets.VBox([widgets.HTML(STYLE), head, self._shown])
        self.box.add_class("lk-choice")
        self.chooser.observe(lambda change: self.show(change["new"]), names="value")
        self.show(0)

    def show(self, index: int) -> None:
        """Play a mutant's run, and ask which line is wrong.

        Args:
            index: the mutant's index, from 0.
        """
        mutant = self._game.mutants[index]
        self._clear()
        lines, wrong = mutant.lines()

        def feedback(number: str) -> str:
            head = "✓ killed" if number == str(wrong) else f"✗ it is line {wrong}"
            return f"<strong>{head}</strong>{fault(mutant)}"

        self.choice = Choice(
            f"Which line of `{mutant.module}` is wrong? Press it.",
            {str(number): line for number, line in lines.items()},
            lambda number: self._answered(mutant, number == str(wrong)),
            feedback,
            str(wrong),
        )
        self.choice.box.add_class("lk-lines")
        scene = widgets.HTML(f"<p>{inline(mutant.scene)}</p>")
        self._shown.children = [scene, self._player(mutant), self.choice.box]
        self._show_score()

    def close(self) -> None:
        """Close the widgets and their players."""
        self._clear()
        self.box.close()

    def _answered(self, mutant: Mutant, found: bool) -> None:
        self._game.answer(mutant, found)
        title = widgets.HTML("<p><strong>The same run, with the line as it should be:</strong></p>")
        self._shown.children = [*self._shown.children, title, self._player(mutant, fault=False)]
        index = self.chooser.value
        with self.chooser.hold_trait_notifications():
            self.chooser.options = self._options()
            self.chooser.value = index
        self._show_score()

    def _player(self, mutant: Mutant, *, fault: bool = True) -> Player:
        player = Player(self._game.view(mutant, fault=fault))
        player.settle()
        self._players.append(player)
        return player

    def _next_one(self) -> None:
        self.chooser.value = (self.chooser.value + 1) % len(self._game.mutants)

    def _options(self) -> list[tuple[str, int]]:
        return [
            (f"{self._game.mark(one)} {one.number}".strip(), index)
            for index, one in enumerate(self._game.mutants)
        ]

    def _show_score(self) -> None:
        self._score.value = spoken(esc(self._game.score()))

    def _clear(self) -> None:
        self._shown.children = []
        for player in self._players:
            player.close()
        self._players.clear()

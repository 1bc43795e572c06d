"""The game for committed outputs: only the first mutant, with its answer under a fold."""

from __future__ import annotations

from learnkit.course.display.card import Card, inline
from learnkit.course.games.mutants.game import MutantGame, fault
from learnkit.views.drawing.text import esc


def mutants_card(game: MutantGame) -> Card:
    """Return the game's first mutant as a card.

    Args:
        game: the mutants.
    """
    mutant, score = game.mutants[0], game.score()
    view = game.view(mutant)
    lines, _ = mutant.lines()
    code = "\n".join(f"{number:4}  {line}" for number, line in lines.items())
    html = (
        f"<p>{esc(score)}</p>"
        f"<p><strong>Mutant {mutant.number}.</strong> {inline(mutant.scene)}</p>"
        f"{view.embedded()}"
        f"<p><strong>Which line of <code>{esc(mutant.module)}</code> is wrong?</strong></p>"
        f"<pre>{esc(code)}</pre><details><summary>answer</summary>{fault(mutant)}</details>"
    )
    return Card(html, f"{score}. mutant {mutant.number}: {view}")

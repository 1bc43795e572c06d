"""Kill the mutants: one line of the harness is wrong, and a run shows it. Which line is it?

In front of a notebook there is a chooser, the run's picture, and four answers to choose from; after
the answer the line itself, and the same run with the line as it should be. Where outputs are
committed the first mutant stands for all, its answer folded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from learnkit.course.display.card import Card, bundle, inline
from learnkit.course.display.cards import explained
from learnkit.errors import UsageError
from learnkit.views.drawing.text import count, esc

if TYPE_CHECKING:
    from learnkit.course.games.mutants.catalogue import Mutant
    from learnkit.views import View


class Hunt:
    """Mutants to find, and what was answered so far.

    Args:
        mutants: in order.
        workspace: a folder for their runs.
        given: name -> letter, as far as they were answered before.
        on_answer: called with name and letter.

    Raises:
        UsageError: if there are none.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        workspace: Path,
        given: Mapping[str, str] = MappingProxyType({}),
        on_answer: Callable[[str, str], object] = lambda name, letter: None,
    ) -> None:
        if not mutants:
            raise UsageError("there is no mutant to hunt")
        self.mutants, self._workspace = tuple(mutants), workspace
        self._given, self._on_answer = dict(given), on_answer
        self._shown: dict[tuple[str, bool], View[Any]] = {}

    def answer(self, mutant: Mutant, letter: str) -> None:
        """Note an answer, and pass it on."""
        self._given[mutant.name] = letter
        self._on_answer(mutant.name, letter)

    def shown(self, mutant: Mutant, *, sound: bool = False) -> View[Any]:
        """The view of a mutant's run, which is played once.

        Args:
            mutant: which one.
            sound: without the fault.
        """
        from learnkit import views
        from learnkit.course.games.mutants.catalogue import healthy, play

        if (mutant.name, sound) not in self._shown:
            log = (healthy if sound else play)(mutant, self._workspace)
            self._shown[mutant.name, sound] = getattr(views, mutant.view)(log)
        return self._shown[mutant.name, sound]

    def mark(self, mutant: Mutant) -> str:
        """✓ for one that was found, ✗ for another answer, nothing for none."""
        letter = self._given.get(mutant.name)
        return "" if letter is None else "✓" if letter == mutant.right else "✗"

    def score(self) -> str:
        """How many are found, in a sentence."""
        marks = [self.mark(one) for one in self.mutants]
        killed, tried = marks.count("✓"), len(marks) - marks.count("")
        return f"{killed} of {count(len(marks), 'mutant')} killed, {tried} tried"

    def card(self) -> Card:
        """The hunt as a lesson shows it: the first one, or all to choose from."""
        first, score = self._folded(self.mutants[0]), self.score()

        def live() -> Mapping[str, Any]:
            from learnkit.course.games.mutants.panel import HuntBox

            return bundle(HuntBox(self).box)

        return Card(f"<p>{esc(score)}</p>{first.html}", f"{score}. {first.text}", live)

    def _folded(self, mutant: Mutant) -> Card:
        """One mutant in the form that can be committed: the answer is folded."""
        view = self.shown(mutant)
        rows = "".join(
            f"<li><strong>{letter}</strong> · {inline(option.text)}</li>"
            for letter, option in mutant.options.items()
        )
        why = explained(mutant.options, mutant.right, None)
        html = (
            f"<p><strong>Mutant {number(mutant)}.</strong> {inline(mutant.scene)}</p>"
            f"{view.embedded()}"
            f"<p><strong>Which line is wrong?</strong></p><ul>{rows}</ul>"
            f"<details><summary>answer</summary>{why}{line(mutant)}</details>"
        )
        return Card(html, f"mutant {number(mutant)}: {view}")


def line(mutant: Mutant) -> str:
    """The faulty line and the right one, as HTML."""
    return (
        f"<p>In <code>{esc(mutant.module)}</code>:</p>"
        f"<pre>- {esc(mutant.old)}\n+ {esc(mutant.new)}</pre>"
    )


def number(mutant: Mutant) -> int:
    """Its number, from 1."""
    return int(mutant.name[1:])

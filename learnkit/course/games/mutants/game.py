"""Kill the mutants: one line of the harness is wrong, and a run shows it. Which line is it?

This is the state of the game, which both of its forms show: the mutants, the learner's answers, and
the views of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from learnkit.core.text import count
from learnkit.course.games.mutants.mutant import Mutant, healthy, play
from learnkit.errors import UsageError
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.views import View


class MutantGame:
    """Mutants to find, and what was answered so far.

    Args:
        mutants: in order.
        workspace: a folder for their runs.
        given: name -> letter of each mutant that was answered before.
        on_answer: called with name and letter.

    Raises:
        UsageError: if there are no mutants.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        workspace: Path,
        given: Mapping[str, str] = MappingProxyType({}),
        on_answer: Callable[[str, str], object] = lambda name, letter: None,
    ) -> None:
        if not mutants:
            raise UsageError("there is no mutant to find; give at least one")
        self.mutants, self._workspace = tuple(mutants), workspace
        self._given, self._on_answer = dict(given), on_answer
        self._views: dict[tuple[str, bool], View[Any]] = {}

    def answer(self, mutant: Mutant, letter: str) -> None:
        """Note an answer, and pass it on.

        Args:
            mutant: which one.
            letter: the chosen option.
        """
        self._given[mutant.name] = letter
        self._on_answer(mutant.name, letter)

    def view(self, mutant: Mutant, *, fault: bool = True) -> View[Any]:
        """Return the view of a mutant's run, which is played only once.

        Args:
            mutant: which one.
            fault: whether the run has the fault.
        """
        from learnkit import views

        if (mutant.name, fault) not in self._views:
            log = (play if fault else healthy)(mutant, self._workspace)
            self._views[mutant.name, fault] = getattr(views, mutant.view)(log)
        return self._views[mutant.name, fault]

    def mark(self, mutant: Mutant) -> str:
        """Return ✓ for a right answer, ✗ for a wrong one, nothing for none.

        Args:
            mutant: which one.
        """
        letter = self._given.get(mutant.name)
        return "" if letter is None else "✓" if letter == mutant.right else "✗"

    def score(self) -> str:
        """Return how many mutants are found, in a sentence."""
        marks = [self.mark(one) for one in self.mutants]
        killed, tried = marks.count("✓"), len(marks) - marks.count("")
        return f"{killed} of {count(len(marks), 'mutant')} killed, {tried} tried"


def fault(mutant: Mutant) -> str:
    """Return the faulty line, as HTML.

    Args:
        mutant: which one.
    """
    return (
        f"<p>In <code>{esc(mutant.module)}</code>:</p>"
        f"<pre>- {esc(mutant.old)}\n+ {esc(mutant.new)}</pre>"
    )

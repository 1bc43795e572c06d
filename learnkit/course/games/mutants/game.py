"""Kill the mutants: one line of the harness is wrong, and a run shows it. Which line is it?

This is the state of the game, which both of its forms show: the mutants, the learner's answers, and
the views of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from learnkit.core.text import count
from learnkit.course.display.card import explained
from learnkit.course.games.mutants.mutant import Mutant, healthy, play
from learnkit.errors import UsageError
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.views import View


#: What is noted for a right answer.
FOUND = "found"


class MutantGame:
    """Mutants to find, and what was answered so far.

    Args:
        mutants: in order.
        given: name -> what was answered before: ``found`` or ``missed``; a letter is from the time
            when the question was what the fault does.
        on_answer: called with the name, and ``found`` or ``missed``.

    Raises:
        UsageError: if there are no mutants.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        given: Mapping[str, str] = MappingProxyType({}),
        on_answer: Callable[[str, str], object] = lambda name, letter: None,
    ) -> None:
        if not mutants:
            raise UsageError("there is no mutant to find; give at least one")
        self.mutants = tuple(mutants)
        self._given, self._on_answer = dict(given), on_answer
        self._views: dict[tuple[str, bool], View[Any]] = {}

    def answer(self, mutant: Mutant, found: bool) -> None:
        """Note an answer, and pass it on.

        Args:
            mutant: which one.
            found: whether the faulty line was chosen.
        """
        said = self._given[mutant.name] = FOUND if found else "missed"
        self._on_answer(mutant.name, said)

    def view(self, mutant: Mutant, *, fault: bool = True) -> View[Any]:
        """Return the view of a mutant's run, which is played only once.

        Args:
            mutant: which one.
            fault: whether the run has the fault.
        """
        from learnkit import views

        if (mutant.name, fault) not in self._views:
            log = (play if fault else healthy)(mutant)
            self._views[mutant.name, fault] = getattr(views, mutant.view)(log)
        return self._views[mutant.name, fault]

    def mark(self, mutant: Mutant) -> str:
        """Return ✓ for a right answer, ✗ for a wrong one, nothing for none.

        Args:
            mutant: which one.
        """
        said = self._given.get(mutant.name)
        return "" if said is None else "✓" if said in (FOUND, mutant.right) else "✗"

    def score(self) -> str:
        """Return how many mutants are found, in a sentence."""
        marks = [self.mark(one) for one in self.mutants]
        killed, tried = marks.count("✓"), len(marks) - marks.count("")
        return f"{killed} of {count(len(marks), 'mutant')} killed, {tried} tried"


def fault(mutant: Mutant) -> str:
    """Return the faulty line, what it does, and why nothing else is wrong, as HTML.

    Args:
        mutant: which one.
    """
    return explained(mutant.options, mutant.right, None) + (
        f"<p>In <code>{esc(mutant.module)}</code>:</p>"
        f"<pre>- {esc(mutant.old)}\n+ {esc(mutant.new)}</pre>"
    )

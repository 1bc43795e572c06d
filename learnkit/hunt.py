"""Kill the mutants: one line of the harness is wrong, and a run shows it. Which line is it?

In front of a notebook there is a chooser, the run's picture, and four answers to choose from; after
the answer the line itself, and the same run with the line as it should be. Where outputs are
committed the first mutant stands for all, its answer folded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.card import Card, bundle, inline
from learnkit.cards import explained
from learnkit.errors import UsageError
from learnkit.views.text import count, esc

if TYPE_CHECKING:
    from learnkit.lessons.mutants import Mutant


def shown(mutant: Mutant, workspace: Path, *, sound: bool = False) -> Any:
    """The view of a mutant's run.

    Args:
        mutant: which one.
        workspace: a folder for the run.
        sound: without the fault.
    """
    from learnkit import views
    from learnkit.lessons import mutants

    log = (mutants.healthy if sound else mutants.play)(mutant, workspace)
    return getattr(views, mutant.view)(log)


def line(mutant: Mutant) -> str:
    """The faulty line and the right one, as HTML."""
    return (
        f"<p>In <code>{esc(mutant.module)}</code>:</p>"
        f"<pre>- {esc(mutant.old)}\n+ {esc(mutant.new)}</pre>"
    )


def score(mutants: Sequence[Mutant], given: Mapping[str, str]) -> str:
    """How many are found, in a sentence."""
    right = sum(given.get(one.name) == one.right for one in mutants)
    tried = sum(one.name in given for one in mutants)
    return f"{right} of {count(len(mutants), 'mutant')} killed, {tried} tried"


def card(mutant: Mutant, workspace: Path) -> Card:
    """One mutant in the form that can be committed: the answer is folded."""
    view = shown(mutant, workspace)
    rows = "".join(
        f"<li><strong>{letter}</strong> · {inline(option.text)}</li>"
        for letter, option in mutant.options.items()
    )
    why = explained(mutant.options, mutant.right, None)
    html = (
        f"<p><strong>Mutant {_number(mutant)}.</strong> {inline(mutant.scene)}</p>{view.embedded()}"
        f"<p><strong>Which line is wrong?</strong></p><ul>{rows}</ul>"
        f"<details><summary>answer</summary>{why}{line(mutant)}</details>"
    )
    return Card(html, f"mutant {_number(mutant)}: {view}")


def hunt(
    mutants: Sequence[Mutant],
    workspace: Path,
    given: Mapping[str, str],
    on_answer: Callable[[str, str], object],
) -> Card:
    """All of them, to choose from.

    Args:
        mutants: in order.
        workspace: a folder for their runs.
        given: name -> letter, as far as they were answered before.
        on_answer: called with name and letter.

    Raises:
        UsageError: if there are none.
    """
    if not mutants:
        raise UsageError("there is no mutant to hunt")
    first = card(mutants[0], workspace)
    text = f"{score(mutants, given)}. {first.text}"

    def live() -> Mapping[str, Any]:
        from learnkit.huntbox import HuntBox

        return bundle(HuntBox(mutants, workspace, given, on_answer).box)

    return Card(f"<p>{esc(score(mutants, given))}</p>{first.html}", text, live)


def _number(mutant: Mutant) -> int:
    return int(mutant.name[1:])

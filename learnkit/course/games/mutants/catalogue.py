"""Kill the mutants: faults of one line, planted in the harness, to be found from what a run shows.

Each mutant brings a short run and the name of the view in which its fault can be seen. Only while
that run is played the fault is there; no file changes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from learnkit.core.events import EventLog
from learnkit.course.games.mutants import context as mutants_context
from learnkit.course.games.mutants import loop as mutants_loop
from learnkit.course.games.mutants import team as mutants_team
from learnkit.course.games.mutants import work as mutants_work
from learnkit.course.games.mutants.patch import planted
from learnkit.course.games.mutants.stage import Mutant

__all__ = ["MUTANTS", "Mutant", "healthy", "play"]

#: All mutants, in the order of the lessons.
MUTANTS: tuple[Mutant, ...] = (
    *mutants_loop.MUTANTS,
    *mutants_context.MUTANTS,
    *mutants_work.MUTANTS,
    *mutants_team.MUTANTS,
)


def play(mutant: Mutant, workspace: str | Path) -> EventLog:
    """Play a mutant's run with its fault planted.

    Args:
        mutant: which one.
        workspace: a folder that is there; the run gets a new folder in it, which is removed again.

    Returns:
        The log of the run.

    Raises:
        UsageError: if another fault is planted, or the line has changed since the start of Python.
    """
    with planted(mutant.module, mutant.old, mutant.new):
        return healthy(mutant, workspace)


def healthy(mutant: Mutant, workspace: str | Path) -> EventLog:
    """Play the same run with the harness as it is.

    Args:
        mutant: whose run.
        workspace: as for :func:`play`.

    Returns:
        The log of the run.
    """
    with tempfile.TemporaryDirectory(prefix=f"{mutant.name}-", dir=workspace) as folder:
        return mutant.act(Path(folder))

"""All mutants of the course, in the order of the lessons."""

from __future__ import annotations

from learnkit.course.games.mutants import context, loop, team, work
from learnkit.course.games.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (*loop.MUTANTS, *context.MUTANTS, *work.MUTANTS, *team.MUTANTS)

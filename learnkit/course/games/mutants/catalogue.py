"""All mutants of the course, in the order of the lessons; their texts are in ``mutants.yaml``."""

from __future__ import annotations

from pathlib import Path

from pydantic import ConfigDict, TypeAdapter

from learnkit.course import data_file
from learnkit.course.games.mutants.mutant import Mutant

FILE = Path(__file__).with_name("mutants.yaml")

_ROWS = TypeAdapter(tuple[Mutant, ...], config=ConfigDict(extra="forbid"))


def read(path: Path) -> tuple[Mutant, ...]:
    """Read mutants from a data file.

    Args:
        path: of the file: a list, with the attributes of :class:`Mutant` as keys.

    Raises:
        UsageError: if a row cannot be used; the message names the row and the key.
    """
    return data_file.read(path, _ROWS)


MUTANTS = read(FILE)

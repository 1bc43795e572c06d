"""The events of instructions."""

from __future__ import annotations

from collections.abc import Mapping

from learnkit.events.declaration import event
from learnkit.events.text import count, listed


def _loaded(found: InstructionsLoaded) -> str:
    names = listed([*found.files, "facts about this place"])
    left = f" ({count(len(found.problems), 'part')} left out)" if found.problems else ""
    return f"The system prompt has {names}{left}: ≈{found.tokens:,} tokens."


@event("instructions.loaded", sentence=_loaded)
class InstructionsLoaded:
    """A conversation begins with the instructions of the user and the project.

    ``files`` has the tokens of each file, and ``problems`` what was left out.
    """

    tokens: int = 0
    files: Mapping[str, int]
    problems: tuple[str, ...] = ()


@event(
    "instructions.found",
    sentence="The instructions in {file} follow the result, ≈{tokens:,} tokens.",
)
class InstructionsFound:
    """The first file of a folder with instructions of its own was read or changed."""

    file: str
    tokens: int = 0

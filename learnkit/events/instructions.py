"""The events of instructions."""

from __future__ import annotations

from collections.abc import Mapping

from learnkit.events.declaration import event


@event(
    "instructions.loaded",
    sentence="The system prompt has {files:file} of instructions, and facts: ≈{tokens:,} tokens.",
)
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

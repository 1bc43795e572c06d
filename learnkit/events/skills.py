"""The events of skills."""

from __future__ import annotations

from collections.abc import Mapping

from learnkit.events.declaration import event


@event(
    "skills.listed",
    lesson="s05",
    sentence="{skills:skill} are in the system prompt by name and description, "
    "≈{catalogue:,} tokens.",
)
class SkillsListed:
    """A run begins with the catalogue of skills; ``skills`` has the tokens of each one's text."""

    catalogue: int = 0
    skills: Mapping[str, int]
    preloaded: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@event(
    "skill.loaded",
    lesson="s05",
    sentence="The instructions of {name} are loaded, ≈{tokens:,} tokens.",
)
class SkillLoaded:
    """The model has loaded a skill's instructions."""

    name: str
    tokens: int = 0


@event("skill.read", lesson="s05", sentence="{file} of {name} is read, ≈{tokens:,} tokens.")
class SkillRead:
    """The model has read a file of a skill."""

    name: str
    file: str = "?"
    tokens: int = 0

"""A skill on disk: a folder with a ``SKILL.md``, as the Agent Skills specification describes it.

The file begins with YAML between two lines ``---``; the instructions follow. A skill that cannot be
used is rejected with the field and what it must be. One that can, although it violates the
specification, is read with a warning. No link leads out of the folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from learnkit.core.frames import SKILL, defused
from learnkit.core.token_count import estimate_tokens
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.front_matter import read_inside, split, text_of, texts_of
from learnkit.runtime.truncate import head_and_tail

#: Names of a skill's files that one text lists.
FILES_SHOWN = 50
#: Characters of a description that the specification allows, and that the catalogue shows.
DESCRIPTION = 1024


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill, as it was when it was read.

    Attributes:
        name: 1 to 64 lowercase letters, digits and single hyphens; the name of its folder.
        description: what it does and when to use it; the specification allows 1024 characters.
        body: the instructions.
        folder: where its files are.
        tags: from ``tags`` in the metadata, or at the top as some write it.
        warnings: what violates the specification, as ``FILE: FIELD: PROBLEM``. A field that cannot
            be read is empty.
    """

    name: str
    description: str
    body: str = field(repr=False)
    folder: Path = field(repr=False)
    tags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, folder: str | Path, inside: Path | None = None) -> Skill:
        """Read a skill.

        Args:
            folder: contains ``SKILL.md``.
            inside: no link may lead out of this folder; by default, out of the skill's own.

        Raises:
            UsageError: if it cannot be used, naming the file, the field, and what it must be.
        """
        real = Path(os.path.realpath(folder))
        name = Path(os.path.abspath(folder)).name  # noqa: PTH100 (a link keeps its own name)
        try:
            source = read_inside(real / "SKILL.md", inside or real)
            fields, body = split(source)
            others, problems = _others(fields)
            warnings = tuple(f"{name}/SKILL.md: {one}" for one in problems)
            return cls(_name(fields, name), body=body, folder=real, warnings=warnings, **others)
        except (ToolError, UsageError) as error:
            raise UsageError(f"{name}/SKILL.md: {error}") from None

    @property
    def tokens(self) -> int:
        """Estimated tokens of the instructions."""
        return estimate_tokens(self.body)

    @property
    def wrapped(self) -> str:
        """The instructions as the model gets them."""
        body = defused(head_and_tail([self.body])[0], [SKILL])
        return f'<{SKILL} name="{self.name}">\n{body}\n</{SKILL}>'

    def files(self) -> list[str]:
        """The other files of the skill, as paths below its folder; nothing hidden or compiled."""
        return sorted(
            str(path)
            for place in self.folder.rglob("*")
            if (path := place.relative_to(self.folder)) != Path("SKILL.md")
            and not any(part.startswith((".", "__pycache__")) for part in path.parts)
            and (real := Path(os.path.realpath(place))).is_file()
            and real.is_relative_to(self.folder)
        )

    def text(self, path: str) -> str:
        """Return the text of one of its files.

        Args:
            path: relative to the skill's folder.

        Raises:
            ToolError: if there is none, it lies outside the skill, or it is no text.
        """
        try:
            return head_and_tail([read_inside(self.folder / path, self.folder)])[0]
        except ToolError as error:
            known = ", ".join(self.files()[:FILES_SHOWN]) or "none"
            message = f"{path!r} {error}; the files of {self.name}: {known}"
            raise ToolError(message) from None


def _name(fields: dict[Any, Any], folder: str) -> str:
    name = text_of(fields, "name", required=True)
    if not 1 <= len(name) <= 64:
        raise UsageError(f"name: has {len(name)} characters; it must have 1 to 64")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise UsageError(
            f"name: {name!r} must be of lowercase letters and digits, with single hyphens between"
        )
    if name != folder:
        raise UsageError(f"name: {name!r} must be the name of its folder, {folder!r}")
    return name


def _others(fields: dict[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields beside the name, and what violates the specification but does no harm."""
    problems: list[str] = []
    tags: tuple[str, ...] = ()
    description = text_of(fields, "description", required=True)
    if not description:
        raise UsageError("description: has 0 characters; it must have 1 to 1024")
    if len(description) > DESCRIPTION:
        size = f"{len(description)} characters; it must have 1 to {DESCRIPTION}"
        problems.append(f"description: has {size}")
    metadata = fields.get("metadata")
    tagged = metadata if isinstance(metadata, dict) and "tags" in metadata else fields
    try:
        tags = texts_of(tagged, "tags", ",")
    except UsageError as error:
        problems.append(str(error))
    return {"description": description, "tags": tags}, problems

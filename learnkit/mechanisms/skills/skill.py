"""A skill on disk: a folder with a ``SKILL.md``, as the Agent Skills specification describes it.

The file begins with YAML between two lines ``---``; the instructions follow. A skill that cannot be
used is rejected with the field and what it must be. One that can, although it violates the
specification, is read with a warning. No link leads out of the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from learnkit.core.frames import SKILL, defused
from learnkit.core.token_count import estimate_tokens
from learnkit.errors import ToolError, UsageError
from learnkit.runtime.truncate import head_and_tail
from learnkit.runtime.workspace import FILE_LIMIT

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
        license, compatibility: as given, or empty.
        metadata: what else its author says; values are text.
        allowed_tools: tools its author would have approved beforehand. Nothing is approved for
            that: ``Permission`` decides.
        tags: from ``tags`` in the metadata, or at the top as some write it.
        warnings: what violates the specification, as ``FILE: FIELD: PROBLEM``. A field that cannot
            be read is empty.
    """

    name: str
    description: str
    body: str = field(repr=False)
    folder: Path = field(repr=False)
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
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
            source = _text_of(real / "SKILL.md", inside or real)
            fields, body = _split(source)
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
            return head_and_tail([_text_of(self.folder / path, self.folder)])[0]
        except ToolError as error:
            known = ", ".join(self.files()[:FILES_SHOWN]) or "none"
            message = f"{path!r} {error}; the files of {self.name}: {known}"
            raise ToolError(message) from None


class _Loader(yaml.BaseLoader):
    """YAML in which every scalar is text (``version: 1.0`` is no number), and a key comes once.

    It makes lists, mappings and text, and nothing else, whatever tags the file contains.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                problem = f"{key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _split(source: str) -> tuple[dict[Any, Any], str]:
    """The fields of the front matter, and the body below it."""
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    # Only a whole line ends the front matter: "a --- b" in a value does not.
    rules = [number for number, line in enumerate(lines) if line.rstrip(" \t") == "---"]
    if not rules or rules[0] != 0:
        raise UsageError("the first line must be '---', and the front matter follows it")
    if len(rules) == 1:
        raise UsageError("the front matter has no end; put a line '---' below its fields")
    try:
        fields = yaml.load("\n".join(lines[1 : rules[1]]), _Loader)
    except RecursionError:
        raise UsageError("the front matter is nested too deeply") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f", line {mark.line + 2}" if mark else ""
        raise UsageError(
            f"the front matter{where} is no valid YAML: {problem or error}; "
            "a value with ':' or '#' in it goes into quotes"
        ) from None
    if not isinstance(fields, dict):
        kind = "empty" if not fields else f"a {type(fields).__name__}"
        raise UsageError(f"the front matter must give fields such as 'name: …'; it is {kind}")
    return fields, "\n".join(lines[rules[1] + 1 :]).strip("\n").rstrip()


def _name(fields: dict[Any, Any], folder: str) -> str:
    name = _text(fields, "name", required=True)
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

    def optional(read: Callable[[], Any], default: Any) -> Any:
        try:
            return read()
        except UsageError as error:
            problems.append(str(error))
            return default

    description = _text(fields, "description", required=True)
    if not description:
        raise UsageError("description: has 0 characters; it must have 1 to 1024")
    compatibility = optional(lambda: _text(fields, "compatibility"), "")
    for key, text, limit in (
        ("description", description, DESCRIPTION),
        ("compatibility", compatibility, 500),
    ):
        if key in fields and not 1 <= len(text) <= limit:
            problems.append(f"{key}: has {len(text)} characters; it must have 1 to {limit}")
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, dict):
        problems.append("metadata: must be a mapping of keys to text")
        metadata = {}
    about = {
        str(key): ", ".join(optional(partial(_texts, metadata, key, ","), ())) for key in metadata
    }
    tagged = metadata if "tags" in metadata else fields
    return {
        "description": description,
        "license": optional(lambda: _text(fields, "license"), ""),
        "compatibility": compatibility,
        "metadata": about,
        # A rule such as Bash(git add:*) may contain spaces.
        "allowed_tools": optional(
            lambda: _texts(fields, "allowed-tools", r"[\s,]+(?![^(]*\))"), ()
        ),
        "tags": optional(lambda: _texts(tagged, "tags", ","), ()),
    }, list(dict.fromkeys(problems))


def _text(fields: dict[Any, Any], key: str, *, required: bool = False) -> str:
    if key not in fields:
        if required:
            raise UsageError(f"{key}: is missing; the front matter needs a line '{key}: …'")
        return ""
    value = fields[key]
    if not isinstance(value, str):
        raise UsageError(f"{key}: must be a text, not a {type(value).__name__}")
    return _valid(key, value.strip())


def _texts(fields: dict[Any, Any], key: Any, separator: str) -> tuple[str, ...]:
    """A field that may be a list of texts, or one text with them in it."""
    value = fields.get(key, "")
    parts = re.split(separator, value) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise UsageError(f"{key}: must be a text, or a list of texts")
    return tuple(_valid(str(key), part.strip()) for part in parts if part.strip())


def _valid(key: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{key}: contains half a surrogate pair; write the character") from None
    return text


def _text_of(place: Path, inside: Path) -> str:
    """The text of a file, if it lies in a folder once links are followed."""
    try:
        real = Path(os.path.realpath(place, strict=True))
        if not real.is_relative_to(inside):
            raise ToolError("leads out of the folder, which is not allowed")
        if not real.is_file():  # reading a pipe would wait for ever
            raise ToolError("is not a regular file")
        if (size := real.stat().st_size) > FILE_LIMIT:
            raise ToolError(f"is too large to read ({size:,} bytes)")
        text = real.read_bytes().decode()
    except OSError as error:
        raise ToolError(f"cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise ToolError("is not UTF-8 text, or not a valid path") from None
    if "\0" in text:
        raise ToolError("is a binary file")
    return text

"""Front matter: the YAML between two lines ``---`` with which a file for agents begins.

Skills, agents and commands are such files. Reading one runs nothing, and follows no link out of its
folder.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from learnkit.core.content import clean
from learnkit.errors import ToolError, UsageError
from learnkit.runtime.workspace import FILE_LIMIT

#: Characters of front matter.
LONGEST = 10_000


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


def split(source: str) -> tuple[dict[Any, Any], str]:
    """The fields of the front matter, and the body below it."""
    lines = source.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    # Only a whole line ends the front matter: "a --- b" in a value does not.
    rules = [number for number, line in enumerate(lines) if line.rstrip(" \t") == "---"]
    if not rules or rules[0] != 0:
        raise UsageError("the first line must be '---', and the front matter follows it")
    if len(rules) == 1:
        raise UsageError("the front matter has no end; put a line '---' below its fields")
    front = "\n".join(lines[1 : rules[1]])
    if len(front) > LONGEST:  # YAML takes a second for every hundred thousand
        raise UsageError(f"the front matter has {len(front):,} characters; at most {LONGEST:,}")
    try:
        fields = yaml.load(front, _Loader)
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


def text_of(fields: dict[Any, Any], key: str, *, required: bool = False) -> str:
    if key not in fields:
        if required:
            raise UsageError(f"{key}: is missing; the front matter needs a line '{key}: …'")
        return ""
    value = fields[key]
    if not isinstance(value, str):
        raise UsageError(f"{key}: must be a text, not a {type(value).__name__}")
    return clean(value.strip())


def texts_of(fields: dict[Any, Any], key: Any, separator: str) -> tuple[str, ...]:
    """A field that may be a list of texts, or one text with them in it."""
    value = fields.get(key, "")
    parts = re.split(separator, value) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise UsageError(f"{key}: must be a text, or a list of texts")
    return tuple(clean(part.strip()) for part in parts if part.strip())


def read_inside(place: Path, inside: Path) -> str:
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

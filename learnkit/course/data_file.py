"""Read a data file of the course: a complaint about it names the file and the place in it.

What is text in a lesson or a game is in a YAML file, so that you can edit it without reading code.
The caller says with a pydantic type which keys and values the file may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from learnkit.errors import UsageError

T = TypeVar("T")


def read(path: Path, shape: TypeAdapter[T]) -> T:
    """Read and check a data file."""
    shown = "/".join(path.parts[-2:])
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return shape.validate_python(yaml.load(path.read_text("utf-8"), loader))
    except yaml.YAMLError as error:
        raise UsageError(
            f"{shown} is not YAML: {error}\nPut a text with ': ' or ' #' in it below '>-', "
            "indented, as the texts around it are"
        ) from None
    except ValidationError as error:
        found = "\n".join(f"  {_place(one['loc'])}: {one['msg']}" for one in error.errors())
        raise UsageError(f"{shown} cannot be used; correct it there:\n{found}") from None


def _place(loc: Sequence[int | str]) -> str:
    """Where in the file: ``quiz, number 2, options, a, why``."""
    names = [f"number {one + 1}" if isinstance(one, int) else one for one in loc]
    return ", ".join(names) or "the file"

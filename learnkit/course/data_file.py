"""Read a data file of the course: a complaint about it names the file and the place in it.

What is text in a lesson or a game is in a YAML file, so that you can edit it without reading code.
The caller says with a pydantic type which keys and values the file may have.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from learnkit.errors import UsageError

T = TypeVar("T")


def read(
    path: Path, shape: TypeAdapter[T], complete: Callable[[Any], object] = lambda found: found
) -> T:
    """Read a data file, complete what it says, and check that."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return shape.validate_python(complete(yaml.load(path.read_text("utf-8"), loader)))
    except (yaml.YAMLError, ValidationError, KeyError, TypeError) as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"{'/'.join(path.parts[-2:])} cannot be used: {said}") from None

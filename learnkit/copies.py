"""The learner's working copy of the lessons.

A copy that the learner has not touched follows the course; one that was changed is never
overwritten, unless it is asked for.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

#: Remembers what each copy was made from.
STATE = ".copied.json"


def update(source: Path, target: Path, *, reset: bool = False) -> Iterator[str]:
    """Bring the working copy up to date.

    Args:
        source: the folder of the course's notebooks.
        target: the learner's folder; is made if it is missing.
        reset: replace changed copies too; they are kept beside, with the ending ``.bak``.

    Yields:
        A line for each notebook that the learner should know about.
    """
    target.mkdir(parents=True, exist_ok=True)
    state_file = target / STATE
    try:
        made_from = json.loads(state_file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        made_from = {}
    for original in sorted(source.glob("s[0-9][0-9]_*.ipynb")):
        copy = target / original.name
        new = _digest(original)
        untouched = copy.exists() and _digest(copy) == made_from.get(copy.name)
        if copy.exists() and not untouched and not reset:
            if made_from.get(copy.name) != new:
                yield f"{copy.name}: yours is kept; the course has a newer one (--reset takes it)"
            continue
        if copy.exists() and not untouched and _digest(copy) != new:
            kept = _free(copy)
            shutil.copy(copy, kept)
            yield f"{copy.name}: fresh again; yours is kept as {kept.name}"
        shutil.copy(original, copy)
        made_from[copy.name] = new
        state_file.write_text(json.dumps(made_from, indent=2), encoding="utf-8")


def _free(copy: Path) -> Path:
    names = (copy.with_name(f"{copy.name}.bak{number or ''}") for number in count())
    return next(path for path in names if not path.exists())


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

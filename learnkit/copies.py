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

from learnkit import files

#: Remembers what each copy was made from.
STATE = ".copied.json"
#: Where a lesson points to outside of its folder, and what stands in for it in the working copy:
#: JupyterLab opens Markdown in an editor, and a notebook as a page.
LINKS = {b"../README.md#lessons": b"start.ipynb", b"../docs/glossary.md": b"glossary.ipynb"}


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
    made_from = _read(state_file)
    for original in sorted(source.glob("s[0-9][0-9]_*.ipynb")):
        copy = target / original.name
        content = original.read_bytes()
        for there, here in LINKS.items():
            content = content.replace(there, here)
        new = _digest(content)
        old = _digest(copy.read_bytes()) if copy.exists() else None
        touched = old not in (None, new, made_from.get(copy.name))
        if touched and not reset:
            if made_from.get(copy.name) != new:
                yield f"{copy.name}: yours is kept; the course has a newer one (--reset takes it)"
            continue
        if touched:
            kept = _free(copy)
            shutil.copy(copy, kept)
            yield f"{copy.name}: fresh again; yours is kept as {kept.name}"
        if old != new:
            files.replace(copy, content)
        made_from[copy.name] = new
        state_file.write_text(json.dumps(made_from, indent=2), encoding="utf-8")


def _read(state_file: Path) -> dict[str, str]:
    """What was remembered; nothing, if that cannot be read."""
    try:
        remembered = json.loads(state_file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return remembered if isinstance(remembered, dict) else {}


def _free(copy: Path) -> Path:
    names = (copy.with_name(f"{copy.name}.bak{number or ''}") for number in count())
    return next(path for path in names if not path.exists())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

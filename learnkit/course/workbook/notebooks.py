"""The learner's working copy of the lessons.

The course's own notebooks have their outputs, to be read and compared. A copy is made without any,
because they would answer every prediction before the learner has read it.

A copy that the learner has not edited follows the course. An edited copy is never overwritten,
unless the learner asks for it. Only a change of the cells' sources counts as an edit, because
running a cell changes the file too.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.course.progress import STATE

#: What a lesson links to outside its folder, and what it links to in the working copy instead:
#: JupyterLab opens Markdown in an editor, but a notebook as a page.
LINKS = {
    b"../README.md#lessons": b"start.ipynb",
    b"../learnkit/course/workbook/start_page.md#": b"start.ipynb#",
    b"](../README.md)": b"](start.ipynb)",
    b"../docs/glossary.md": b"glossary.ipynb",
}


def update(source: Path, target: Path, *, reset: bool = False) -> Iterator[str]:
    """Bring the working copy up to date."""
    target.mkdir(parents=True, exist_ok=True)
    state_file = target / STATE
    made_from = _read(state_file)
    for original in course_files.named(source).values():
        copy = target / original.relative_to(source)
        copy.parent.mkdir(exist_ok=True)
        content = fresh(original.read_bytes())
        new, before = _sources(content), made_from.get(copy.name)
        found = _sources(copy.read_bytes()) if copy.exists() else None
        edited = found is not None and found not in (before, new)
        if edited and not reset:
            if before != new:
                yield f"{copy.name}: yours is kept; the course has a newer one (--reset takes it)"
            continue
        if edited:
            kept = _kept(copy)
            yield f"{copy.name}: fresh again; yours is kept as {kept.name}"
        if found != new or reset:  # a copy that was only run keeps its outputs
            course_files.put(copy, content.decode())
        made_from[copy.name] = new
        state_file.write_text(json.dumps(made_from, indent=2), encoding="utf-8")


def fresh(content: bytes) -> bytes:
    """Return a lesson as a learner gets it: without outputs, and with the working copy's links."""
    for there, here in LINKS.items():
        content = content.replace(there, here)
    notebook = json.loads(content)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _sources(content: bytes) -> str:
    """A digest of the sources of a notebook's cells, in order; if it is damaged, of all of it."""
    try:  # the file holds a cell's text whole, or as a list of lines
        cells = [[one["cell_type"], "".join(one["source"])] for one in json.loads(content)["cells"]]
        content = json.dumps(cells).encode()
    except (ValueError, KeyError, TypeError):
        pass
    return hashlib.sha256(content).hexdigest()


def _read(state_file: Path) -> dict[str, str]:
    """What each copy was made from; nothing if the file can't be read."""
    try:
        remembered = json.loads(state_file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return remembered if isinstance(remembered, dict) else {}


def _kept(copy: Path) -> Path:
    """Keep a copy beside itself, under the first name that is free."""
    names = (copy.with_name(f"{copy.name}.bak{number or ''}") for number in count())
    kept = next(path for path in names if not path.exists())
    shutil.copy(copy, kept)
    return kept

"""The learner's folder: working copies of the lessons, a start page, a glossary, the progress file.

``learnkit lab`` updates it at each start. What the learner has changed in a lesson is never
overwritten. The start page and the glossary are written anew each time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from learnkit.course import files as course_files
from learnkit.course import progress
from learnkit.course.workbook import notebooks, start_page
from learnkit.errors import UsageError

GLOSSARY = "glossary.ipynb"
#: Where JupyterLab keeps which tabs are open, in a folder of the workbook: the learner's own
#: JupyterLab is left as it is.
WORKSPACES = ".workspaces"


def update(course: Path, work: Path, *, reset: bool = False) -> Iterator[str]:
    """Update the folder."""
    _refuse(work)
    yield from notebooks.update(course, work, reset=reset)
    course_files.put(work / start_page.NAME, start_page.notebook(work))
    glossary = course.parent / "docs" / "glossary.md"
    if glossary.exists():
        text = glossary.read_text("utf-8").replace("../notebooks/", "")
        cell = {"cell_type": "markdown", "id": "words", "metadata": {}, "source": text}
        course_files.put(work / GLOSSARY, start_page.book(cell))


def options(work: Path, notebook: str) -> list[str]:
    """Return JupyterLab's options: which folder to serve, what to open, where to keep its tabs."""
    clone = course_files.checkout()
    root = clone if clone and work.is_relative_to(clone) else work
    page = quote(f"/lab/tree/{(work.relative_to(root) / notebook).as_posix()}")
    return [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url={page}",  # for the address that JupyterLab prints
        f"--LabApp.workspaces_dir={work / WORKSPACES}",
    ]


def environment(work: Path) -> dict[str, str]:
    """Return the environment of JupyterLab and its kernels.

    JupyterLab gets our defaults for its settings, so it doesn't ask about news on top of a lesson;
    the learner's own settings stay as they are, and come first. Each kernel explains errors from
    its start, unless the learner has a start-up file, and notes progress in the learner's folder.
    A terminal finds the command `learnkit`, also if no virtual environment was activated.
    """
    ours = Path(course_files.__file__).parent / "jupyter"
    paths = [os.environ.get("JUPYTER_CONFIG_PATH", ""), str(ours / "config")]
    first = {"PYTHONSTARTUP": str(ours / "startup.py")}
    settings = {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    settings["PATH"] = os.pathsep.join(programs)
    return {**first, **os.environ, **settings, progress.SETTING: str(work)}


def _refuse(work: Path) -> None:
    """Raise unless the folder is the learner's: not the course itself, nor one with other files."""
    # What the learner has done may be older than the lessons, and systems add hidden files.
    found = sorted(path.name for path in work.iterdir()) if work.is_dir() else []
    others = [name for name in found if not name.startswith((".", "progress."))]
    if course_files.is_installed(work):
        problem = "belongs to the installed package, not to you"
    elif work.is_file():
        problem = "is a file"
    elif "recordings" in found:
        problem = "holds the course's own notebooks"
    elif others and not progress.is_copy(work):
        problem = f"is not a copy of the lessons, and holds {others[0]!r}"
    else:
        return
    raise UsageError(f"{work} {problem}; give another folder: learnkit lab --folder FOLDER")

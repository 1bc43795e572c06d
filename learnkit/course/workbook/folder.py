"""The learner's folder: working copies of the lessons, a start page, a glossary, the progress file.

``learnkit lab`` updates it at each start. What the learner has changed in a lesson is never
overwritten. The start page and the glossary are written anew each time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from learnkit.course import files as course_files
from learnkit.course import progress
from learnkit.course.workbook import notebooks, start_page
from learnkit.errors import UsageError
from learnkit.runtime import atomic_write

GLOSSARY = "glossary.ipynb"
#: Where JupyterLab keeps which tabs are open, in a folder of the workbook: the learner's own
#: JupyterLab is left as it is. The file is named as JupyterLab names that of its default workspace.
WORKSPACES = ".workspaces"
_DEFAULT = "default-37a8.jupyterlab-workspace"


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


def options(work: Path, notebook: str, *, alone: bool) -> list[str]:
    """Return JupyterLab's options: which folder to serve, what to open, where to keep its tabs."""
    clone = course_files.checkout()
    root = clone if clone and work.is_relative_to(clone) else work
    where = work.relative_to(root)
    if not alone:
        open_tab(work, (where / notebook).as_posix())
        notebook = start_page.NAME
    page = quote(f"/lab/tree/{(where / notebook).as_posix()}")
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


def open_tab(work: Path, notebook: str) -> None:
    """Make JupyterLab begin with a tab for this notebook, unless it remembers other tabs."""
    file = work / WORKSPACES / _DEFAULT
    if file.exists():
        return
    tab = f"notebook:{notebook}"
    dock = {"type": "tab-area", "currentIndex": 0, "widgets": [tab]}
    layout = {"main": {"dock": dock, "current": tab}}
    data = {
        "layout-restorer:data": layout,
        tab: {"data": {"path": notebook, "factory": "Notebook"}},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write.replace(file, json.dumps({"data": data, "metadata": {"id": "default"}}))


def _refuse(work: Path) -> None:
    """Raise unless the folder is the learner's: not the course itself, nor one with other files."""
    other = "give another folder: learnkit lab --folder FOLDER"
    if course_files.is_installed(work):
        raise UsageError(f"{work} belongs to the installed package, not to you; {other}")
    if work.exists() and not work.is_dir():
        raise UsageError(f"{work} is a file; {other}")
    if (work / "recordings").is_dir():
        raise UsageError(f"{work} holds the course's own notebooks; {other}")
    if work.is_dir() and not progress.is_copy(work):
        # What the learner has done may be older than the lessons, and systems add hidden files.
        found = sorted(path.name for path in work.iterdir())
        found = [name for name in found if not name.startswith((".", "progress."))]
        if found:
            raise UsageError(
                f"{work} is not a copy of the lessons, and holds {found[0]!r}; {other}"
            )

"""The learner's folder: working copies of the lessons, a start page, a glossary, the notes.

``learnkit lab`` brings it up to date at each start. What the learner has changed is never
overwritten; the start page and the glossary are no place to write in, and are always made anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from learnkit.course import files as course_files
from learnkit.course import progress
from learnkit.course.workbook import copies
from learnkit.course.workbook import start_page as startpage
from learnkit.errors import UsageError
from learnkit.runtime import atomic_write as files

GLOSSARY = "glossary.ipynb"
#: Where JupyterLab keeps which tabs are open, in a folder of the workbook: the learner's own
#: JupyterLab is left as it is. The file is named as JupyterLab names that of its default workspace.
WORKSPACES = ".workspaces"
_DEFAULT = "default-37a8.jupyterlab-workspace"


def update(course: Path, work: Path, *, reset: bool = False) -> Iterator[str]:
    """Bring the folder up to date.

    Args:
        course: the folder of the course's notebooks; the glossary is in ``docs`` beside it.
        work: the learner's folder; is made if it is missing.
        reset: fresh copies of the lessons; see ``copies.update``.

    Yields:
        A line for each notebook that the learner should know about.

    Raises:
        UsageError: if the folder is no place for a working copy; it is as it was then.
    """
    _refuse(work)
    yield from copies.update(course, work, reset=reset)
    _put(work / startpage.NAME, startpage.notebook(work))
    words = course.parent / "docs" / "glossary.md"
    if words.exists():
        text = words.read_text("utf-8").replace("../notebooks/", "")
        cell = {"cell_type": "markdown", "id": "words", "metadata": {}, "source": text}
        _put(work / GLOSSARY, startpage.book(cell))


def options(work: Path, notebook: str, *, alone: bool) -> list[str]:
    """What JupyterLab has to know: which folder to serve, what to open, where to keep its tabs.

    Args:
        work: the learner's folder.
        notebook: the name of the lesson to open.
        alone: open only the lesson; else the start page, with the lesson in the tab beside it.
    """
    clone = course_files.checkout()
    root = clone if clone and work.is_relative_to(clone) else work  # a clone's files can be read
    where = work.relative_to(root)
    if not alone:
        open_tab(work, (where / notebook).as_posix())
        notebook = startpage.NAME
    page = quote(f"/lab/tree/{(where / notebook).as_posix()}")
    return [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url={page}",  # the address that is printed leads there too
        f"--LabApp.workspaces_dir={work / WORKSPACES}",
    ]


def open_tab(work: Path, notebook: str) -> None:
    """Let JupyterLab begin with a tab for this notebook, unless it remembers other ones.

    Args:
        work: the learner's folder.
        notebook: relative to the server's root.
    """
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
    files.replace(file, json.dumps({"data": data, "metadata": {"id": "default"}}))


def _refuse(work: Path) -> None:
    """Refuse what is not the learner's: the course itself, or a folder with other things."""
    other = "give another folder: learnkit lab FOLDER"
    if course_files.is_installed(work):
        raise UsageError(f"{work} belongs to the installed package, not to you; {other}")
    if work.exists() and not work.is_dir():
        raise UsageError(f"{work} is a file; {other}")
    if (work / "recordings").is_dir():
        raise UsageError(f"{work} holds the course's own notebooks; {other}")
    if work.is_dir() and not progress.is_copy(work):
        # Notes may be there before the lessons are, and so may what the system hides.
        found = sorted(path.name for path in work.iterdir())
        found = [name for name in found if not name.startswith((".", "progress."))]
        if found:
            raise UsageError(
                f"{work} is not a copy of the lessons, and holds {found[0]!r}; {other}"
            )


def _put(path: Path, text: str) -> None:
    """Write a page, unless it is as it should be: JupyterLab asks about files that change."""
    if not path.exists() or path.read_text("utf-8") != text:
        files.replace(path, text)

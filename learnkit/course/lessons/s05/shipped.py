"""The six skills that ship with the course, and a lesson's own, in a workspace.

They are in ``skills/`` at the top of the repository, where other agents find them, and inside an
installed package.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from learnkit.course import files as course_files


def install(workspace: Path, own: Mapping[str, str]) -> Path:
    """Copy the skills into a workspace, where file tools reach them and git ignores them.

    Args:
        workspace: gets a folder ``skills``.
        own: path below that folder -> text, for files besides those that ship.
    """
    folder = workspace / "skills"
    shutil.copytree(course_files.skills(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in own.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    if (workspace / ".git" / "info").is_dir():
        with (workspace / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
            file.write("/skills/\n")
    return folder

"""Lesson 12's exercises: what is wrong with an answer."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.s12.blank_page import check_mine as check_mine
from learnkit.course.lessons.verdicts import short

#: What somebody does in a folder -> whether it may go, and why.
_FOLDERS = (
    ("nothing was changed", "true", True),
    ("a file was changed", "echo 1 > a.txt", False),
    ("a new file isn't committed", "echo 1 > 'b c.txt'", False),
    ("a change is staged, and not committed", "echo 1 > a.txt; git add a.txt", False),
    ("a file was deleted", "rm a.txt", False),
    ("git ignores a file that is nowhere else, .env", "echo KEY=1 > .env", False),
    (
        "all is committed on its branch",
        "echo 1 > a.txt; git -c user.name=a -c user.email=a commit -qam a",
        True,
    ),
)


def check_can_go(can_go: Any) -> Verdict:
    """Check which worktrees can go, by real git."""
    with tempfile.TemporaryDirectory() as name:
        main = Path(name, "main")
        main.mkdir()
        _bash(main, "git init -q; echo .env > .gitignore; echo 0 > a.txt; git add -A")
        _bash(main, "git -c user.name=a -c user.email=a commit -qm first")
        for number, (what, command, wanted) in enumerate(_FOLDERS):
            folder = Path(name, f"w{number}")
            _bash(main, f"git worktree add -q -b b{number} {folder}")
            _bash(folder, command)
            found = can_go(folder)
            if bool(found) != wanted:
                loss = "something would be lost" if not wanted else "nothing would be lost"
                return f"{what}: {loss}, and your function returned {short(found)}"
    return None


def _bash(folder: Path, command: str) -> None:
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, capture_output=True)

"""Git repositories for tests, made with the real git."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk


def git(folder: Path, command: str) -> str:
    """What a command of git prints, which must work."""
    result = lk.LocalShell().run(f"git {command}", folder)
    assert result.code == 0, result.output
    return result.output


def begun(folder: Path) -> Path:
    """A new repository in a folder, with one empty commit called *first*."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init -q")
    git(folder, "commit -q --allow-empty -m first")
    return folder


def commit(folder: Path, text: str, file: str = "a.txt") -> None:
    """Write a file and commit it; its text is the subject."""
    (folder / file).write_text(text)
    git(folder, "add -A")
    git(folder, f"commit -q -m '{text.strip()}'")


def branches(repo: Path) -> list[str]:
    """The names of the branches."""
    return git(repo, "branch --format '%(refname:short)'").split()

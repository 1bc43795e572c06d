"""The skills that ship with the course: valid, and copied beside a lesson's own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import learnkit as lk
from learnkit.course import files as course_files
from learnkit.course.lessons.s05.shipped import install


def test_they_are_valid_and_git_does_not_see_them_in_a_workspace(tmp_path: Path) -> None:
    shipped = lk.Skills(course_files.skills())
    assert len(shipped.skills) == 6
    assert shipped.problems == ()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, env={**os.environ})
    own = "---\nname: mine\ndescription: Manners.\n---\nSay please.\n"
    folder = install(tmp_path, {"mine/SKILL.md": own, "mine/scripts/please.py": "print('?')\n"})
    assert folder == tmp_path / "skills"
    assert [*lk.Skills(folder).skills] == sorted([*shipped.skills, "mine"])
    assert (folder / "mine" / "scripts" / "please.py").read_text() == "print('?')\n"
    status = subprocess.run(
        ["git", "status", "--short"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert status.stdout == ""

"""The skills that lessons work with: found, copied, and generated to measure."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.course.lessons.s05.many_skills import TOPICS, install, manuals, skills_folder


def test_the_skills_that_ship_are_found_and_all_of_them_are_valid() -> None:
    skills = lk.Skills(skills_folder())
    assert len(skills.skills) == 6
    assert skills.problems == ()


def test_they_are_copied_into_a_workspace_and_git_does_not_see_them(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, env={**os.environ})
    folder = install(tmp_path)
    assert folder == tmp_path / "skills"
    assert list(lk.Skills(folder).skills) == list(lk.Skills(skills_folder()).skills)
    status = subprocess.run(
        ["git", "status", "--short"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert status.stdout == ""


def test_some_of_them_are_copied_and_an_unknown_name_is_refused(tmp_path: Path) -> None:
    install(tmp_path, ["pdf"])
    assert [place.name for place in (tmp_path / "skills").iterdir()] == ["pdf"]
    with pytest.raises(lk.UsageError, match="no skill 'pfd' ships; there are: agent-builder"):
        install(tmp_path, ["pfd"])


@pytest.mark.parametrize(("number", "tokens"), [(0, 10), (3, 100), (20, 5000)])
def test_manuals_are_valid_skills_of_an_exact_length(
    tmp_path: Path, number: int, tokens: int
) -> None:
    skills = lk.Skills(manuals(tmp_path / "manuals", number, tokens)) if number else None
    assert (skills.problems if skills else ()) == ()
    lengths = [skill.tokens for skill in skills.skills.values()] if skills else []
    assert lengths == [tokens] * number


def test_there_are_no_more_manuals_than_topics(tmp_path: Path) -> None:
    assert len(set(TOPICS)) == 20
    with pytest.raises(lk.UsageError, match="21 manuals"):
        manuals(tmp_path, 21)

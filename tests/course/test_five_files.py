"""Lesson 4's five files: their docstrings name limits, and what is on the disk is what is read."""

from __future__ import annotations

import ast
from pathlib import Path

from learnkit.course.lessons.s04.five_files import FILES, limits, source, write_files


def test_each_file_says_its_own_limit_and_sets_none(tmp_path: Path) -> None:
    write_files(tmp_path)
    found = limits(tmp_path)
    wanted = [limit for limit, _ in found.values()]
    assert len({*wanted}) == len(FILES) == 5
    assert all(number is None for _, number in found.values())
    for name, limit in zip(FILES, wanted, strict=True):
        assert f"at most {limit} requests" in str(ast.get_docstring(ast.parse(source(name))))


def test_the_limit_that_a_file_sets_is_read(tmp_path: Path) -> None:
    write_files(tmp_path)
    head, _, rest = source("api").partition("\n")
    (tmp_path / "app/api.py").write_text(f"{head}\n\nLIMIT = 20\n{rest}")
    (tmp_path / "app/user.py").write_text(source("user") + "\n# LIMIT = 20\n")
    assert limits(tmp_path)["api.py"] == (100, 20)
    assert limits(tmp_path)["user.py"] == (20, None)

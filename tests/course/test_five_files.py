"""Lesson 4's files: their docstrings name limits, and what is on the disk is what is read."""

from __future__ import annotations

import ast
from pathlib import Path

from learnkit.course.lessons.s04.five_files import FILES, limits, source, write_files


def test_each_file_says_its_own_limit_and_the_one_that_it_sets_is_read(tmp_path: Path) -> None:
    paths = write_files(tmp_path, 12)
    assert sorted(paths) == sorted((tmp_path / "app").iterdir())
    found = limits(paths)
    assert [number for _, number in found.values()] == [None] * 12
    assert len({limit for limit, _ in [*found.values()][:5]}) == len(FILES) == 5
    for path in paths:
        assert f"at most {found[path.name][0]} requests" in str(
            ast.get_docstring(ast.parse(path.read_text("utf-8")))
        )
    head, _, rest = source("api2").partition("\n")
    paths[7].write_text(f"{head}\n\nLIMIT = 20\n{rest}")
    paths[1].write_text(source("user") + "\n# LIMIT = 20\n")
    assert limits(paths)["api2.py"] == (100, 20)
    assert limits(paths)["user.py"] == (20, None)

"""A lesson in which every repair has been made runs to its end, as the naive one does."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from learnkit.course import files as course_files
from learnkit.course.content.sources import MAGIC, folded_repairs
from learnkit.course.publish.execute import execute

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("lesson", course_files.named(course_files.notebooks()))
def test_with_each_repair_made_every_cell_below_it_runs(lesson: str, tmp_path: Path) -> None:
    folder = tmp_path / "notebooks"
    shutil.copytree(course_files.notebooks(), folder)
    path = course_files.named(folder)[lesson]
    book = nbformat.read(path, as_version=4)
    solutions, cells = iter(folded_repairs(book)), []
    for cell in book.cells:
        cells.append(cell)
        if "repair" in cell.metadata.get("tags", ()):
            cells.append(nbformat.v4.new_code_cell(f"{MAGIC}\n{next(solutions)}"))
    book.cells = cells
    nbformat.write(book, path)
    assert "Closed:" in str(execute(path).cells[-1].outputs)

"""Lesson 12's first edit: the cells after it show the edited run, not the recorded one."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.utils.capture import capture_output

import learnkit as lk

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "s12_worktrees.ipynb"
#: The prompt that the lesson suggests.
DOCS = "Make a worktree called docs, and write notes.md there."


def cells() -> list[str]:
    """The cell with the prompt, and the code cells after it until the next step."""
    every = nbformat.read(NOTEBOOK, 4).cells
    first = next(n for n, cell in enumerate(every) if cell.source.startswith("import json\n\nPAIR"))
    return [cell.source for cell in every[first : first + 6] if cell.cell_type == "code"]


@pytest.mark.parametrize(("prompt", "trees"), [(DOCS, ["docs"]), ("Ponder the weather.", [])])
def test_an_edited_prompt_leaves_nothing_of_the_recorded_run(prompt: str, trees: list[str]) -> None:
    first, *later = cells()
    before, _, after = first.partition('PAIR = "')
    first = f"{before}PAIR = {prompt!r}\n{after.partition(chr(10))[2]}"
    first = first.replace('scenario("pair")', 'scenario("pair", script=lk.stand_in().source)')
    assert "stand_in" in first
    lab = lk.lesson("s12")
    names: dict[str, Any] = {"lk": lk, "lab": lab}
    said = io.StringIO()
    try:
        with capture_output(), contextlib.redirect_stdout(said):
            for source in (first, *later):
                exec(source, names)
    finally:
        lab.remove()
    assert [tree["name"] for tree in names["index"]] == trees
    assert "parser" not in said.getvalue()


def test_the_lesson_suggests_the_prompt_that_is_tried_here() -> None:
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, 4).cells)
    assert DOCS in text

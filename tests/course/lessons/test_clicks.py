"""Lesson 7's picture can still be clicked after Run All, when its last cell has closed the lab."""

from __future__ import annotations

import shutil
from typing import Any

from cells import code


def test_a_click_completes_a_task_though_the_lab_is_closed() -> None:
    sources = code("s07")
    made, drawn = (
        next(number for number, source in enumerate(sources) if text in source)
        for text in ("diamond = ", "on_intent=clicks(diamond")
    )
    names: dict[str, Any] = {}
    exec(sources[0], names)
    names["lab"].static = False  # as in JupyterLab
    for source in (*sources[made : drawn + 1], sources[-1]):
        exec(source, names)
    assert sources[-1] == "lab.close()"
    board = names["diamond"]
    try:
        names["clicks"](board, names["log"])({"complete": 1})
        assert board.get(1).status == "completed"
        assert [task.id for task in board.ready()] == [2, 3, 5]
    finally:
        shutil.rmtree(board.folder.parent)

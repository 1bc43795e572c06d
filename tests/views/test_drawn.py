"""What every view draws of a day on which everything happens, to the pixel.

The files in ``drawn/`` hold it in words that can be read in a diff. When a picture should look
different: ``DRAWN=new .venv/bin/pytest -n 0 tests/views/test_drawn.py``, and read the diff. That a
picture says the truth is not asserted here, but in the tests of its view.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from canvases import crowded
from every_view import VIEWS
from workday import ALONE, RACING, TOGETHER, log_of, wordy

from learnkit.views import View
from learnkit.views.drawing.base import ROWS, Diagram
from learnkit.views.drawing.display import NARROW, WIDE

FOLDER = Path(__file__).resolve().parent / "drawn"
OF_TEAMS = {"Protocol", "Tasks", "Team", "Traffic", "Worktrees"}


def drawn(view: View[Any], k: int, rows: int) -> list[str]:
    """Fragments, picture and tables after k events, an element a line."""
    state = view.at(k)
    parts = [f"== after {k} events: {view.finding(state)}"]
    html = [] if isinstance(view, Diagram) else view.frame(state).items()
    parts += [f"-- {key}\n{re.sub(r'>(?=<)', chr(62) + chr(10), one)}" for key, one in html]
    for width in (WIDE, NARROW) if isinstance(view, Diagram) else (WIDE,):
        shapes = view.draw(state, width, rows).frame().items()
        parts += [f"-- {width} pixels, {rows} rows", *(f"{k[2:]}: {v}" for k, v in shapes)]
    return [*parts, "-- tables", *re.sub(r">(?=<)", ">\n", view.facts(state, rows)).split("\n")]


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: str(kind.__name__))
def test_a_day_is_drawn_as_it_was(kind: type[View[Any]]) -> None:
    name = kind.__name__
    steps = RACING if name == "Schedule" else TOGETHER if name in OF_TEAMS else ALONE
    view = kind(log_of(steps))
    # In the middle something runs and waits; at the end there is little room, for lines and words.
    parts = [*drawn(view, 0, 4), *drawn(view, len(steps) // 2, 48), *drawn(view, len(steps), 4)]
    full = drawn(kind(log_of(wordy(steps))), len(steps) - 9, 12)
    text = "\n".join([*parts, *full]) + "\n"
    file = FOLDER / f"{name.lower()}.txt"
    if os.environ.get("DRAWN") == "new":
        file.write_text(text, "utf-8")
    assert text.splitlines() == file.read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in VIEWS if issubclass(kind, Diagram)])
def test_no_text_of_that_day_lies_upon_another(kind: type[Diagram[Any]]) -> None:
    name = kind.__name__
    steps = RACING if name == "Schedule" else TOGETHER if name in OF_TEAMS else ALONE
    for log in (log_of(steps), log_of(wordy(steps))):
        view = kind(log)
        for k in range(len(steps) + 1):
            for width in (WIDE, NARROW):
                assert crowded(view.draw(view.at(k), width, ROWS)) == [], (k, width)

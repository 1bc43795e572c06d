"""One small drawing of every view, to be read as a whole when a picture changes.

A drawing has what each step of a short log says, the finding, every shape of the last picture, and
the table. When a picture should look different:
``RENEW=1 .venv/bin/pytest -n 0 tests/views/test_drawn.py``, and read the diff. That a picture
says the truth is not asserted here, but in the tests of its view.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from every_view import VIEWS
from short_logs import LOGS
from workday import log_of

from learnkit.views import View
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import WIDE, Canvas, Shape
from learnkit.views.words import told

FOLDER = Path(__file__).resolve().parent / "drawn"


def in_words(shape: Shape) -> str:
    """A shape on a line: what it is, where, and what it says."""
    size = f" {shape.width:g}×{shape.height:g}" if shape.width or shape.height else ""
    parts = [f"{shape.key}: {shape.kind} {shape.x:g},{shape.y:g}{size}", shape.mark]
    parts += [f"({shape.style})" * bool(shape.style), *(f"“{line}”" for line in shape.lines)]
    parts += [shape.path, f"says “{shape.says}”" * bool(shape.says)]
    parts += [f"pair {shape.pair}" * bool(shape.pair), shape.intent]
    return " ".join(filter(None, parts))


def rows_of(html: str) -> list[str]:
    """The rows of tables, a row a line."""
    return [
        " | ".join(re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row))
        for row in re.findall(r"<tr>(.*?)</tr>", html)
    ]


def drawn(view: View[Any]) -> Iterator[str]:
    """What a view says at each step, and the finding, the picture and the table at its end."""
    state = view.init()
    for number, event in enumerate(filter(view.wants, view.events), start=1):
        old, state = state, view.step(state, event)
        if view.frame(state) != view.frame(old):
            yield f"{number} {event.type}: {told(event)}"
    yield f"== {view.finding(state)}"
    if not isinstance(view, Diagram):
        for key, html in view.frame(state).items():
            yield f"-- {key}"
            yield from re.sub(r">(?=<(?!/))", ">\n", html).split("\n")
        yield "-- picture"
    yield from canvas_in_words(view.draw(state, WIDE, 12))
    yield "-- table"
    yield from rows_of(view.facts(state, 12))


def canvas_in_words(canvas: Canvas) -> list[str]:
    size = f"{canvas.width:g}×{canvas.height:g}"
    return [size, *map(in_words, canvas.shapes)]


def compared(lines: list[str], file: Path) -> None:
    """Compare lines with those of a file, or replace them."""
    if os.environ.get("RENEW"):
        file.write_text("\n".join(lines) + "\n", "utf-8")
    assert lines == file.read_text("utf-8").splitlines()


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: str(kind.__name__))
def test_a_short_log_is_drawn_as_it_was(kind: type[View[Any]]) -> None:
    name = kind.__name__
    lines = "\n".join(drawn(kind(log_of(LOGS[name])))).split("\n")
    compared(lines, FOLDER / f"{name.lower()}.txt")

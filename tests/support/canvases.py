"""What tests ask of a display list."""

from __future__ import annotations

import re
from typing import Any

from learnkit.views import View
from learnkit.views.drawing.display import WIDE, Canvas, Shape
from learnkit.widget.pump import Feed


def words(canvas: Canvas) -> str:
    """All the text of a diagram."""
    return " ".join(texts(canvas))


def apart(one: Shape, other: Shape) -> bool:
    """Whether two boxes have no common point inside."""
    return (
        one.x + one.width <= other.x + 0.1
        or other.x + other.width <= one.x + 0.1
        or one.y + one.height <= other.y + 0.1
        or other.y + other.height <= one.y + 0.1
    )


def inside(one: Shape, canvas: Canvas) -> bool:
    """Whether a box is within its diagram."""
    return (
        one.x >= 0
        and one.y >= 0
        and one.x + one.width <= canvas.width
        and one.y + one.height <= canvas.height
    )


def said(view: View[Any], state: Any = None) -> str:
    """The title of a view and the line below it; of all events without a state."""
    return view.line(view.at() if state is None else state).removeprefix(f"{view.name}: ")


def overloaded(title: str) -> bool:
    """Whether a title has more than 80 characters, or more than two numbers that are no names."""
    return len(title) > 80 or len(re.findall(r"(?<![\w#.,])\d", title)) > 2


def drawn(view: View[Any], k: int | None = None, width: float = WIDE, rows: int = 60) -> Canvas:
    """The picture of a view after k events; of all events without k."""
    return view.draw(view.at(k), width, rows)


def texts(canvas: Canvas) -> list[str]:
    """Every line of text in a diagram."""
    return [line for shape in canvas.shapes for line in shape.lines]


def stops(view: View[Any]) -> int:
    """How many times the player's slider stops, without the start: once a visible change."""
    sent: list[dict[str, Any]] = []
    Feed(view, sent.append).flush()
    patches = [patch for message in sent for patch in message["patches"]]
    return sum(bool(patch.keys() & {"set", "drop", "order"}) for patch in patches[1:])

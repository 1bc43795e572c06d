"""What tests ask of a display list."""

from __future__ import annotations

from learnkit.views.drawing.display import Canvas, Shape


def words(canvas: Canvas) -> str:
    """All the text of a diagram."""
    return " ".join(line for shape in canvas.shapes for line in shape.lines)


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

"""What is drawn from texts and numbers: markup that holds none of others, and round scales."""

from __future__ import annotations

import html

from learnkit.events.text import clean


def esc(text: object) -> str:
    """Escape for HTML text, HTML attributes and SVG, after :func:`clean`."""
    return html.escape(clean(str(text)), quote=True)


def scale_of(longest: int) -> int:
    """The value of a full length: a round number, not much more than the longest thing needs."""
    steps = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
    power = 1
    while steps[-1] * power < longest:
        power *= 10
    return next(step * power for step in steps if step * power >= longest)

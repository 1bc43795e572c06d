"""A card: what the lab shows, as plain HTML and a line of text, or as a widget.

The static form has no style, script or picture, and nothing that differs from machine to machine.
It is shown where outputs are committed, and needs no IPython.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from learnkit.runtime.notebook import in_kernel, is_live
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.course.content import Option

#: How the live form looks: a foreground and a background are always set together.
FRAME = (
    "color:var(--jp-content-font-color1,#1f2328);background:var(--jp-layout-color0,#fff);"
    "border:1px solid var(--jp-border-color2,#d9dce1);border-radius:6px;padding:12px 16px;"
    "max-width:60em"
)


@dataclass(frozen=True, slots=True)
class Card:
    """Something to look at in a notebook.

    Attributes:
        html: the static form; no style, script or picture, everything escaped.
        text: the same in a line or a few.
        live: makes the MIME bundle for an open notebook; by default the static form in a frame.
    """

    html: str
    text: str
    live: Callable[[], Mapping[str, Any]] | None = None

    def or_widget(self, make: Callable[[], Any]) -> Card:
        """Return this card with a widget as its live form.

        Args:
            make: makes the widget when the card is shown in an open notebook.
        """
        return replace(self, live=lambda: bundle(make()))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if not is_live():
            return {"text/html": self.html, "text/plain": self.text}
        if self.live is None:
            framed = f'<div style="{FRAME}">{self.html}</div>'
            return {"text/html": framed, "text/plain": self.text}
        return {**self.live(), "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def show(card: Card) -> None:
    """Display a card now; outside a notebook, print its text."""
    if in_kernel():
        sys.modules["IPython"].display.display(card)
    else:
        print(card.text)


def bundle(widget: Any) -> Mapping[str, Any]:
    """Return the MIME bundle that shows a widget."""
    shown = widget._repr_mimebundle_()
    data: Mapping[str, Any] = shown[0] if isinstance(shown, tuple) else shown  # an anywidget's
    return data


def inline(text: str) -> str:
    """Return text as HTML: escaped, and with code where the text has backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(text))


def choices(options: Mapping[str, Option]) -> str:
    """Return the options to choose from as HTML, without their reasons."""
    rows = (f"<li><strong>{k}</strong> · {inline(o.text)}</li>" for k, o in options.items())
    return f"<ul>{''.join(rows)}</ul>"


def explained(options: Mapping[str, Option], right: str, given: str | None) -> str:
    """Return every option with its reason as HTML."""
    rows = []
    for letter, option in options.items():
        yours = "● your answer, " if letter == given else ""
        mark = "✓ right" if letter == right else "✗ wrong"
        rows.append(
            f"<li><strong>{letter}</strong> ({yours}{mark}) · {inline(option.text)}<br>"
            f"{inline(option.why)}</li>"
        )
    return f"<ul>{''.join(rows)}</ul>"

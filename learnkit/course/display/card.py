"""A card: what the lab shows, as plain HTML and a line of text, or as a widget.

Static where outputs are committed or nobody sits in front of the notebook: no style, no script, no
picture, nothing that differs from machine to machine. IPython is not imported for it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from learnkit.runtime.notebook import in_kernel, is_live
from learnkit.views.drawing.text import esc

#: How the live form looks: a foreground and a background are always set together.
FRAME = (
    "color:var(--jp-content-font-color1,#1f2328);background:var(--jp-layout-color1,#fdfdfc);"
    "border:1px solid var(--jp-border-color1,#8a9099);"
    "border-left:4px solid var(--jp-brand-color1,#1c4e96);padding:8px 14px;max-width:60em"
)


@dataclass(frozen=True, slots=True)
class Card:
    """Something to look at in a notebook.

    Attributes:
        html: the static form; no style, script or picture, everything escaped.
        text: the same in a line or a few.
        live: makes the MIME bundle for a notebook that someone sits in front of; by default the
            static form in a frame.
    """

    html: str
    text: str
    live: Callable[[], Mapping[str, Any]] | None = None

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
    """Display a card now; outside of a notebook, print its text."""
    if in_kernel():
        sys.modules["IPython"].display.display(card)
    else:
        print(card.text)


def inline(text: str) -> str:
    """Text as HTML: escaped, and what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", esc(text))


def bundle(widget: Any) -> Mapping[str, Any]:
    """The MIME bundle that shows a widget."""
    shown: Mapping[str, Any] = widget._repr_mimebundle_()
    return shown

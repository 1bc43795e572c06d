"""The player on a page of its own, without a kernel, a server or other files.

A view's patches are written into the page as packed JSON, and the same JavaScript plays them.
Without scripts the page shows each view's static form. The page itself forbids loading anything.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from learnkit.runtime.secret_scan import refuse_secrets
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import NARROW, RULES, WIDE
from learnkit.views.drawing.text import esc
from learnkit.widget.pump import Feed

_SCRIPTS = ("tape.js", "draw.js", "parts.js", "player.js", "explore.js", "frozen.js")

#: Only what is in the page itself.
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)


def tape(view: Any) -> str:
    """A view as HTML: its static form, and the patches that a script plays instead."""
    data = {"label": view.name, "css": view.css, "wide": _message(view, WIDE)}
    if isinstance(view, Diagram):
        data["narrow"] = _message(view, NARROW)
    return framed(view.html(), data)


def framed(static: str, data: dict[str, Any]) -> str:
    """A static form, and the data that a script shows instead."""
    refuse_secrets(data)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    data_of = f'<script type="application/gzip">{packed(text)}</script>'
    return f'<div class="lk-tape">{static}{data_of}</div>'


def packed(text: str) -> str:
    """A text as a page's script unpacks it."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _message(view: Any, width: float) -> dict[str, Any]:
    """All patches of a view as one message."""
    sent: list[dict[str, Any]] = []
    feed = Feed(view, sent.append, width)
    feed.flush()
    if feed.error:
        raise feed.error
    patches = [patch for message in sent for patch in message["patches"]]
    return {**sent[-1], "seq": 0, "patches": patches}


def script(name: str) -> str:
    """The text of one of the player's files."""
    return (Path(__file__).parent / name).read_text("utf-8")


def sheet() -> str:
    """The style sheet of the player: its own, that of the marks, and that of shapes."""
    return theme.stylesheet() + RULES + script("player.css")


def scripts() -> str:
    """The player and its style sheet, which a page needs once, after all its tapes."""
    code = "\n".join(map(script, _SCRIPTS))
    for name in ("player", "explorer"):  # a page has one script, without modules
        code = code.replace("export default ", f"const {name} = ", 1)
    code = code.replace("export ", "")
    return (
        f'<script type="text/plain" id="lk-sheet">{sheet() + script("explore.css")}</script>\n'
        f'<script type="module">\n{code}</script>'
    )


def page(title: str, body: str, *, look: str = "") -> str:
    """A whole HTML page that needs no other file."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{esc(title)}</title>\n<style>{script('frozen.css')}{look}</style></head>\n"
        f"<body>{body}\n{scripts() if 'lk-tape' in body else ''}</body></html>\n"
    )

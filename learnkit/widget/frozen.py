"""The player on a page of its own: no kernel, no server, no other file.

A view's patches are written into the page as JSON, and the same JavaScript plays them. Without
scripts the page shows each view's static form. The page itself forbids loading anything.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from learnkit.views.drawing import theme
from learnkit.views.drawing.text import esc
from learnkit.widget.pump import Feed

_HERE = Path(__file__).parent
_SCRIPTS = ("tape.js", "parts.js", "player.js", "frozen.js")

#: A tape in a page; its group is the view's static form.
TAPE = r'(?s)<div class="lk-tape">(.*?)<script type="application/json">[^<]*</script></div>'
#: Only what is in the page itself.
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
#: Looks of the page around the players; light or dark as the reader's system is.
_LOOK = """:root{color-scheme:light;--jp-layout-color0:#fff;--jp-content-font-color1:#1f2328;
--lk-link:#1c4e96;--lk-rule:#d9dce1}
@media (prefers-color-scheme:dark){:root{color-scheme:dark;--jp-layout-color0:#111;
--jp-content-font-color1:#e4e7eb;--lk-link:#a9c9fa;--lk-rule:#3c4148}}
body{background:var(--jp-layout-color0);color:var(--jp-content-font-color1);
font:16px/1.55 system-ui,sans-serif;
margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem}
a{color:var(--lk-link)}
h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.15rem;margin:2rem 0 .4rem}
footer{font-size:.85rem;margin-top:3rem}.lk-tape{max-width:100%;overflow-x:auto}
.lk-tape table{border-collapse:collapse;font-size:.85rem}.lk-tape td,.lk-tape th{
border:1px solid #868d97;padding:2px 8px;text-align:left;vertical-align:top}
.lk-tape img{max-width:100%;height:auto}"""


def tape(view: Any) -> str:
    """A view as HTML: its static form, and the patches that a script plays in its place.

    Args:
        view: any view.
    """
    patches: list[Any] = []
    feed = Feed(view, lambda message: patches.extend(message["patches"]))
    feed.flush()
    if feed.error:
        raise feed.error
    data = {"label": view.name, "css": view.css, "patches": patches}
    return (
        f'<div class="lk-tape">{view.html()}'
        f'<script type="application/json">{_inert(json.dumps(data))}</script></div>'
    )


def scripts() -> str:
    """What a page with tapes needs once, after all of them: the player and its style sheet."""
    sheet = theme.stylesheet() + (_HERE / "player.css").read_text(encoding="utf-8")
    code = "\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    code = code.replace("export default ", "const player = ").replace("export class", "class")
    return (
        f'<script type="text/plain" id="lk-sheet">{sheet}</script>\n'
        f'<script type="module">\n{code}</script>'
    )


def page(title: str, body: str, *, look: str = "") -> str:
    """A whole HTML page that needs no other file.

    Args:
        title: raw text.
        body: HTML with tapes in it.
        look: more CSS.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{esc(title)}</title>\n<style>{_LOOK}{look}</style></head>\n"
        f"<body>{body}\n{scripts()}</body></html>\n"
    )


def _inert(text: str) -> str:
    """JSON that no HTML parser takes for the end of a script."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")

"""A page of the course as a widget: a game or a panel that Python and a script share.

It sets its traits once, before it is shown. Everything else is sent as messages, which any thread
may send.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnkit.errors import lab_extra
from learnkit.views.drawing import theme
from learnkit.widget import frozen

with lab_extra():
    import anywidget
    import traitlets


def script_beside(module: str, name: str = "widget.js") -> str:
    """Read the script of a page, which is beside its module."""
    return f"{frozen.script('parts.js')}\n{Path(module).with_name(name).read_text('utf-8')}"


class Page(anywidget.AnyWidget):
    """What a script shows; a subclass has it as ``_esm``.

    Args:
        looks: style sheets besides those of every page.
        start: what it shows at first, ready for JSON.
        act: called with each message of the page.
        desk: the name under which the kernel's main thread finds who acts; see ``first_edit/desk``.
    """

    css = traitlets.Unicode().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    desk = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        looks: list[str],
        start: dict[str, Any],
        act: Callable[[dict[str, Any]], object],
        desk: str = "",
    ) -> None:
        sheets = [theme.stylesheet(), frozen.script("player.css"), *looks]
        super().__init__(css="\n".join(sheets), start=start, desk=desk)
        self._act = act
        self.on_msg(self._heard)

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict):
            self._act(content)

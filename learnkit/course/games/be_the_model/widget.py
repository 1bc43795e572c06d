"""The page of a session as a widget: what the model sees, and forms to answer in its place.

Like the player, it sets its traits once, before it is shown. Everything else is sent as messages,
which any thread may send; ``README.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnkit.errors import lab_extra
from learnkit.views import request
from learnkit.views.drawing import theme
from learnkit.views.messages import Messages
from learnkit.widget import host

with lab_extra():
    import anywidget
    import traitlets

_HERE = Path(__file__).parent


class SessionPanel(anywidget.AnyWidget):
    """A page on which the learner answers as the model."""

    _esm = "\n".join([host.script("parts.js"), (_HERE / "widget.js").read_text("utf-8")])
    css = traitlets.Unicode().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    desk = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, act: Callable[[dict[str, Any]], object], start: dict[str, Any], desk: str = ""
    ) -> None:
        own = (_HERE / "widget.css").read_text("utf-8")
        looks = [theme.stylesheet(), host.script("player.css"), Messages.css, request.CSS, own]
        super().__init__(css="\n".join(looks), start=start, desk=desk)
        self._act = act
        self.on_msg(self._on_message)

    def _on_message(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict):
            self._act(content)

"""The widget of an explorable: it asks the function at each move, and the page draws the answer."""

from __future__ import annotations

from typing import Any

from learnkit.errors import lab_extra
from learnkit.views.drawing.display import NARROW, WIDEST
from learnkit.widget.frozen import script, sheet

with lab_extra():
    import anywidget
    import traitlets


class Explorer(anywidget.AnyWidget):
    """Shows an explorable, and answers to its controls."""

    _esm = "\n".join(map(script, ("draw.js", "parts.js", "explore.js")))
    css = traitlets.Unicode().tag(sync=True)
    controls: traitlets.List[Any] = traitlets.List().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)

    def __init__(self, explorable: Any) -> None:
        look = sheet() + script("explore.css")
        first = explorable.message(explorable.start)
        super().__init__(css=look, controls=explorable.looks(), start=first)
        self._explorable = explorable
        self.on_msg(self._heard)

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        places, width = content.get("places"), content.get("width")
        if not isinstance(places, dict) or not isinstance(width, int):
            return
        controls = self._explorable.controls
        if places.keys() == controls.keys() and all(
            isinstance(place, int) and 0 <= place < len(controls[name].values)
            for name, place in places.items()
        ):
            self.send(self._answer(places, min(max(width, NARROW), WIDEST)))

    def _answer(self, places: dict[str, int], width: float) -> dict[str, Any]:
        try:
            message: dict[str, Any] = self._explorable.message(places, width)
        except Exception as error:  # the reader's own function; without an answer nothing moves
            return {"failed": f"{type(error).__name__}: {error}"}
        return message

    def __repr__(self) -> str:
        return str(self._explorable)

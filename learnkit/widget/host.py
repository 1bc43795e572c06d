"""The player as a widget. No other module of the player uses a widget library.

A kernel sends messages from a thread of its own, so that sending one is safe from any thread and
works while a cell runs. Setting a synchronised trait isn't, so traits are set once, before the
widget is shown. Clicks arrive in ``_heard``, in the main thread, or in another one where comms have
a subshell.
"""

from __future__ import annotations

from typing import Any

from learnkit.errors import lab_extra
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST
from learnkit.widget.frozen import script, sheet
from learnkit.widget.pump import PUMP, Feed, Pump

with lab_extra():
    import anywidget
    import traitlets
    from IPython.display import display

_SCRIPTS = ("tape.js", "draw.js", "parts.js", "player.js")


class Player(anywidget.AnyWidget):
    """Shows a view, follows it as it grows, and replays any part of it."""

    _esm = "\n".join(map(script, _SCRIPTS))
    label = traitlets.Unicode().tag(sync=True)
    css = traitlets.Unicode().tag(sync=True)

    def __init__(self, view: Any, pump: Pump = PUMP) -> None:
        super().__init__(label=view.name, css=sheet() + view.css)
        self._view, self._pump, self._width = view, pump, WIDE
        self._feed = self._feed_of(WIDE)
        self.on_msg(self._heard)
        subscribe = getattr(view.events, "subscribe", None)
        self._leave = subscribe(lambda _: pump.mark(self._feed)) if subscribe else None

    def _lay_out(self, width: object) -> None:
        """Draw everything again for a player of another width."""
        if not isinstance(width, int) or width == self._width:
            return
        self._width = min(max(width, NARROW), WIDEST)
        self.send({"reset": True})
        self._feed = self._feed_of(self._width)
        self._feed.flush()

    def _feed_of(self, width: int) -> Feed:
        """A feed that is silent once the player has another width: the pump may still have it."""

        def send(message: dict[str, Any]) -> None:
            if width == self._width:
                self.send(message)

        return Feed(self._view, send, width)

    def settle(self) -> None:
        """Send everything that has happened so far, so that nothing arrives late."""
        self._pump.settle(self._feed)
        if self._feed.error:
            raise self._feed.error

    def close(self) -> None:
        """Stop following the log, and remove the widget from the page."""
        if self._leave:
            self._leave()
        super().close()

    def __repr__(self) -> str:
        return str(self._view)

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        if not isinstance(content, dict):
            return
        if "width" in content:
            self._lay_out(content["width"])
        elif isinstance(content.get("want"), int):
            self._feed.replay(content["want"])
        elif isinstance(content.get("intent"), dict) and self._view.on_intent:
            self._view.on_intent(content["intent"])


def show(view: Any) -> Player:
    """Display a player for a view, with everything that has happened so far."""
    player = Player(view)
    display(player)
    player._feed.flush()
    return player


def bundle(view: Any) -> dict[str, Any]:
    """The MIME bundle of a player for a view; the page asks for what has happened so far."""
    player = Player(view)
    player._feed.flush()
    shown: Any = player._repr_mimebundle_()
    data: dict[str, Any] = shown[0] if isinstance(shown, tuple) else shown
    return data

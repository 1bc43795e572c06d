"""The player: displays any view live in a notebook, and knows nothing about what it shows.

``pump`` turns events into numbered patches and sends them; ``host`` is the only module that
imports a widget library; ``player.js`` keeps the patches, so that it can play them while the
kernel is busy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from learnkit.views.drawing.base import View


class Live:
    """The player that views find. It loads no widget library before a view goes live."""

    @contextmanager
    def follow(self, view: View[Any]) -> Iterator[None]:
        """Display a view now, and let it grow until the context ends."""
        from learnkit.widget import host

        player = host.show(view)
        try:
            yield
        finally:
            player.settle()

    def tape(self, view: View[Any]) -> str:
        """Return a view as HTML for a page that has the player's script."""
        from learnkit.widget import frozen

        return frozen.tape(view)

    def bundle(self, view: View[Any]) -> dict[str, Any]:
        """Return a view as what an open notebook displays in place of its static form."""
        from learnkit.widget import host

        return host.bundle(view)

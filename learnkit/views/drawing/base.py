"""The base class of every view: a pure fold over the event log, and the ways to show its state.

A subclass defines how one event changes the state, and which picture and sentences belong to a
state. The state after k events is the fold of the first k, so a slider can go anywhere; a state is
a value that no later step changes. A view doesn't know its player: it makes frames, and asks the
:class:`Player` that was set, if any, to display them.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from learnkit.errors import UsageError
from learnkit.events.log import Event
from learnkit.runtime.notebook import has_tapes, in_kernel, is_live, is_static
from learnkit.views.drawing import display, static
from learnkit.views.drawing.display import Canvas
from learnkit.views.words import below, title

S = TypeVar("S")
V = TypeVar("V", bound="View[Any]")

#: The most rows of a live diagram.
ROWS = 60


def css_beside(module: str) -> str:
    """Read the style sheet of a view."""
    return Path(module).with_suffix(".css").read_text("utf-8")


class Player(Protocol):
    """Displays any view. The widget package has one; a view finds it when it is first displayed."""

    def follow(self, view: View[Any], /) -> AbstractContextManager[object]:
        """Display a view now, and let it grow until the context ends."""

    def tape(self, view: View[Any], /) -> str:
        """Return a view as HTML for a page that has the player's script."""

    def bundle(self, view: View[Any], /) -> dict[str, Any]:
        """Return a view as what an open notebook displays in place of its static form."""


class View(ABC, Generic[S]):
    """A picture of an event log.

    A subclass defines ``start``, ``fold``, ``says``, ``draw`` for the static picture, ``frame`` for
    the living one, and ``facts`` for the words below the static one. A :class:`Diagram` has
    ``frame`` and ``facts`` already. Its states are values; two that are equal show the same, and a
    step of the slider is a change of what is shown.

    Args:
        events: an ``EventLog``, or any sequence of events.
        lane: show only what happened to this agent; None shows everyone, or the first one where a
            view is of one agent.
        on_intent: called with the dict of a clicked ``data-intent``. It should append an event:
            the view itself changes only through the log.
    """

    #: The view's name, as a screen reader announces it.
    name: ClassVar[str] = "view"
    #: CSS for its fragments in the live form.
    css: ClassVar[str] = ""
    #: The state before the first event.
    start: ClassVar[Any]
    #: Whether it is a picture of one agent: without a lane, of the first one in the log.
    alone: ClassVar[bool] = False
    #: Displays views live: an entry point of the group ``learnkit.players``, loaded when needed.
    player: ClassVar[Player | None] = None

    def __init__(
        self,
        events: Sequence[Event] | Any,
        *,
        lane: str | None = None,
        on_intent: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        if not isinstance(events, Iterable):
            name = type(self).__name__
            raise UsageError(f"{events!r} is no event log; write {name}(agent.events)")
        self.events = events
        self.lane = lane
        self.on_intent = on_intent

    # A subclass defines these.

    @abstractmethod
    def fold(self, state: S, event: Event) -> S:
        """The state after one more event; an equal one if what is shown doesn't change.

        Args:
            state: the state so far, which stays as it is.
            event: what happens next.
        """

    @abstractmethod
    def frame(self, state: S, width: float = display.WIDE) -> dict[str, str]:
        """The living picture as HTML fragments by key, in order.

        A key is ``name`` or ``region/name``: fragments of a region stand together. A fragment that
        did not change should be the same string object, so that comparing costs nothing.

        Args:
            state: any state of this view.
            width: of the player, in pixels; fragments of HTML flow, so only diagrams depend on it.
        """

    @abstractmethod
    def draw(self, state: S, width: float, rows: int) -> Canvas:
        """The picture as a display list; of a document only the static one.

        Args:
            state: any state of this view.
            width: of the canvas, in pixels, from ``display.NARROW`` to ``display.WIDEST``.
            rows: about how many rows there may be; what is left out is counted.
        """

    @abstractmethod
    def says(self, state: S) -> list[str]:
        """What the whole picture shows, and the sentences of the line below that; empty for none.

        Args:
            state: any state of this view.
        """

    @abstractmethod
    def facts(self, state: S, rows: int) -> str:
        """What the picture shows, as HTML tables of about ``rows`` rows at most.

        Args:
            state: any state of this view.
            rows: about how many rows it may have.
        """

    # Every view has these.

    def finding(self, state: S) -> str:
        """The title: of at most 80 characters and two numbers.

        Args:
            state: any state of this view.
        """
        return title(self.says(state)[0])

    def because(self, state: S) -> str:
        """The line below the title; empty for none.

        Args:
            state: any state of this view.
        """
        return below(*self.says(state)[1:])

    def init(self) -> S:
        """The state before the first event."""
        first: S = self.start
        return first

    def step(self, state: S, event: Event) -> S:
        """The state after one more event; the same object if what is shown doesn't change.

        Args:
            state: the state so far.
            event: what happens next.
        """
        new = self.fold(state, event)
        return state if new == state else new

    def line(self, state: S) -> str:
        """The view in one line of plain text: its name, and what it shows.

        Args:
            state: any state of this view.
        """
        return f"{self.name}: {self.finding(state)} {self.because(state)}".rstrip()

    def wants(self, event: Event) -> bool:
        """Tell whether an event belongs to the lane that is shown.

        Args:
            event: any event of the log.
        """
        first = next((one.lane for one in self.events), event.lane)
        return event.lane == (self.lane or (first if self.alone else event.lane))

    def at(self, k: int | None = None) -> S:
        """The state after the first ``k`` events of the shown lane; None means all of them.

        Args:
            k: number of events of the shown lane; None for all of them.
        """
        state = self.init()
        for event in [one for one in self.events if self.wants(one)][:k]:
            state = self.step(state, event)
        return state

    def html(self, k: int | None = None) -> str:
        """The static form after ``k`` events, under 20 KB: what does not fit is cut and counted.

        Args:
            k: number of events of the shown lane; None for all of them.
        """
        state = self.at(k)
        alt = f"{self.line(state)} The same stands below in words."
        for rows in (48, 36, 28, 20, 14, 9, 5, 2):
            image = self.draw(state, display.WIDE, rows).img(alt)
            facts, because = self.facts(state, rows), self.because(state)
            shown = static.form(self.finding(state), image, facts, because)
            if len(shown.encode()) < static.LIMIT:
                break
        return shown

    def embedded(self) -> str:
        """The static form for a larger output, or the tape in pages that have the player."""
        return _player().tape(self) if has_tapes() else self.html()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        live = _player().bundle(self) if is_live() else {}
        return {**live, "text/html": self.embedded(), "text/plain": self.line(self.at())}

    def __str__(self) -> str:
        return self.line(self.at())

    @contextmanager
    def live(self: V) -> Iterator[V]:
        """Show the view now and let it grow while the block runs.

        With ``LEARNKIT_STATIC=1`` it is shown once, in its static form, when the block ends, also
        when it ends with an error. Outside of a notebook nothing is shown.

        Raises:
            Exception: what the view itself raised while it was drawn, when the block ends.
        """
        if not in_kernel():
            yield self
        elif is_static():
            try:
                yield self
            finally:
                sys.modules["IPython"].display.display(self)
        else:
            with _player().follow(self):
                yield self


def _player() -> Player:
    """The player that has registered itself, as an entry point of its package."""
    if View.player is None:
        from importlib.metadata import entry_points  # slow to import, and rarely needed

        registered = entry_points(group="learnkit.players")
        if not registered:
            raise UsageError("no player of pictures is installed: pip install learnkit")
        View.player = next(iter(registered)).load()()
    return View.player


class Diagram(View[S]):
    """A view that is the same display list in both forms, laid out for any width."""

    def frame(self, state: S, width: float = display.WIDE) -> dict[str, str]:
        return self.draw(state, width, ROWS).frame()

    def facts(self, state: S, rows: int) -> str:
        """What a reader of the living picture hears, a row for each shape that says something."""
        shapes = self.draw(state, display.WIDE, rows).shapes
        said = dict.fromkeys(shape.says for shape in shapes if shape.says)
        every = static.cut(list(said), 2 * rows)
        body = [[f"… {one} more …" if isinstance(one, static.Gap) else one] for one in every]
        return static.table(["what the picture shows"], body)

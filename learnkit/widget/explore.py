"""Explorables: a picture that answers while the reader changes its cause.

A pure function of a few values makes the picture; one value is dragged, and one may be chosen of
two or three. In JupyterLab the function is asked at each move. A page without a kernel has the
answers to all values, and a page without scripts shows three of them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from learnkit.errors import UsageError
from learnkit.runtime.notebook import has_tapes, is_live
from learnkit.views.drawing import static
from learnkit.views.drawing.display import NARROW, WIDE, Canvas
from learnkit.views.drawing.text import esc
from learnkit.widget.pump import diff

#: The most pictures of one explorable; a page without a kernel carries all of them.
MOST = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What an explorable shows for some values.

    Attributes:
        finding: its title: what it shows, in at most 80 characters and two numbers.
        canvas: the picture.
        assumes: every other number that it rests on; it is folded.
        because: why it is so, in a sentence below the title; empty for none.
        axis: where the picture shows the first value of what is dragged, and where the last one, as
            ``x, y, x, y`` in pixels; None where it shows no such axis. The slider lies along it,
            and the picture itself can be dragged.
    """

    finding: str
    canvas: Canvas
    assumes: str
    because: str = ""
    axis: tuple[float, float, float, float] | None = None

    def said(self) -> dict[str, Any]:
        """Everything but the picture, by name."""
        return {
            "finding": self.finding,
            "because": self.because,
            "assumes": self.assumes,
            "axis": self.axis and list(self.axis),
        }


@dataclass(frozen=True, slots=True)
class Control:
    """Something the reader changes.

    Attributes:
        kind: ``drag`` (a slider) or ``pick`` (buttons).
        values: what the function may get, in order.
        labels: how each value is written.
        start: number of the value that is shown first.
        label: what it is, such as ``files to read``.
    """

    kind: str
    values: tuple[Any, ...]
    labels: tuple[str, ...]
    start: int
    label: str


def drag(
    values: Sequence[Any],
    start: Any = None,
    label: str = "",
    *,
    unit: str = "",
    said: Callable[[Any], str] | None = None,
) -> Control:
    """A cause to drag, for :func:`explore`.

    Args:
        values: what the function may get, in order, such as ``range(1, 21)``.
        start: the value that is shown first; None means the middle one.
        label: what it is, such as ``files to read``; by default the name of the parameter.
        unit: written behind a number, such as ``tokens``.
        said: writes a value, where a number and a unit do not say it.

    Returns:
        The control, to be given to :func:`explore` by the name of the parameter.

    Raises:
        UsageError: for fewer than two values, or a start that isn't one of them.
    """
    return _control("drag", values, start, label, said or (lambda one: _numbered(one, unit)))


def pick(values: Sequence[str], start: str | None = None, label: str = "") -> Control:
    """A choice of two or three, for :func:`explore`.

    Args:
        values: what the function may get, which is also what the buttons say.
        start: the value that is shown first; None means the first one.
        label: what it is; by default the name of the parameter.

    Returns:
        The control, to be given to :func:`explore` by the name of the parameter.

    Raises:
        UsageError: for fewer than two values or more than three, or a start that isn't one of them.
    """
    if len(values) > 3:
        raise UsageError(f"pick has {len(values)} values; a reader compares two or three")
    return _control("pick", values, values[0] if start is None and values else start, label, str)


def explore(function: Callable[..., Answer], **controls: Control) -> Explorable:
    """Show a picture that answers while the reader changes its cause.

    Example: ``lk.explore(bill, least=lk.drag(range(0, 8001, 200), unit="tokens"))`` for a function
    ``bill(width, least)``.

    Args:
        function: gets the picture's width in pixels as ``width`` and a value for each control, and
            returns an :class:`Answer`. The same values always give the same answer.
        controls: by the names of the function's parameters: one :func:`drag`, and at most one
            :func:`pick`.

    Returns:
        The explorable; a notebook shows it when it is the value of a cell.

    Raises:
        UsageError: for other controls than these, or more than 200 combinations of their values.
    """
    kinds = [control.kind for control in controls.values()]
    if kinds.count("drag") != 1 or kinds.count("pick") > 1:
        raise UsageError("explore needs one drag(…), and at most one pick(…): one cause at a time")
    number = 1
    for control in controls.values():
        number *= len(control.values)
    if number > MOST:
        raise UsageError(f"{number} combinations of values; give at most {MOST}, with larger steps")
    return Explorable(function, controls)


class Explorable:
    """A function whose picture answers to its controls; made by :func:`explore`."""

    def __init__(self, function: Callable[..., Answer], controls: dict[str, Control]) -> None:
        self.function = function
        # The cause first: a page shows its slider directly below the picture.
        self.controls = dict(sorted(controls.items(), key=lambda item: item[1].kind))

    @property
    def start(self) -> dict[str, int]:
        """The numbers of the values that are shown first, by name of the control."""
        return {name: control.start for name, control in self.controls.items()}

    def answer(self, places: dict[str, int], width: float = WIDE) -> Answer:
        """What the function says."""
        values = {name: self.controls[name].values[place] for name, place in places.items()}
        return self.function(width=width, **values)

    def message(self, places: dict[str, int], width: float = WIDE) -> dict[str, Any]:
        """An answer as the page needs it."""
        answer = self.answer(places, width)
        frame = [[key[2:], wire] for key, wire in answer.canvas.frame().items()]
        return {"places": places, "width": width, "frame": frame, **answer.said()}

    def looks(self) -> list[dict[str, Any]]:
        """The controls, JSON-ready."""
        return [
            {
                "name": name,
                "kind": control.kind,
                "label": control.label or name.replace("_", " "),
                "labels": list(control.labels),
                "start": control.start,
            }
            for name, control in self.controls.items()
        ]

    def html(self) -> str:
        """The form for pages without scripts: the first, the shown and the last state."""
        ((name, cause), *_) = self.controls.items()
        last = len(cause.values) - 1
        cells = []
        for place in dict.fromkeys((0, cause.start, last)):
            answer = self.answer({**self.start, name: place}, NARROW)
            label = esc(f"{cause.label or name.replace('_', ' ')}: {cause.labels[place]}")
            picture = answer.canvas.img(answer.finding)
            cells.append(f"<td><strong>{label}</strong><br>{esc(answer.finding)}<br>{picture}</td>")
        shown = self.answer(self.start)
        table = f"<table><tr>{''.join(cells)}</tr></table>"
        return static.form(shown.finding, table, esc(shown.assumes), shown.because, "Assumptions")

    def tape(self) -> dict[str, Any]:
        """The answers to all values, for a page without a kernel: by width, then by choice.

        Along the cause, each answer is what differs from the one before, its texts too.
        """
        names = list(self.controls)
        cause, choices = self.controls[names[0]], [self.controls[name] for name in names[1:]]
        rows = {}
        for width in (WIDE, NARROW):
            rows[str(width)] = [
                list(self._along(dict(zip(names[1:], [choice], strict=False)), width))
                for choice in (range(len(choices[0].values)) if choices else [0])
            ]
        assert len(cause.values) == len(rows[str(WIDE)][0])
        return {"explore": True, "controls": self.looks(), "answers": rows}

    def _along(self, choice: dict[str, int], width: float) -> Iterator[dict[str, Any]]:
        name = next(iter(self.controls))
        frame: dict[str, str] = {}
        known: dict[str, Any] = {}
        for place in range(len(self.controls[name].values)):
            answer = self.answer({name: place, **choice}, width)
            new, said = answer.canvas.frame(), answer.said()
            changed = {key: one for key, one in said.items() if known.get(key) != one}
            yield {**diff(frame, new), **changed}
            frame, known = new, said

    def embedded(self) -> str:
        """The static form, or the tape in pages that have the player."""
        if not has_tapes():
            return self.html()
        from learnkit.widget.frozen import framed

        return framed(self.html(), self.tape())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        if not is_live():
            return {"text/html": self.embedded(), "text/plain": str(self)}
        from learnkit.widget.explore_host import Explorer

        shown = Explorer(self)
        bundle: Any = shown._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, "text/plain": str(self)}

    def __str__(self) -> str:
        return self.answer(self.start).finding


def _control(
    kind: str, values: Sequence[Any], start: Any, label: str, said: Callable[[Any], str]
) -> Control:
    kept = tuple(values)
    if len(kept) < 2:
        raise UsageError(f"{kind} has {len(kept)} values; with fewer than two nothing changes")
    try:
        place = len(kept) // 2 if start is None else kept.index(start)
    except ValueError:
        raise UsageError(f"{kind} starts at {start!r}, which is none of its values") from None
    return Control(kind, kept, tuple(said(value) for value in kept), place, label)


def _numbered(value: Any, unit: str) -> str:
    text = f"{value:,}" if isinstance(value, int | float) else str(value)
    return f"{text} {unit}".rstrip()

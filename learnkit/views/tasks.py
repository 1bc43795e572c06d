"""The task graph: which task waits for which, what is ready, and what was just unblocked.

Tasks are drawn in layers: those of the first layer can start at once, those of the second after
them, and so on. Tasks without dependencies are in a strip below.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.views.board import Board, TaskCard, board_after, cards_of
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.layout import Layout, layered
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc

#: The most tasks that are drawn; if there are more, the oldest completed ones are only counted.
DRAWN = 120
#: Height of a task in pixels: usual, with many tasks, and below the graph. "Many" is over MANY.
TALL, SMALL, FLAT, MANY = 42.0, 36.0, 24.0, 24
#: A static picture with more tasks leaves their subjects out, because it has to stay small.
NAMED = 48

#: Width in pixels that a notebook has beside JupyterLab's side bar.
_ROOM = 616.0
_EDGE = 6.0


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The tasks by number, and the layout of those that are drawn."""

    tasks: Board = field(default_factory=dict)
    cards: dict[int, TaskCard] = field(default_factory=dict)
    shape: tuple[tuple[int, tuple[int, ...]], ...] = ()
    layout: Layout | None = None
    loose: tuple[int, ...] = ()

    @property
    def said(self) -> str:
        """The progress of the board, in a sentence."""
        if not self.tasks:
            return "The board is empty."
        cards = self.cards.values()
        done = sum(card.mark is theme.DONE for card in cards)
        parts = [f"{done} of {count(len(cards), 'task')} completed"]
        for mark, word in ((theme.ACTIVE, "in progress"), (theme.READY, "ready")):
            if ids := [f"#{card.id}" for card in cards if card.mark is mark]:
                parts.append(f"{word}: {', '.join(ids[:5])}{' …' if len(ids) > 5 else ''}")
        for mark, word in ((theme.BLOCKED, "waiting"), (theme.FAILED, "failed")):
            if number := sum(card.mark is mark for card in cards):
                parts.append(f"{number} {word}")
        return "; ".join(parts) + "."


class Tasks(DrawnView[State]):
    """The board as a graph; with ``on_intent``, a click or Enter completes a task.

    Example: ``Tasks(log, on_intent=learnkit.mechanisms.tasks.clicks(board, log))``.
    """

    name = "task graph"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        tasks = board_after(state.tasks, event)
        if tasks == state.tasks:
            return state
        cards = cards_of(tasks)
        shown = _shown(cards)
        shape = tuple((id, tuple(b for b in _before(cards[id]) if b in shown)) for id in shown)
        state = replace(state, tasks=tasks, cards=cards)
        if shape == state.shape:
            return state
        edges = [(blocker, id) for id, blockers in shape for blocker in blockers]
        tied = {id for edge in edges for id in edge}
        tall = TALL if len(tied) <= MANY else SMALL
        layout = layered(sorted(tied), edges, _ROOM, tall) if tied else None
        loose = tuple(id for id in shown if id not in tied)
        return replace(state, shape=shape, layout=layout, loose=loose)

    def draw(self, state: State, old: State) -> dict[str, str]:
        html = {"sum/said": _note(state.said)}
        if state.layout is not None:
            layout = state.layout.shifted(_EDGE, _EDGE)  # room for the outline of what changed
            html["graph/edges"] = _svg(layout, state.cards)
            small = layout.size[1] < TALL
            for id, (left, top) in layout.places.items():
                at = f"{left:g} {top:g} {layout.size[0]:g} {layout.size[1]:g}"
                html[f"graph/{id}"] = self._card(state.cards[id], f' data-at="{at}"', small)
        if state.loose:
            html["loose/title"] = _note("no dependencies")
            for id in state.loose:
                html[f"loose/{id}"] = self._card(state.cards[id], "", False)
        if hidden := _hidden(state):
            html["more/said"] = _note(hidden)
        return html

    def frame(self, state: State) -> dict[str, str]:
        return state.html or self.draw(state, state)

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{state.said} {state.head} Every task stands in the table below.")
        cards, layout, y = state.cards, state.layout, 14.0
        picture.text(16, y + 10, state.said, "b", 640)
        y += 26
        if layout is not None:
            for mark, d in _paths(layout, cards, 16, y).items():
                picture.path(d, mark)
            if layout.size[1] < TALL:
                _small(picture, layout.shifted(16, y), cards)
            else:
                for id, (left, top) in layout.places.items():
                    _box(picture, cards[id], 16 + left, y + top, layout.size)
            y += layout.height + 14
        if state.loose:
            picture.text(16, y + 12, "no dependencies", "q")
            first = y + 20
            for number, id in enumerate(state.loose[: 2 * rows]):
                x, y = 16.0 + 182 * (number % 4), first + (FLAT + 6) * (number // 4)
                _box(picture, cards[id], x, y, (174.0, FLAT))
            more = len(state.loose) - 2 * rows
            y += picture.left_out(16, y + FLAT + 20, more, "", FLAT + 6) + FLAT + 8
        if hidden := _hidden(state):
            picture.text(16, y + 12, hidden, "q")
            y += 18
        picture.height = y + 6
        return picture

    def facts(self, state: State, rows: int) -> str:
        cards = list(state.cards.values())
        body: list[list[object]] = []
        for card in cards[:rows]:
            after = ", ".join(f"#{id}" for id in _before(card))
            state_of = f"{card.mark.glyph} {card.state}"
            body.append([f"#{card.id}", one_line(card.subject, 60), state_of, after])
        head = ["task", "subject", "state", "after"]
        return static.table(head, body, after=static.more(len(cards) - rows))

    def _card(self, card: TaskCard, at: str, small: bool) -> str:
        pairs = " ".join([f"t{card.id}"] + [f"e{blocker}-{card.id}" for blocker in _before(card)])
        top = f"{card.mark.glyph} #{card.id}" if small else card.top
        body = f"<b>{esc(top)}</b> <span>{esc(one_line(card.subject, 60))}</span>"
        kind = f'class="task m-{card.mark.key}{" small" if small else ""}"{at} data-pair="{pairs}"'
        if self.on_intent is None or card.mark is theme.DONE:
            return f'<div {kind} tabindex="0" role="group" title="{esc(card.title)}">{body}</div>'
        intent = esc(f'{{"complete": {card.id}}}')
        says = esc(f"{card.title}. Press to complete it")
        return (
            f'<button type="button" {kind} data-intent="{intent}" title="{esc(card.title)}" '
            f'aria-label="{says}">{body}</button>'
        )


def _shown(cards: dict[int, TaskCard]) -> list[int]:
    """The tasks to draw: all of them, or the open ones and the newest of the others."""
    if len(cards) <= DRAWN:
        return list(cards)
    first = sorted(cards.values(), key=lambda card: (card.mark is theme.DONE, -card.id))
    return sorted(card.id for card in first[:DRAWN])


def _before(card: TaskCard) -> list[int]:
    """The tasks that this one waits for, apart from itself."""
    return [id for id in card.blocked_by if id != card.id]


def _hidden(state: State) -> str:
    """How many tasks aren't drawn, in words; empty for none."""
    hidden = len(state.cards) - len(state.shape)
    return f"{count(hidden, 'completed task')} not drawn" if hidden else ""


def _note(text: str) -> str:
    return f'<div class="sum" data-quiet>{esc(text)}</div>'


def _kind(cards: dict[int, TaskCard], blocker: int) -> str:
    return "done" if cards[blocker].mark is theme.DONE else "wait"


def _svg(layout: Layout, cards: dict[int, TaskCard]) -> str:
    paths = "".join(
        f'<path class="{_kind(cards, a)}" data-pair="t{a} e{a}-{b}" d="{layout.path((a, b))}"/>'
        for a, b in layout.ways
    )
    size = f'width="{layout.width + 2 * _EDGE:g}" height="{layout.height + 2 * _EDGE:g}"'
    return f'<svg class="graph" data-quiet aria-hidden="true" {size}>{paths}</svg>'


def _paths(layout: Layout, cards: dict[int, TaskCard], x: float, y: float) -> dict[str, str]:
    """All edges of a kind as one path, because a picture has to stay small."""
    found: dict[str, list[str]] = {}
    moved = layout.shifted(x, y)
    for edge in moved.ways:
        mark = "done" if _kind(cards, edge[0]) == "done" else "blocked"
        found.setdefault(mark, []).append(moved.path(edge))
    return {mark: "".join(parts) for mark, parts in sorted(found.items())}


def _small(picture: Picture, layout: Layout, cards: dict[int, TaskCard]) -> None:
    """Draw many tasks: one path for all boxes of a colour, and with very many only the numbers."""
    wide, tall = layout.size
    boxes: dict[str, str] = {}
    for id, (x, y) in layout.places.items():
        key = cards[id].mark.key
        boxes[key] = f"{boxes.get(key, '')}M{x:g} {y:g}h{wide:.4g}v{tall:g}h-{wide:.4g}z"
    for key, d in sorted(boxes.items()):
        picture.areas(d, key)
    for id, (x, y) in layout.places.items():
        card, left = cards[id], round(x + 5)
        picture.text(left, round(y + 15), f"{card.mark.glyph} #{id}", "b", wide, card.mark.key)
        if len(cards) <= NAMED:
            picture.text(left, round(y + 30), card.subject, "", wide - 12, card.mark.key)


def _box(picture: Picture, card: TaskCard, x: float, y: float, size: tuple[float, float]) -> None:
    wide, tall = size
    key = card.mark.key
    picture.box(x, y, wide, tall, key)
    if tall < TALL:
        text = f"{card.mark.glyph} #{card.id} {card.subject}"
        picture.text(x + 6, y + 16, text, "", wide - 14, key)
        return
    picture.text(x + 8, y + 17, card.top, "b", wide - 22, key)
    picture.text(x + 8, y + 33, card.subject, "", wide - 16, key)

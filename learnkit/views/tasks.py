"""The task graph: which task waits for which, what is ready, and who worked on what, and when.

Tasks are drawn in layers: those of the first layer can start at once, those of the second after
them, and so on. A task that was completed before what it depends on is marked. Tasks without
dependencies are in a strip below. Under both is the time: a bar is a task in progress, and a dashed
line a new run that opens the board, as after a night.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from learnkit.events.log import Event
from learnkit.events.sentences import ended
from learnkit.events.tasks import BoardOpened, TaskEvent, TaskRefused
from learnkit.events.text import listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views import board
from learnkit.views.board import TASK, Board, Spell, TaskCard, progress
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, fitting
from learnkit.views.drawing.layout import layered
from learnkit.views.drawing.time_axis import Axis, duration

#: Height in pixels of a task with one line of its subject, and with two.
TALL, TALLER = 42.0, 58.0
#: The most rows of bars that are drawn below the graph.
BARS = 6


@dataclass(frozen=True, slots=True)
class State:
    """The tasks by number, and what happened to them over time.

    Attributes:
        tasks: the board.
        spells: when each task was in progress.
        keeper: the agent that was the first to use the board.
        opened: the times at which a new run of the keeper opened the board, in seconds.
        refused: what the board has just refused; empty for nothing.
        now: the time of the last change, in seconds.
    """

    tasks: Board = field(default_factory=dict)
    spells: tuple[Spell, ...] = ()
    keeper: str = ""
    opened: tuple[float, ...] = ()
    refused: str = ""
    now: float = field(default=0.0, compare=False)

    @property
    def across(self) -> list[Spell]:
        """The spells during which a new run opened the board."""
        ends = [(one, self.now if one.end is None else one.end) for one in self.spells]
        return [one for one, end in ends if any(one.begin <= at <= end for at in self.opened)]


class Tasks(Diagram[State]):
    """The board as a graph; with ``on_intent``, a click or Enter completes a task.

    Example: ``Tasks(log, on_intent=learnkit.mechanisms.tasks.clicks(board, log))``.
    """

    name = "task graph"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        tasks, opened, refused = board.after(state.tasks, event), state.opened, state.refused
        keeper = state.keeper or (event.lane if tasks else "")
        match read(event):
            case TaskRefused(problem=problem):
                refused = problem
            case TaskEvent():
                refused = ""
            case BoardOpened() if state.tasks and event.lane == keeper:
                opened = (*opened, event.time)
        spells = board.spells_after(state.spells, state.tasks, tasks, event.time)
        return State(tasks, spells, keeper, opened, refused, max(event.time, state.now))

    def says(self, state: State) -> list[str]:
        if not state.tasks:
            return ["The board is empty."]
        parts, more = [progress(state.tasks)], []
        for mark, word in ((theme.ACTIVE, "in progress"), (theme.READY, "ready")):
            if ids := _ids(state, mark):
                parts.append(f"{word}: {', '.join(ids[:5])}{' …' if len(ids) > 5 else ''}")
        for mark in (theme.BLOCKED, theme.PENDING, theme.FAILED):
            if number := len(_ids(state, mark)):
                more.append(f"{number} {'waiting' if mark is theme.BLOCKED else mark.word}")
        said = [f"{'; '.join(parts)}.", f"{', '.join(more)}." if more else ""]
        if early := [f"#{one.id} {one.subject}" for one in state.tasks.values() if one.early]:
            said.insert(0, f"Completed before what it depends on: {', '.join(early)}.")
        if state.refused:  # the answer to a click comes first
            said.insert(0, f"The board refuses: {state.refused}.")
        if state.opened:
            begun = list(dict.fromkeys(f"#{one.id}" for one in state.across))
            done = begun and all(one.mark is theme.DONE for one in state.across)
            found = f"{listed(begun)} in progress" if begun else "the board as it was left"
            many = "A" if len(state.opened) == 1 else "Each"
            said.append(f"{many} new run finds {found}{', and completes it' if done else ''}.")
        return [ended(one) for one in said]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        shown = _shown(state.tasks, 2 * rows)
        tied = {id for id in shown for one in shown[id] if one in shown and one != id}
        tied |= {one for id in tied for one in shown[id] if one in shown}
        y = 2.0
        if tied:
            edges = [(one, id) for id in tied for one in shown[id] if one in tied and one != id]
            y += self._graph(canvas, state.tasks, edges, len(tied) <= max(24, rows)) + 12
        loose = [id for id in shown if id not in tied]
        if loose:
            y = self._loose(canvas, state.tasks, loose, y)
        hidden = len(state.tasks) - len(shown)
        y += 20 * canvas.left_out("more", 2, y + 14, hidden, "more task")
        if state.refused:
            says = f"✗ The board refuses: {state.refused}"
            lines = textwrap.wrap(one_line(says, 300), int(width / 6.6))
            y = canvas.rows("refused", 2, y + 14, lines, "", "failed", 18, says) - 14
        if state.opened or any(one.begin < (one.end or state.now) for one in state.spells):
            y = _strip(canvas, state, y + 8)
        canvas.height = y + 4
        return canvas

    def _graph(
        self,
        canvas: Canvas,
        tasks: Board,
        edges: list[tuple[int, int]],
        names: bool,
    ) -> float:
        """Draw the tasks that wait for others, and those; return the height."""
        room, tied = canvas.width - 4, {id for edge in edges for id in edge}
        layout = layered(tied, edges, room, TALL if names else TASK)
        inside = layout.size[0] - 16
        if names and any(len(_lines(tasks[id].subject, inside)) > 1 for id in layout.places):
            layout = layered(tied, edges, room, TALLER)
        canvas.width = max(canvas.width, layout.width + 2)
        tips: dict[str, str] = {}
        for a, b in layout.ways:
            done, mark = tasks[a].mark is theme.DONE, "blocked"
            if done or tasks[b].early:
                mark = "done" if done else "failed"
            way, pair = layout.path((a, b)), f"t{a} e{a}-{b}"
            canvas.edge(f"edge {a} {b}", way, mark, "" if done else "d", pair=pair)
            tips[mark] = tips.get(mark, "") + layout.tip((a, b))
        for mark, path in tips.items():
            canvas.edge(f"tips {mark}", path, mark, "f")
        for id, (x, y) in layout.places.items():
            card = tasks[id]
            top = card.top if 7 * len(card.top) <= inside - 20 * card.early else card.short
            lines = [top, *_lines(card.subject, inside)] if names else [top]
            self._task(canvas, card, (x, y, *layout.size), lines)
            if card.early:
                right = x + layout.size[0] - 13
                canvas.dot(f"early {id}", right, y + 12, 8, theme.FAILED.key, "!")
        return layout.height - 2

    def _loose(self, canvas: Canvas, tasks: Board, ids: list[int], y: float) -> float:
        """Draw the tasks that have no dependencies; return where they end."""
        canvas.text("loose", 2, y + 12, "without dependencies", "q")
        texts = [f"{tasks[id].short} {tasks[id].subject}" for id in ids]
        need = 26 + 6.5 * min(max(map(len, texts)), 40)
        spots, low = board.grid(canvas, len(ids), need, y + 20)
        for id, text, spot in zip(ids, texts, spots, strict=True):
            self._task(canvas, tasks[id], spot, [text], "l")
        return low + 4

    def _task(
        self,
        canvas: Canvas,
        card: TaskCard,
        place: tuple[float, float, float, float],
        lines: list[str],
        style: str = "",
    ) -> None:
        edges = [one for one in card.blocked_by if f"edge {one} {card.id}" in canvas]
        pair = " ".join([f"t{card.id}", *(f"e{one}-{card.id}" for one in edges)])
        intent = None
        if self.on_intent is not None and card.mark is not theme.DONE:
            intent = {"complete": card.id}
        key, mark = f"task {card.id}", card.mark.key
        canvas.box(key, *place, mark, lines, style, says=card.title, pair=pair, intent=intent)


def _shown(tasks: Board, most: int) -> dict[int, tuple[int, ...]]:
    """The tasks to draw, each with those it depends on: the open ones and the newest others."""
    first = sorted(tasks.values(), key=lambda card: (card.mark is theme.DONE, -card.id))[:most]
    return {card.id: card.blocked_by for card in sorted(first, key=lambda card: card.id)}


def _lines(subject: str, room: float) -> list[str]:
    """A subject on one line, or on two."""
    lines = textwrap.wrap(one_line(subject, 200), max(int(room / 6.5), 4)) or [""]
    return lines if len(lines) < 2 else [lines[0], fitting(" ".join(lines[1:]), room)]


def _ids(state: State, mark: theme.Mark) -> list[str]:
    return [f"#{card.id}" for card in state.tasks.values() if card.mark is mark]


def _strip(canvas: Canvas, state: State, y: float) -> float:
    """Draw the tasks in progress over time, and when the board was opened again."""
    time = Axis(state.now, 2, canvas.width - 44)
    canvas.text("strip", 2, y + 12, "in progress, over time", "q")
    top = y + 40
    free: list[float] = []
    places = []
    for one in state.spells:
        wide = max(time.x(state.now if one.end is None else one.end) - time.x(one.begin), 32)
        x = min(time.x(one.begin), time.left + time.room - wide)
        row = next((n for n, end in enumerate(free) if end <= x + 0.5), len(free))
        free[row : row + 1] = [x + wide]
        places.append((x, top + row * (TASK + 6), wide))
    low = top + (TASK + 6) * min(len(free), BARS)
    time.ruled(canvas, y + 20, (y + 20, low))
    for number, (one, place) in enumerate(zip(state.spells, places, strict=True)):
        if place[1] < low:
            board.draw_spell(canvas, f"bar {number}", one, state.tasks, place)
    for number, at in enumerate(state.opened):
        x, long = time.x(at), "a new run opens the board"
        says = f"{duration(at)}: {long}, as it was left"
        path = f"M0 0V{low - top + 12:g}"
        canvas.edge(f"opened {number}", path, "system", "wd", x=x, y=top - 6, says=says)
        if not number:  # what the lines are is said once
            beside = x + 6.5 * len(long) + 8 < canvas.width
            x, style = (x + 6, "") if beside else (x - 6, "e")
            canvas.text("new", x, low + 14, long, style)
    return low + (20 if state.opened else 4)

"""The team: who works, idles or has shut down, when, at which task; and the board beside it.

A lane an agent: amber while it works, grey while it is idle, nothing once it has shut down. A
number on a lane is a task that was begun there, with the glyph of what became of it; a tick is mail
that has come. The board below shows each task with its owner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from learnkit.core.events import Event
from learnkit.views import people as folk
from learnkit.views.board import Board, TaskCard, board_after, cards_of
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.axis import Axis
from learnkit.views.drawing.base import View, kept
from learnkit.views.drawing.row import Row, span
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import count, esc, one_line
from learnkit.views.lanes import Lane, began, ended, lived, mailed
from learnkit.views.people import People, Person, drawn

#: Tasks that are drawn at most, the newest ones.
TASKS = 48


@dataclass(frozen=True, slots=True)
class State:
    """Everybody, their lanes, the board, and how it is drawn."""

    people: People = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    tasks: Board = field(default_factory=dict)
    now: float = 0.0
    html: dict[str, str] = field(default_factory=dict)
    head: str = "Nothing has happened yet."

    @property
    def axis(self) -> Axis:
        """The scale of time."""
        return Axis(self.now)

    @property
    def board(self) -> str:
        """How far the board is."""
        done = sum(task.get("status") == "completed" for task in self.tasks.values())
        if not self.tasks:
            return "The board is empty."
        return f"{done} of {count(len(self.tasks), 'task')} completed."

    @property
    def said(self) -> str:
        """Who does what, and how far the board is."""
        return f"{folk.summary(self.people)} {self.board}"


class Team(View[State]):
    """Lifecycle lanes, roster and board; with ``on_intent``, buttons.

    Args:
        events: an ``EventLog``, or any sequence of events.
        buttons: what may be pressed: the label, and the intent that it sends.
        more: as for :class:`View`.
    """

    name = "team"
    css: ClassVar[str] = """
.region[data-region="lanes"]{flex:1 1 100%;gap:2px}
.region[data-region="buttons"]{flex:1 1 100%}
.region[data-region="board"]{flex:1 1 100%;flex-flow:row wrap;gap:6px}
.region[data-region="board"]>:first-child{flex:1 1 100%}
.life,.axis{display:grid;grid-template-columns:150px minmax(0,1fr) 116px;gap:10px;padding:2px 8px;
 align-items:center;font-size:12px}
.life .name,.life .n{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.life .n{text-align:right}
.life .bar{position:relative;height:26px;border-bottom:1px solid var(--lk-line)}
.life .bar>i{position:absolute;bottom:2px;height:9px;min-width:1px;border-radius:2px}
.life .bar>i.idle{height:3px}
.life .bar>b{position:absolute;top:-1px;font-weight:600;font-size:12px;line-height:15px}
.life .bar>u{position:absolute;bottom:-3px;width:2px;height:8px;
 background:var(--lk-injected-edge)}
.axis{color:var(--lk-quiet)}
.axis>div{position:relative;height:18px}
.axis>div>span{position:absolute;border-left:1px solid var(--lk-edge);padding-left:3px}
.chip{width:148px;border-width:1px;border-left-width:3px;border-radius:3px;padding:2px 6px;
 font-size:12px;line-height:1.35}
.chip b,.chip span{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.sum{font-size:12px;color:var(--lk-quiet)}
.adds{display:flex;flex-wrap:wrap;gap:6px;align-items:center;flex:1 1 100%}
"""

    def __init__(
        self,
        events: Any,
        *,
        buttons: Mapping[str, dict[str, Any]] | None = None,
        lane: str | None = None,
        on_intent: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        super().__init__(events, lane=lane, on_intent=on_intent)
        self.buttons = dict(buttons or {}) if on_intent is not None else {}

    def init(self) -> State:
        return State()

    def step(self, state: State, event: Event) -> State:
        now, data = max(event.time, state.now), event.data
        head = folk.sentence(event)
        people, tasks = folk.grown(state.people, event), board_after(state.tasks, event)
        lanes = lived(state.lanes, state.people, people, now)
        if event.type == "mail.sent" and isinstance(data.get("mail"), dict):
            lanes = mailed(lanes, str(data["mail"].get("to")), now)
        elif tasks is not state.tasks and event.type == "task.started":
            task = data["task"]
            lanes = began(lanes, str(task.get("owner") or event.lane), now, task["id"])
        elif tasks is not state.tasks and event.type in _ENDS:
            id, mark = data["task"]["id"], _ENDS[event.type]
            lanes = {name: ended(lane, id, mark) for name, lane in lanes.items()}
        if event.type == "run.ended" and "." not in event.lane:
            head = f"{head} {State(people, lanes, tasks, now).said}"
        new = replace(state, people=people, lanes=lanes, tasks=tasks, now=now, head=head)
        same = (people, lanes, tasks) == (state.people, state.lanes, state.tasks)
        return new if same and state.html and not _moves(new) else self._drawn(new, state)

    def frame(self, state: State) -> dict[str, str]:
        return state.html

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Everything stands in the tables below.")
        left, right, y = 176.0, 130.0, 14.0
        width, axis = static.WIDTH - left - right, state.axis
        for at, text in axis.ticks:
            picture.path(f"M{left + width * at:.1f} {y:g}v14")
            picture.text(left + width * at + 4, y + 11, text, "q", 70)
        y += 18
        for person in drawn(state.people):
            lane = state.lanes.get(person.name) or Lane(Row(person.name))
            picture.text(16, y + 14, folk.tag(person), "b", 150, person.mark.key)
            picture.text(16, y + 28, person.role, "q", 150)
            picture.path(f"M{left:g} {y + 31:g}h{width:g}")
            for key, begin, end in lane.row.drawn(state.now):
                x, w = left + width * begin / axis.scale, width * (end - begin) / axis.scale
                tall = 3 if key == "idle" else 9
                picture.bar(round(x, 1), y + 29 - tall, max(w, 1), tall, key)
            for place, text, mark in lane.placed(axis.scale)[: max(3, rows // 3)]:
                picture.text(round(left + width * place, 1), y + 14, text, "", 60, mark.key)
            ticks = (f"M{left + width * at / axis.scale:.0f} {y + 27:g}v7" for at in lane.mail)
            picture.path("".join(ticks), "injected")
            picture.text(static.WIDTH - 16, y + 14, person.mark.word, "q e", right - 20)
            held = person.said.partition(", ")[2]
            picture.text(static.WIDTH - 16, y + 28, held or " ", "q e", right - 20)
            y += 40
        cards = list(cards_of(state.tasks).values())
        shown = cards[-min(TASKS, 2 * rows) :]
        x, y = 16.0, y + 8
        for card in shown:
            if x + 178 > static.WIDTH - 8:
                x, y = 16.0, y + 42
            picture.box(x, y, 176, 36, card.mark.key)
            picture.text(x + 6, y + 15, card.top, "b", 166, card.mark.key)
            picture.text(x + 6, y + 30, card.subject, "", 166, card.mark.key)
            x += 183
        y += 44 if shown else 0
        if len(cards) > len(shown):
            picture.text(16, y + 10, f"… {len(cards) - len(shown)} earlier tasks …", "q")
            y += 16
        picture.text(16, y + 14, f"{state.board} {_LEGEND}", "q")
        picture.height = y + 26
        return picture

    def facts(self, state: State, rows: int) -> str:
        roster: list[list[object]] = []
        for one in drawn(state.people):
            lane = state.lanes.get(one.name) or Lane(Row(one.name))
            spans = lane.row.drawn(state.now)
            worked = sum(end - begin for key, begin, end in spans if key == "working")
            idle = sum(end - begin for key, begin, end in spans if key == "idle")
            roster.append([one.name, one.role, one.said, span(worked), span(idle)])
        board: list[list[object]] = [
            [
                f"#{card.id}",
                one_line(card.subject, 50),
                f"{card.mark.glyph} {card.state}",
                card.tags,
            ]
            for card in list(cards_of(state.tasks).values())[-rows:]
        ]
        tables = static.table(["who", "role", "state", "worked", "idle"], roster)
        return tables + (static.table(["task", "subject", "state", "for"], board) if board else "")

    def _drawn(self, state: State, old: State) -> State:
        axis = state.axis
        ticks = "".join(
            f'<span style="left:{at:.0%}">{esc(text)}</span>' for at, text in axis.ticks
        )
        html = {
            "lanes/axis": f'<div class="axis" data-quiet><i></i><div>{ticks}</div><i></i></div>'
        }
        for person in drawn(state.people):
            lane = state.lanes.get(person.name) or Lane(Row(person.name))
            was = old.people.get(person.name), old.lanes.get(person.name)
            html[f"lanes/{person.name}"] = _lane(person, lane, state.now, axis, was)
        html["lanes/legend"] = f'<div class="sum" data-quiet>{_LEGEND}</div>'
        cards = list(cards_of(state.tasks).values())[-TASKS:]
        if cards or self.buttons:
            html["board/sum"] = f'<div class="sum" data-quiet>{esc(state.board)}</div>'
        for card in cards:
            html[f"board/{card.id}"] = _chip(card)
        if self.buttons:
            buttons = "".join(
                f'<button type="button" data-intent="{esc(json.dumps(intent))}">'
                f"{esc(label)}</button>"
                for label, intent in self.buttons.items()
            )
            html["buttons/all"] = f'<div class="adds" data-quiet>{buttons}</div>'
        return replace(state, html=kept(html, state.html))


_LEGEND = "Amber: works; grey: idle; a tick below: mail."
_ENDS = {
    "task.completed": theme.DONE,
    "task.failed": theme.FAILED,
    "task.returned": theme.PENDING,
}


def _moves(state: State) -> bool:
    """Whether a length grows with the time alone."""
    return any(lane.row.open for lane in state.lanes.values())


def _lane(person: Person, lane: Lane, now: float, axis: Axis, was: tuple[Any, Any]) -> str:
    """A lane; one on which only time has passed is not to be marked as changed."""
    bars = "".join(
        f'<i class="{key}" style="left:{begin / axis.scale:.2%};'
        f'width:{(end - begin) / axis.scale:.2%};background:var(--lk-{key}-edge)"></i>'
        for key, begin, end in lane.row.drawn(now)
    )
    flags = "".join(
        f'<b class="t-{mark.key}" style="left:{place:.1%}">{esc(text)}</b>'
        for place, text, mark in lane.placed(axis.scale)
    )
    flags += "".join(f'<u style="left:{at / axis.scale:.1%}"></u>' for at in lane.mail)
    title = f"{person.name}, {person.role}: {person.said}"
    return (
        f'<div class="life"{" data-quiet" if was == (person, lane) else ""} '
        f'title="{esc(one_line(title, 200))}" data-pair="{esc(person.name)}" '
        f'tabindex="0" role="group"><span class="name"><span class="t-{person.mark.key}">'
        f"{person.mark.glyph}</span> <strong>{esc(person.name)}</strong> "
        f'{esc(one_line(person.role, 20))}</span><div class="bar">{bars}{flags}</div>'
        f'<span class="n">{esc(one_line(person.said, 24))}</span></div>'
    )


def _chip(card: TaskCard) -> str:
    return (
        f'<div class="chip m-{card.mark.key}" data-pair="{esc(card.owner)}" '
        f'title="{esc(one_line(card.title, 200))}" tabindex="0" role="group"><b>{esc(card.top)}</b>'
        f"<span>{esc(one_line(card.subject, 40))}</span></div>"
    )

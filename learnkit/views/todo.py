"""The todo list: its items, their progress, and the rounds since the model last updated it.

Beside the list is a track of rounds. A round is one reply with calls, and their results. The track
shows in which rounds the list was updated, and after which ones a reminder was sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from learnkit.core.events import Event
from learnkit.core.text import blocks_of, clean, count, one_line
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc

Kind = Literal["work", "list", "refused"]

#: Status of an item, as the tool has it -> its mark.
_STATES = {"pending": theme.PENDING, "in_progress": theme.ACTIVE, "completed": theme.DONE}
_KINDS = {
    "list": (theme.DONE, "the list was updated"),
    "refused": (theme.ERROR, "an update was refused"),
    "work": (theme.CALL, "other calls"),
}


@dataclass(frozen=True, slots=True)
class Round:
    """One reply with calls, and its results."""

    kind: Kind
    reminded: bool = False


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The list, the rounds so far, and what has happened since the last round."""

    items: tuple[dict[str, Any], ...] = ()
    rounds: tuple[Round, ...] = ()
    since: int = 0
    remind_after: int = 3
    kind: Kind = field(default="work", compare=False)
    reminding: bool = field(default=False, compare=False)
    problem: str = ""

    @property
    def done(self) -> int:
        """How many items are completed."""
        return sum(item.get("status") == "completed" for item in self.items)


class Todo(DrawnView[State]):
    """The list, a gauge of rounds without an update, and the reminders."""

    name = "todo list"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        data = event.data
        state = replace(state, problem="")
        if event.type == "todo.updated":
            items = tuple(one for one in data.get("items", []) if isinstance(one, dict))
            remind_after = data.get("remind_after", 3)
            return replace(state, items=items, kind="list", remind_after=remind_after)
        if event.type == "todo.rejected":
            return replace(state, kind="refused", problem=str(data.get("problem", "")))
        if event.type == "todo.reminded":
            return replace(state, reminding=True)
        if event.type == "message.added" and _brings_results(data):
            rounds = (*state.rounds, Round(state.kind, state.reminding))
            since = 0 if state.reminding or state.kind != "work" else state.since + 1
            return replace(state, rounds=rounds, since=since, kind="work", reminding=False)
        return state

    def frame(self, state: State) -> dict[str, str]:
        return state.html or self.draw(state, state)

    def draw(self, state: State, old: State) -> dict[str, str]:
        html = {
            f"list/{place} {clean(str(item.get('id', '')))}": _item(item)
            for place, item in enumerate(state.items)
        }
        total = count(len(state.items), "item")
        said = f"{state.done} of {total} completed" if state.items else "The list is empty."
        refused = f' <span class="t-error">{theme.ERROR.glyph} {esc(state.problem)}</span>'
        html["list/count"] = f'<div class="count">{said}{refused if state.problem else ""}</div>'
        html["rounds/track"] = _track(state)
        cells = "".join(
            f'<i class="{"full" if place < state.since else ""}"></i>'
            for place in range(min(state.remind_after, 20))
        )
        gauge = f'<div class="gauge" aria-hidden="true">{cells}</div>'
        html["rounds/gauge"] = f'{gauge}<div class="legend">{esc(_gauge(state))}</div>'
        return html

    def line(self, state: State) -> str:
        reminders = sum(one.reminded for one in state.rounds)
        return (
            f"{self.name}: {state.done} of {count(len(state.items), 'item')} completed after "
            f"{count(len(state.rounds), 'round')}, {count(reminders, 'reminder')}; {state.head}"
        )

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} The list and the rounds stand in the tables below.")
        y = 16.0
        for item in state.items[:rows]:
            mark = _mark(item)
            picture.box(16, y, static.WIDTH - 32, 24, mark.key)
            picture.bar(16, y, 3, 24, mark.key)
            picture.text(28, y + 16.5, mark.label, "", 110, mark.key)
            picture.text(146, y + 16.5, _text(item))
            y += 28
        if not state.items:
            picture.text(16, y + 16, "The list is empty.", "q")
            y += 28
        picture.text(16, y + 16, f"rounds of calls: {_legend(state)}", "q")
        y += 26
        x, earlier = 16.0, len(state.rounds) - 2 * rows
        if earlier > 0:
            picture.text(x, y + 14.5, f"… {count(earlier, 'earlier round')} …", "q", 140)
            x += 150
        for number, one in list(enumerate(state.rounds, start=1))[-2 * rows :]:
            mark, _ = _KINDS[one.kind]
            if x > static.WIDTH - 80:
                x, y = 16.0, y + 30
            picture.box(x, y, 28, 20, mark.key)
            picture.text(x + 5, y + 14.5, f"{mark.glyph}{number}", "m", 40, mark.key)
            x += 33
            if one.reminded:
                picture.box(x, y, 20, 20, "injected")
                picture.text(x + 4, y + 14.5, theme.INJECTED.glyph, "", 40, "injected")
                x += 25
        y += 34
        for place in range(state.remind_after):
            full = place < state.since
            shape = picture.bar if full else picture.box
            shape(16 + 34 * place, y, 30, 10, "call" if full else "system")
        picture.text(26 + 34 * state.remind_after, y + 10, _gauge(state), "q")
        picture.height = y + 26
        return picture

    def facts(self, state: State, rows: int) -> str:
        items = [
            [item.get("id", ""), _mark(item).label, one_line(_text(item), 100)]
            for item in state.items[:rows]
        ]
        rounds = [
            [number, _KINDS[one.kind][1], "✉ after its results" if one.reminded else ""]
            for number, one in list(enumerate(state.rounds, start=1))[-2 * rows :]
        ]
        if (earlier := len(state.rounds) - 2 * rows) > 0:
            rounds.insert(0, ["…", f"{count(earlier, 'earlier round')} left out", ""])
        return static.table(["id", "state", "item"], items) + static.table(
            ["round", "what", "reminder"], rounds
        )


def _brings_results(data: dict[str, Any]) -> bool:
    blocks = blocks_of(data.get("message", {}).get("content"))
    return any(block.get("type") == "tool_result" for block in blocks)


def _mark(item: dict[str, Any]) -> theme.Mark:
    return _STATES.get(str(item.get("status")), theme.PENDING)


def _text(item: dict[str, Any]) -> str:
    note = f" ({item['note']})" if item.get("note") else ""
    return f"{item.get('text', '')}{note}"


def _gauge(state: State) -> str:
    if not state.remind_after:
        return "no reminders"
    return f"{state.since} of {count(state.remind_after, 'round')} without a look at the list"


def _legend(state: State) -> str:
    used = [kind for kind in _KINDS if any(one.kind == kind for one in state.rounds)]
    parts = [f"{_KINDS[kind][0].glyph} {_KINDS[kind][1]}" for kind in used]
    if any(one.reminded for one in state.rounds):
        parts.append(f"{theme.INJECTED.glyph} a reminder followed the results")
    return " · ".join(parts) or "none yet"


def _item(item: dict[str, Any]) -> str:
    mark, note = _mark(item), item.get("note")
    more = f"<small>{esc(note)}</small>" if note else ""
    status = str(item.get("status")) if item.get("status") in _STATES else ""
    return (
        f'<div class="item m-{mark.key} {status}"><span>{mark.label}</span>'
        f"<span>{esc(item.get('text', ''))}{more}</span></div>"
    )


def _track(state: State) -> str:
    cells = []
    for number, one in enumerate(state.rounds, start=1):
        mark, what = _KINDS[one.kind]
        also = "; a reminder followed" if one.reminded else ""
        cells.append(
            f'<li class="m-{mark.key}{" reminded" if one.reminded else ""}" '
            f'title="round {number}: {what}{also}" aria-label="round {number}: {what}{also}">'
            f"{mark.glyph}{number}</li>"
        )
    legend = f'<div class="legend">rounds of calls: {esc(_legend(state))}</div>'
    return f'{legend}<ol class="track">{"".join(cells)}</ol>'

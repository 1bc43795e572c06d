"""Lesson 12's last picture: when each of the twelve mechanisms acted in a run, and for which agent.

Each mechanism has a row on one scale of time, and a mark there in the colour of the agent it acted
for. What happened comes from the types of the logged events, since each type names its lesson.
"""

from __future__ import annotations

from dataclasses import dataclass

from learnkit.events import vocabulary
from learnkit.events.log import Event
from learnkit.events.text import count, listed
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram, Worded
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.time_axis import Axis, duration
from learnkit.views.words import describe

#: The mechanisms in the order of the lessons.
MECHANISMS = (
    *("loop", "tools", "todo", "subagents", "skills", "compaction"),
    *("tasks", "background", "teams", "protocols", "autonomy", "worktrees"),
)
#: Types that say more about another lesson than the one where they are met first.
_TOLD_BY = {
    **dict.fromkeys(("tool.started", "tool.ended"), "tools"),
    **dict.fromkeys(("task.started", "task.returned"), "autonomy"),
}
#: Types that only say how things are when a run starts, or count.
_QUIET = {"board.opened", "skills.listed", "tokens.estimated", "worktree.commits"}
#: In pixels: a row, the names beside the rows, and a mark.
_ROW, _NAMES, _MARK = 24, 118, 6
#: Seconds that share a mark, so that a step of the slider shows something new.
_EACH = 3.0


@dataclass(frozen=True, slots=True)
class Act:
    """A mechanism acted.

    Attributes:
        row: number of the mechanism, from 0.
        at: when the seconds of its mark begin.
        agent: for which agent; a subagent counts as the agent that started it.
    """

    row: int
    at: float
    agent: str


@dataclass(frozen=True, slots=True)
class State:
    """Who acted when, and the agents in the order in which they came."""

    acts: tuple[Act, ...] = ()
    agents: tuple[str, ...] = ()

    @property
    def rows(self) -> set[int]:
        """The mechanisms that have acted."""
        return {act.row for act in self.acts}


class Twelve(Worded[State], Diagram[State]):
    """Twelve rows, one for each mechanism, with a mark wherever it acted."""

    name = "twelve mechanisms"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        row = mechanism(event)
        if row is None:
            return state
        agent = event.lane.partition(".")[0]
        agents = state.agents if agent in state.agents else (*state.agents, agent)
        act = Act(row, event.time // _EACH * _EACH, agent)
        acts = state.acts if act in state.acts else (*state.acts, act)
        return State(acts, agents)

    def told(self, state: State, old: State, event: Event) -> str:
        return f"{MECHANISMS[mechanism(event) or 0].capitalize()}, {event.lane}: {describe(event)}"

    def _says(self, state: State) -> list[str]:
        rows = state.rows
        if not rows:
            return ["No mechanism has acted so far."]
        run = f"in one run of {count(len(state.agents), 'agent')}"
        if len(rows) == len(MECHANISMS):
            began = {row: min(act.at for act in state.acts if act.row == row) for row in rows}
            last = max(began.values())
            late = listed([MECHANISMS[row] for row in sorted(rows) if began[row] == last])
            late = f"{late.capitalize()} began last, at {duration(last)}"
            return [f"All twelve mechanisms acted {run}.", f"{late}."]
        left = [name for number, name in enumerate(MECHANISMS) if number not in rows]
        missing = listed(left) if len(left) <= 4 else f"{len(left)} others"
        return [f"{len(rows)} of 12 mechanisms have acted {run}.", f"Not yet: {missing}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        end = max((act.at for act in state.acts), default=0.0)
        time = Axis(end, _NAMES, width - _NAMES - 12)
        low, done = 22.0 + _ROW * len(MECHANISMS), state.rows
        time.ruled(canvas, 4, low)
        for number, name in enumerate(MECHANISMS):
            y, style = 22 + _ROW * number, "b" if number in done else "q"
            acted = [act for act in state.acts if act.row == number]
            says = f"{name}: {_times(acted)}"
            label = f"{number + 1} · {name}"
            canvas.edge(f"row {name}", f"M0 0H{time.room:g}", "", "d", x=_NAMES, y=y + _ROW / 2)
            canvas.text(f"name {name}", 2, y + 16, label, style, width=_NAMES - 4, says=says)
            for act in acted:
                mark = theme.agent(state.agents.index(act.agent)).key
                x, lane = time.x(act.at) - _MARK / 2, state.agents.index(act.agent)
                top, high = _share(lane, len(state.agents))
                key = f"act {number} {act.at:g} {act.agent}"
                canvas.bar(key, x, y + 3 + top, _MARK, high, mark, says=f"{name}, {act.agent}")
        x = 2.0
        for number, agent in enumerate(state.agents):
            key = theme.agent(number).key
            canvas.bar(f"key {agent}", x, low + 12, 14, 10, key)
            canvas.text(f"who {agent}", x + 20, low + 21, agent, "", key, width=90)
            x += 40 + 7 * len(agent)
        canvas.height = low + 30
        return canvas

    def facts(self, state: State, rows: int) -> str:
        table: list[list[object]] = []
        for number, name in enumerate(MECHANISMS):
            acted = [act for act in state.acts if act.row == number]
            agents = listed([one for one in state.agents if one in {act.agent for act in acted}])
            table.append([number + 1, name, _times(acted), agents])
        return static.table(["lesson", "mechanism", "acted", "for"], table, rows)


def mechanism(event: Event) -> int | None:
    """Return the number of the mechanism that an event tells about, from 0; None for none."""
    known = vocabulary.declaration(event.type)
    if known is None or known.lesson is None or event.type in _QUIET:
        return None
    if event.type in _TOLD_BY:
        return MECHANISMS.index(_TOLD_BY[event.type])
    return int(known.lesson[1:]) - 1


def _times(acted: list[Act]) -> str:
    """How often it acted, in words."""
    if not acted:
        return "not at all"
    first, last = acted[0].at, acted[-1].at
    often = "once" if len(acted) == 1 else f"{len(acted)} times"
    if first == last:
        return f"{often}, at {duration(first)}"
    return f"{often}, from {duration(first)} to {duration(last)}"


def _share(number: int, many: int) -> tuple[float, float]:
    """Where an agent's marks begin in a row, and how high they are, so that none covers another."""
    high = (_ROW - 6) / many
    return number * high, high

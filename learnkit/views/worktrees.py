"""Worktrees: which task is in which folder, and how the branches diverge and merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.views import commits as graph
from learnkit.views import people as folk
from learnkit.views.board import Board, board_after
from learnkit.views.commits import Dot, laid_out
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc
from learnkit.views.drawing.time_axis import duration

#: The most commits and steps that are drawn: the newest ones.
COMMITS, STEPS = 24, 8

_MARKS = {"active": theme.ACTIVE, "kept": theme.DONE, "removed": theme.SHUTDOWN}


@dataclass(frozen=True, slots=True)
class WorktreeCard:
    """A worktree as it is drawn."""

    name: str
    branch: str
    task_id: int | None = None
    status: str = "active"
    merged: bool = False

    @property
    def mark(self) -> theme.Mark:
        """The mark of its status."""
        return _MARKS.get(self.status, theme.ACTIVE)

    @property
    def state(self) -> str:
        """Its status in words."""
        return f"{self.status}, merged" if self.merged else self.status


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The worktrees by name, the tasks, the commits, and the last steps."""

    lanes: dict[str, WorktreeCard] = field(default_factory=dict)
    tasks: Board = field(default_factory=dict)
    dots: tuple[Dot, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """How many worktrees there are, and their status."""
        if not self.lanes:
            return "No worktree so far."
        states = [lane.status for lane in self.lanes.values()]
        parts = [f"{states.count(one)} {one}" for one in _MARKS if one in states]
        merged = sum(lane.merged for lane in self.lanes.values())
        more = f", {merged} merged" if merged else ""
        return f"{count(len(states), 'worktree')}: {', '.join(parts)}{more}."

    def task(self, lane: WorktreeCard) -> str:
        """The task of a worktree, and its owner.

        Args:
            lane: the worktree.
        """
        if lane.task_id is None:
            return "no task"
        task = self.tasks.get(lane.task_id)
        subject, owner = (task.subject, task.owner) if task else ("", "")
        return f"#{lane.task_id} {one_line(subject, 40)}{f', {owner}' if owner else ''}"


class Worktrees(folk.TeamView[State]):
    """The worktrees of a repository, its commit graph, and what has happened."""

    name = "worktrees"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        data, lanes, dots, steps = event.data, state.lanes, state.dots, state.steps
        tasks = state.tasks if event.type == "task.deleted" else board_after(state.tasks, event)
        if event.type == "worktree.commits":
            if isinstance(data.get("commits"), list):
                dots = tuple(laid_out(data["commits"][:COMMITS]))
        elif event.type.startswith("worktree."):
            said = f"{duration(event.time)}  {event.lane}: {folk.sentence(event)}"
            steps = (*steps, said)[-STEPS:]
            if isinstance(data.get("tree"), dict):
                lane = _lane(data["tree"], lanes, event.type == "worktree.merge")
                lanes = {**lanes, lane.name: lane}
        return replace(state, lanes=lanes, tasks=tasks, dots=dots, steps=steps)

    def draw(self, state: State, old: State) -> dict[str, str]:
        html = {"sum/said": f'<div class="sum" data-quiet>{esc(state.said)}</div>'}
        for lane in state.lanes.values():
            task = state.task(lane)
            title = esc(one_line(f"{lane.name}: {lane.branch}, {lane.state}, {task}", 200))
            html[f"trees/{lane.name}"] = (
                f'<div class="tree m-{lane.mark.key}" data-pair="{esc(lane.branch)}" '
                f'title="{title}" tabindex="0" role="group">'
                f"<b>{lane.mark.glyph} {esc(one_line(lane.name, 40))}</b>"
                f"<span>{esc(one_line(f'{lane.branch}, {lane.state}', 60))}</span>"
                f"<span>{esc(task)}</span></div>"
            )
        if state.dots:
            html["graph/all"] = _graph(state.dots)
        for number, step in enumerate(state.steps):
            said = esc(one_line(step, 120))
            html[f"steps/{number}"] = f'<div class="step" data-quiet>{said}</div>'
        return html

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Everything stands in the tables below.")
        picture.text(16, 24, state.said, "b", 640)
        shown, y = list(state.lanes.values())[-max(4, rows) :], 36.0
        for number, lane in enumerate(shown):
            key, x, y = lane.mark.key, 16 + 183 * (number % 4), 36 + 60 * (number // 4)
            picture.box(x, y, 176, 54, key)
            picture.text(x + 8, y + 16, f"{lane.mark.glyph} {lane.name}", "b", 164, key)
            picture.text(x + 8, y + 32, f"{lane.branch}, {lane.state}", "", 164, key)
            picture.text(x + 8, y + 48, state.task(lane), "", 164, key)
        y += 66 if shown else 0
        dots = state.dots[: max(4, rows)]
        if dots:
            wide = graph.width(dots)
            picture.path(graph.lines(dots, 16, y), "system")
            for dot in dots:
                left, middle = dot.at(16, y)
                picture.bar(left - 3.5, middle - 3.5, 7, 7, "system")
                refs = " ".join(f"[{ref}]" for ref in dot.refs)
                text = f"{dot.id}  {dot.subject}  {refs}"
                picture.text(24 + wide, middle + 4, text, "", static.WIDTH - wide - 48)
            y += graph.ROW * len(dots) + 8
        picture.height = y + 8
        return picture

    def facts(self, state: State, rows: int) -> str:
        trees: list[list[object]] = [
            [lane.name, lane.branch, state.task(lane), f"{lane.mark.glyph} {lane.state}"]
            for lane in list(state.lanes.values())[-rows:]
        ]
        log: list[list[object]] = [
            [dot.id, one_line(dot.subject, 60), ", ".join(dot.refs), ", ".join(dot.parents)]
            for dot in state.dots[:rows]
        ]
        steps = "".join(f"<li>{esc(one_line(step, 160))}</li>" for step in state.steps)
        tables = static.table(["worktree", "branch", "task", "state"], trees)
        tables += static.table(["commit", "subject", "branches", "parents"], log)
        return f"{tables}<ul>{steps}</ul>" if steps else tables


def _lane(tree: dict[str, Any], lanes: dict[str, WorktreeCard], merged: bool) -> WorktreeCard:
    name = str(tree.get("name", "?"))
    old = lanes.get(name)
    task = tree.get("task_id")
    return WorktreeCard(
        name,
        str(tree.get("branch", "?")),
        task if type(task) is int else None,
        str(tree.get("status", "active")),
        merged or (old is not None and old.merged),
    )


def _graph(dots: Sequence[Dot]) -> str:
    wide, tall = graph.width(dots), graph.ROW * len(dots)
    circles, rows = "", ""
    for dot in dots:
        x, y = dot.at(0, 0)
        circles += f'<circle cx="{x:g}" cy="{y:g}" r="4"/>'
        refs = [f'<em class="m-user">{esc(one_line(ref, 30))}</em>' for ref in dot.refs]
        rows += (
            f'<div style="padding-left:{wide + 6:g}px" data-pair="{esc(" ".join(dot.refs))}" '
            f'title="{esc(one_line(f"{dot.id} {dot.subject}", 160))}"><code>{esc(dot.id)}</code> '
            f"{esc(one_line(dot.subject, 60))}{''.join(refs)}</div>"
        )
    return (
        f'<div class="dots"><svg aria-hidden="true" width="{wide:g}" height="{tall:g}">'
        f'<path d="{graph.lines(dots, 0, 0)}"/>{circles}</svg>{rows}</div>'
    )

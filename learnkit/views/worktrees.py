"""Worktrees: which agent works on which branch, what it commits there, and how it comes back.

Each worktree has a lane below the main branch, in the colour of its agent, with its words on the
left. A line is a branch, a box around it the folder that it has, a disc a commit; what happened
later is further to the right.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.events.log import Event
from learnkit.events.loop import RunStarted
from learnkit.events.tasks import TaskDeleted
from learnkit.events.teams import TeamSpawned
from learnkit.events.text import count, listed
from learnkit.events.vocabulary import read
from learnkit.events.worktrees import CommitData, WorktreeCommits, WorktreeEvent, WorktreeFailed
from learnkit.views import board
from learnkit.views.board import Board
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.time_axis import duration
from learnkit.views.words import TITLE

#: Steps that stand on the line of the main branch.
_MAIN = ("merge", "conflict")
#: The height of a lane's box, in pixels.
_BOX = 66


@dataclass(frozen=True, slots=True)
class Tree:
    """A worktree.

    Attributes:
        name: its name.
        branch: its branch.
        agent: the agent that made it.
        task_id: the number of its task; None for none.
        status: active, kept or removed.
        merged: whether its last commit is in the main branch.
    """

    name: str
    branch: str
    agent: str
    task_id: int | None = None
    status: str = "active"
    merged: bool = False

    @property
    def mark(self) -> theme.Mark:
        """The mark of its status: what was merged has succeeded."""
        if self.merged:
            return theme.DONE
        return {"kept": theme.PENDING, "removed": theme.SHUTDOWN}.get(self.status, theme.ACTIVE)

    @property
    def state(self) -> str:
        """Its status in words."""
        if self.status not in ("kept", "removed"):
            return "merged" if self.merged else "active"
        return f"merged, {self.status}" if self.merged else f"{self.status}, unmerged"


@dataclass(frozen=True, slots=True)
class Step:
    """Something that has a place of its own from left to right.

    Attributes:
        kind: create, commit, merge, keep, remove; conflict for a merge that failed.
        tree: the name of the worktree; empty for the main branch.
        at: the time in seconds.
        by: the agent.
        text: the subject of a commit, or the problem.
        id: the id of a commit.
        parents: its parents.
        files: the files that it changes.
    """

    kind: str
    tree: str
    at: float
    by: str
    text: str = ""
    id: str = ""
    parents: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """The worktrees by name, the steps, the tasks, the agents, and the commits that were seen."""

    trees: dict[str, Tree] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    tasks: Board = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()

    def owner(self, tree: Tree) -> str:
        """The agent that works in a worktree: who has its task, or else who made it."""
        card = self.tasks.get(tree.task_id or 0)
        return card.owner if card and card.owner else tree.agent

    def colour(self, tree: str) -> str:
        """The key of the mark of a lane's agent; that of the lead for the main branch."""
        owner = self.owner(self.trees[tree]) if tree in self.trees else ""
        return theme.agent(self.agents.index(owner) if owner in self.agents else 0).key


class Worktrees(Diagram[State]):
    """The worktrees of a repository as lanes, their commits, and how they are merged."""

    name = "worktrees"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        match read(event):
            case RunStarted() if "." not in event.lane:
                return _joined(state, event.lane)
            case TeamSpawned(name=name):
                return _joined(state, name)
            case WorktreeEvent(tree=new):
                kind = event.type.partition(".")[2]
                old = state.trees.get(new.name) if kind != "create" else None
                agent = old.agent if old else event.lane
                merged = kind == "merge" or (old is not None and old.merged)
                tree = Tree(new.name, new.branch, agent, new.task_id, new.status, merged)
                state = replace(state, trees={**state.trees, tree.name: tree})
                return _with(state, [Step(kind, tree.name, event.time, event.lane)])
            case WorktreeFailed(name=name, tool="merge", problem=text) if name in state.trees:
                return _with(state, [Step("conflict", name, event.time, event.lane, text)])
            case WorktreeCommits(commits=commits):
                return _committed(state, event, commits)
            case TaskDeleted():
                return state  # whoever worked there still did
            case _:
                return replace(state, tasks=board.after(state.tasks, event))

    def says(self, state: State) -> list[str]:
        groups: dict[str, list[str]] = {}
        for tree in state.trees.values():
            said = tree.state.replace(", un", " but not ").replace(", ", " and ")
            groups.setdefault(said, []).append(tree.name)
        are = {said: "are" if len(names) > 1 else "is" for said, names in groups.items()}
        each = [f"{listed(names)} {are[said]} {said}" for said, names in groups.items()]
        first = f"{'; '.join(each)}." if each else "There is no worktree so far."
        if len(first) > TITLE:  # too many for their names
            merged = sum(tree.merged for tree in state.trees.values())
            first = f"{merged} of {count(len(state.trees), 'worktree')} merged."
        parts = [first]
        if gone := [one.name for one in state.trees.values() if one.state.endswith("removed")]:
            stay = "branches of {} stay" if len(gone) > 1 else "branch of {} stays"
            parts.append(f"The {stay.format(listed(gone))}.")
        if undone := [step for step in state.steps if step.kind == "conflict"]:
            clash = all("conflict" in step.text for step in undone)
            how = "met a conflict" if clash else "refused"
            parts.append(f"{count(len(undone), 'merge')} {how}.")
        return parts

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        trees = list(state.trees.values())[-max(2, rows // 4) :]
        head = 40.0
        rows_of = {tree.name: head + 50 + n * (_BOX + 16) for n, tree in enumerate(trees)}
        plan = _Plan(canvas, state, {"": head, **rows_of}, rows)
        canvas.text("main", 2, head + 4, "main", "b", state.colour(""))
        canvas.left_out("earlier", 2, 12, plan.hidden, "earlier step")
        for tree in trees:
            plan.folder(tree)
        if plan.steps:
            begins = plan.steps[0].kind == "commit"
            ink, begin = state.colour(""), plan.x(0) if begins else plan.left
            canvas.edge("branch", f"M0 0H{plan.right - begin:g}", ink, "w", x=begin, y=head)
        for tree in trees:
            plan.branch(tree)
        for draw in (plan.step, plan.label):
            for number in range(len(plan.steps)):
                draw(number)
        for tree in trees:
            plan.names(tree)
        y = max(canvas.height, head + 16)
        y += 20 * canvas.left_out("more", 2, y + 16, len(state.trees) - len(trees), "worktree")
        if trees:
            lines = ["line: branch, box: folder, disc: commit"]
            if any(tree.status == "removed" for tree in trees):
                lines.append("✗: the folder is removed; its branch stays")
            y = canvas.rows("legend", 2, y + 20, lines, "q") - 10
        canvas.height = y + 4
        return canvas


def _joined(state: State, who: str) -> State:
    return state if who in state.agents else replace(state, agents=(*state.agents, who))


def _committed(state: State, event: Event, found: tuple[CommitData, ...]) -> State:
    """The state after new commits: each stands on the lane of the branch that led to it first."""
    branches = {tree.branch: tree.name for tree in state.trees.values()}
    lanes: dict[str, str] = {}
    new: list[Step] = []
    for one in found:  # children come before their parents
        refs = [branches.get(ref, "") for ref in one.refs]
        lane = "" if "" in refs else refs[0] if refs else lanes.get(one.id, "")
        if one.parents and lanes.get(one.parents[0]) != "":
            lanes[one.parents[0]] = lane
        if one.id not in state.seen:
            about = one.subject, one.id, one.parents, one.files
            new.append(Step("commit", lane, event.time, event.lane, *about))
    if not state.trees and not state.seen:
        new = new[:1]  # what was there before is not drawn
    steps, trees = list(state.steps), dict(state.trees)
    for step in list(new):
        waits = [n for n, one in enumerate(steps) if one.kind == "merge" and not one.id]
        if not step.tree and len(step.parents) > 1 and waits:
            # The commit of a merge that is drawn already.
            at = steps[waits[-1]]
            steps[waits[-1]] = replace(at, id=step.id, parents=step.parents, text=step.text)
            new.remove(step)
        elif tree := trees.get(step.tree):
            trees[step.tree] = replace(tree, merged=False)
    seen = state.seen | {one.id for one in found}
    return _with(replace(state, steps=tuple(steps), trees=trees, seen=seen), new[::-1])


def _with(state: State, steps: list[Step]) -> State:
    return replace(state, steps=(*state.steps, *steps))


def _says(step: Step) -> str:
    """A step in words."""
    if step.kind == "commit":
        files = f", changes {listed(list(step.files))}" if step.files else ""
        return f"{step.id} on {step.tree or 'the main branch'}: {step.text}{files}"
    words = {
        "create": f"{step.tree} is made",
        "merge": f"{step.tree} is merged into the main branch",
        "keep": f"{step.tree} is kept",
        "remove": f"{step.tree} is removed; its branch stays",
    }
    return words.get(step.kind, f"{step.tree}: {step.text}")


class _Plan:
    """Where everything stands: a column for each step, a row for each lane."""

    def __init__(self, canvas: Canvas, state: State, middles: dict[str, float], rows: int) -> None:
        self.canvas, self.state, self.middles = canvas, state, middles
        self.left = min(0.4 * canvas.width, 176.0)
        shown = [one for one in enumerate(state.steps) if one[1].tree in middles]
        self.keys = [str(number) for number, _ in shown[-max(6, rows) :]]
        self.steps = [step for _, step in shown[-max(6, rows) :]]
        self.hidden = len(state.steps) - len(self.steps)
        self.right = canvas.width - 4
        # Room for some more, so that the first ones don't move with each step.
        self.column = round((self.right - self.left) / max(6, len(self.steps)), 1)
        self.back = min(round(0.6 * self.column, 1), 36)

    def x(self, number: int) -> float:
        """The middle of a column, in pixels."""
        return self.left + self.column * (number + 0.5)

    def lane(self, step: Step) -> float:
        """The height of the line on which a step stands, in pixels."""
        return self.middles["" if step.kind in _MAIN else step.tree]

    def own(self, name: str) -> list[tuple[float, Step]]:
        """The steps of a worktree, each with its place."""
        return [(self.x(n), one) for n, one in enumerate(self.steps) if one.tree == name]

    def folder(self, tree: Tree) -> None:
        """A box from where the folder is made to where it is removed."""
        its = self.own(tree.name)
        begin, until = its[0][0] if its else self.left, self.right
        if tree.status == "removed" and its:
            until = its[-1][0]
        box = (begin, self.middles[tree.name] - 20, max(until - begin, 8), _BOX)
        card = self.state.tasks.get(tree.task_id or 0)
        task = f"#{card.id} {card.subject}" if card else "no task"
        owner = self.state.owner(tree)
        says = f"{tree.name}, branch {tree.branch}, {owner}, {task}: {tree.state}"
        mark = self.state.colour(tree.name)
        self.canvas.box(f"folder {tree.name}", *box, mark, says=says, pair=tree.name)
        if until < self.right:
            x, y = box[0] + box[2], box[1] + 43
            self.canvas.edge(f"gone {tree.name}", "M-5 -5L5 5M5 -5L-5 5", mark, "w", x=x, y=y)

    def branch(self, tree: Tree) -> None:
        """The line of a branch, which leaves the main one, and stays when the folder is gone."""
        its, y, mark = self.own(tree.name), self.middles[tree.name], self.state.colour(tree.name)
        begin = its[0][0] if its else self.left
        path = f"M0 0H{self.right - begin:g}"
        if its and its[0][1].kind == "create":
            path = _curve(-self.back, self.middles[""] - y) + path[4:]
        self.canvas.edge(f"branch {tree.name}", path, mark, "w", x=begin, y=y)

    def step(self, number: int) -> None:
        """A step's disc, and the curves that lead to it."""
        one, x, state = self.steps[number], self.x(number), self.state
        y, key, mark = self.lane(one), self.keys[number], state.colour(one.tree)
        says, pair = f"{duration(one.at)}, {one.by}: {_says(one)}", one.tree
        if one.kind in _MAIN:
            tone, glyph, style = ("done", "✓", "w") if one.kind == "merge" else ("failed", "✗", "d")
            path = _curve(-self.back, self.middles[one.tree] - y)
            shade = mark if one.kind == "merge" else tone
            self.canvas.edge(f"into {key}", path, shade, style, x=x, y=y)
            self.canvas.dot(f"step {key}", x, y, 9, tone, glyph, says=says, pair=pair)
        elif one.kind == "commit":
            lanes = {step.id: step for step in self.steps if step.id}
            for parent in (lanes[id] for id in one.parents[1:] if id in lanes):
                if (low := self.lane(parent)) != y:
                    path, shade = _curve(-self.back, low - y), state.colour(parent.tree)
                    self.canvas.edge(f"into {key} {parent.id}", path, shade, "w", x=x, y=y)
            self.canvas.dot(f"step {key}", x, y, 7, mark, says=says, pair=pair)

    def label(self, number: int) -> None:
        """What a step is, as far as there is room before the next on its lane."""
        one, x, y = self.steps[number], self.x(number), self.lane(self.steps[number])
        later = [self.ends(n, y) for n in range(number + 1, len(self.steps))]
        ends = [at for at, step in self.own(one.tree) if step.kind == "remove" and at > x]
        room = min([*later, *ends, self.canvas.width]) - x
        key, mark = self.keys[number], self.state.colour(one.tree)
        if one.kind == "commit" and room >= 50:
            style, top, gap = ("o", y + 22, 0) if one.tree else ("", y - 16, 8)
            self.canvas.text(f"label {key}", x - 8, top, one.text, style, mark, width=room - gap)
            if one.files and one.tree:
                more = f" +{len(one.files) - 1}" if len(one.files) > 1 else ""
                name = one.files[0].rpartition("/")[2] + more
                self.canvas.text(f"files {key}", x - 8, y + 37, name, "mo", mark, width=room)
        elif one.kind in _MAIN:
            texts, tone = [f"merged {one.tree}", one.tree], "done"
            if one.kind == "conflict":
                why = "conflict" if "conflict" in one.text else "refused"
                texts, tone = [f"{why}: {one.tree} waits", why], "failed"
            if fits := [text for text in texts if 6.5 * len(text) <= room - 8]:
                self.canvas.text(f"label {key}", x - 8, y - 16, fits[0], "", tone, width=room + 8)

    def ends(self, number: int, y: float) -> float:
        """Where a step ends the labels before it on the line at this height."""
        one = self.steps[number]
        passes = one.kind in ("create", *_MAIN) or len(one.parents) > 1
        if passes and self.middles[one.tree] > y > self.middles[""]:
            return self.x(number) - self.back
        labelled = one.kind in ("commit", *_MAIN) and self.lane(one) == y
        return self.x(number) if labelled else self.right

    def names(self, tree: Tree) -> None:
        """The words of a lane, left of it."""
        y, mark = self.middles[tree.name], self.state.colour(tree.name)
        card, owner = self.state.tasks.get(tree.task_id or 0), self.state.owner(tree)
        room, text = self.left - 8, self.canvas.text
        said = f"{owner}, #{card.id} {card.mark.word}" if card else owner
        text(f"name {tree.name}", 2, y - 2, tree.name, "b", mark, width=room)
        text(f"agent {tree.name}", 2, y + 15, said, "q", width=room)
        state = f"{tree.mark.glyph} {tree.state}"
        text(f"state {tree.name}", 2, y + 32, state, "", tree.mark.key, width=room)


def _curve(x: float, y: float) -> str:
    """A curve from a place to 0, level at both ends."""
    return f"M{x:g} {y:g}C{x / 2:g} {y:g} {x / 2:g} 0 0 0"

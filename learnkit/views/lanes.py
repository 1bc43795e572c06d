"""An agent's time: when it worked and was idle, which tasks it began, when mail came."""

from __future__ import annotations

from dataclasses import dataclass, replace

from learnkit.views.drawing import theme
from learnkit.views.drawing.row import Row
from learnkit.views.people import People

#: Marks on one lane that are kept at most, the newest ones.
FLAGS = 24
#: Share of the scale that a task's number takes.
GAP = 0.085


@dataclass(frozen=True, slots=True)
class Lane:
    """One agent's time: its spans, the tasks that it began, and the mail that came.

    Attributes:
        row: when it worked and when it was idle.
        tasks: for each task that it began, when, its number, and what became of it.
        mail: seconds at which some came.
    """

    row: Row
    tasks: tuple[tuple[float, int, theme.Mark], ...] = ()
    mail: tuple[float, ...] = ()

    def placed(self, scale: float) -> list[tuple[float, str, theme.Mark]]:
        """The tasks side by side: share of the scale, text, mark; what has no room is left out."""
        found: list[tuple[float, str, theme.Mark]] = []
        free = 0.0
        for at, id, mark in self.tasks:
            place = max(at / scale, free)
            if place > 0.93:
                break
            found.append((place, f"{mark.glyph}#{id}", mark))
            free = place + GAP
        return found


def lived(lanes: dict[str, Lane], old: People, new: People, now: float) -> dict[str, Lane]:
    """The lanes after some have changed from working to idle, or the like."""
    for name, person in new.items():
        before = old.get(name)
        if before is not None and before.mark is person.mark and name in lanes:
            continue
        lane = lanes.get(name) or Lane(Row(name))
        row = lane.row.over("life", now)
        if person.mark is not theme.SHUTDOWN:
            row = row.begun(person.mark.key, "life", now)
        lanes = {**lanes, name: replace(lane, row=row)}
    return lanes


def began(lanes: dict[str, Lane], name: str, at: float, id: int) -> dict[str, Lane]:
    """The lanes after one has begun a task."""
    if name not in lanes:
        return lanes
    tasks = (*lanes[name].tasks, (at, id, theme.ACTIVE))[-FLAGS:]
    return {**lanes, name: replace(lanes[name], tasks=tasks)}


def ended(lane: Lane, id: int, mark: theme.Mark) -> Lane:
    """With the task's mark changed where it was at it."""
    if not any(one[1] == id and one[2] is theme.ACTIVE for one in lane.tasks):
        return lane
    return replace(
        lane,
        tasks=tuple(
            (at, one, mark if one == id and was is theme.ACTIVE else was)
            for at, one, was in lane.tasks
        ),
    )


def mailed(lanes: dict[str, Lane], name: str, at: float) -> dict[str, Lane]:
    """The lanes after mail has come for one."""
    if name not in lanes:
        return lanes
    return {**lanes, name: replace(lanes[name], mail=(*lanes[name].mail, at)[-FLAGS:])}

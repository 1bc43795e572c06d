"""What may happen to a task: the rules of every board, whatever keeps its tasks.

The functions work on tasks by id: all of a board's, or those that the change may touch. They change
the dict and store nothing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from learnkit.backends.task import MAX_DESCRIPTION, Changes, Status, Task
from learnkit.core.readiness import is_ready, open_blockers
from learnkit.errors import ToolError, UsageError

#: Which status may follow which. Any task may be deleted.
NEXT: dict[Status, tuple[Status, ...]] = {
    "pending": ("in_progress", "completed", "failed"),
    "in_progress": ("pending", "completed", "failed"),
    "failed": ("pending", "in_progress"),
    "completed": ("pending",),
}

#: How many ids an error about an unknown one names.
_NAMED = 20

_BEGUN = ("in_progress", "completed")


def change(tasks: dict[int, Task], id: int, changes: Changes) -> list[Task]:
    """Change a task as :meth:`BoardBackend.update` says; return it, unless it was deleted."""
    task, status = find(tasks, id), changes.status
    if changes.token is not None and changes.token != task.token:
        raise ToolError(f"task {id} is not yours any more: {_present(task, changes.by)}")
    if status is not None and changes.by and not may_change(task, changes.by):
        raise ToolError(
            f"task {id} is in progress and owned by {task.owner}; only {task.owner} or the team's "
            f"lead may set it to {status}"
        )
    for blocker in changes.remove_blocked_by:
        _disconnect(tasks, blocker, id)
    for blocker in changes.add_blocked_by:
        _connect(tasks, blocker, id)
    for blocked in changes.add_blocks:
        _connect(tasks, id, blocked)
    if status == "deleted":
        _delete(tasks, id)
    elif status is not None:
        tasks[id] = _moved(tasks, tasks[id], status, changes.owner)
    if len(changes.result_summary or "") > MAX_DESCRIPTION:
        raise ToolError(f"result_summary is too long; at most {MAX_DESCRIPTION:,} characters fit")
    texts = {"result_summary": changes.result_summary, "worktree": changes.worktree}
    given = {name: text for name, text in texts.items() if text is not None}
    if id not in tasks:
        return []
    tasks[id] = like(tasks[id], **given)
    return [tasks[id]]


def claim(
    tasks: dict[int, Task],
    id: int,
    owner: str,
    incarnation: str,
    lease: float | None,
    now: datetime,
) -> list[Task]:
    """Claim a task, if it is ready or under a lease that is over."""
    if not owner:
        raise ToolError("the owner is empty; name the agent that claims the task")
    until = "" if lease is None else _until(lease, now)
    task = find(tasks, id)
    if task.status != "pending" and not is_over(task, now):
        taken = f" by {task.owner}" if task.owner else ""
        raise ToolError(f"task {id} is {task.status}{taken}; claim one that is ready")
    free = replace(task, status="pending", owner="")
    tasks[id] = _moved(tasks, free, "in_progress", owner, incarnation, until)
    return [tasks[id]]


def release(tasks: dict[int, Task], owner: str, incarnation: str) -> list[Task]:
    """Give back the tasks that a run of a worker holds."""
    released = [_handed_on(task, "pending") for task in _held(tasks, owner, incarnation)]
    tasks.update((task.id, task) for task in released)
    return released


def renew(
    tasks: dict[int, Task], owner: str, incarnation: str, lease: float, now: datetime
) -> list[Task]:
    """Give the tasks that a run of a worker holds a new end of their leases."""
    until = _until(lease, now)
    # Never an earlier end: a clock that was set back, and is put right, must not end the lease.
    renewed = [
        replace(task, lease_until=max(until, task.lease_until or until, key=datetime.fromisoformat))
        for task in _held(tasks, owner, incarnation)
    ]
    tasks.update((task.id, task) for task in renewed)
    return renewed


def _until(lease: float, now: datetime) -> str:
    """The end of a lease that begins now."""
    check_lease(lease)
    return (now + timedelta(seconds=lease)).isoformat()


def _held(tasks: dict[int, Task], owner: str, incarnation: str) -> list[Task]:
    return [task for task in tasks.values() if holds(task, owner, incarnation)]


def holds(task: Task, owner: str, incarnation: str) -> bool:
    """Whether a run of a worker has a task in progress."""
    return (task.status, task.owner, task.incarnation) == ("in_progress", owner, incarnation)


def is_over(task: Task, now: datetime) -> bool:
    """Whether a task is in progress under a lease that is over."""
    leased = task.status == "in_progress" and task.lease_until
    return bool(leased) and now > datetime.fromisoformat(task.lease_until)


def ready(tasks: dict[int, Task], now: datetime) -> list[Task]:
    """Return the tasks that can be claimed: free ones, and those whose lease is over."""
    return [task for task in tasks.values() if is_ready(task, tasks) or is_over(task, now)]


def differs(old: Task | None, new: Task | None) -> bool:
    """Whether something has happened to a task; that its lease was renewed does not count."""
    if old is None or new is None:
        return old is not new
    return old != replace(new, lease_until=old.lease_until)


def check_lease(lease: float) -> None:
    """Refuse a length that no lease can have."""
    if not 0 < lease < float("inf"):
        raise UsageError(f"the lease is {lease} s; give a number above 0, or None")


def may_change(task: Task, by: str) -> bool:
    """Whether an agent may complete, release or delete a task: nobody else has it in progress."""
    owner = task.owner if task.status == "in_progress" else ""
    return not owner or by == owner or by.startswith(f"{owner}.")


def find(tasks: dict[int, Task], id: int) -> Task:
    """Return a task."""
    if id not in tasks:
        named = ", ".join(map(str, [*tasks][:_NAMED])) + (", …" if len(tasks) > _NAMED else "")
        raise ToolError(f"there is no task {id}; the board has: {named or 'none'}")
    return tasks[id]


def like(task: Task, **fields: Any) -> Task:
    """Return the task with these fields: the same object if nothing differs."""
    changed = replace(task, **fields)
    return task if changed == task else changed


def _moved(
    tasks: dict[int, Task],
    task: Task,
    status: Status,
    owner: str,
    incarnation: str = "",
    lease_until: str = "",
) -> Task:
    """A task with another status, if it may have it."""
    if status in _BEGUN and (waits := open_blockers(task, tasks)):
        blockers = ", ".join(map(str, waits))
        raise ToolError(f"task {task.id} is blocked by {blockers}; complete them first")
    taken = task.status == "in_progress" and task.owner
    if status == "in_progress" and taken and owner and owner != task.owner:
        raise ToolError(f"task {task.id} is in progress and owned by {task.owner}")
    if status == task.status:
        return task
    if status not in NEXT[task.status]:
        allowed = ", ".join(NEXT[task.status])
        raise ToolError(f"task {task.id} is {task.status}; it can only become: {allowed}")
    if task.status == "completed":
        begun = [id for id in task.blocks if id in tasks and tasks[id].status in _BEGUN]
        if begun:
            after = ", ".join(map(str, begun))
            raise ToolError(f"task {task.id} cannot be reopened: {after} already built on it")
    if status in ("completed", "failed"):
        return replace(task, status=status, lease_until="")
    return _handed_on(task, status, owner, incarnation, lease_until)


def _handed_on(
    task: Task, status: Status, owner: str = "", incarnation: str = "", lease_until: str = ""
) -> Task:
    """A task that is unowned, or owned by another: what its former owner knows is out of date."""
    fenced = task.token or incarnation or lease_until
    return replace(
        task,
        status=status,
        owner=owner if status == "in_progress" else "",
        token=task.token + 1 if fenced else 0,
        incarnation=incarnation,
        lease_until=lease_until,
    )


def _present(task: Task, by: str) -> str:
    """Who has a task now, for one that has it no longer."""
    if task.status == "in_progress":
        who = f"another run of {by}" if by and by == task.owner else task.owner or "another worker"
        return f"{who} has it now. Stop working on it."
    if task.status == "pending":
        return "it was given back, and nobody has it now. Claim it again before you go on."
    return f"it is {task.status}{f' by {task.owner}' if task.owner else ''}."


def _connect(tasks: dict[int, Task], blocker: int, blocked: int) -> None:
    """Make one task wait for another, if that can be."""
    first, then = find(tasks, blocker), find(tasks, blocked)
    if blocker in then.blocked_by:
        return
    if blocker == blocked:
        raise ToolError(f"task {blocker} cannot wait for itself")
    if way := _way(tasks, blocked, blocker):
        cycle = " → ".join(f"#{id}" for id in [*way, blocked])
        raise ToolError(f"task {blocked} cannot wait for {blocker}: that would be a cycle, {cycle}")
    if then.status in _BEGUN and first.status != "completed":
        raise ToolError(f"task {blocked} is {then.status}; it can no longer wait for {blocker}")
    tasks[blocker] = replace(first, blocks=tuple(sorted({*first.blocks, blocked})))
    tasks[blocked] = replace(then, blocked_by=tuple(sorted({*then.blocked_by, blocker})))


def _disconnect(tasks: dict[int, Task], blocker: int, blocked: int) -> None:
    then = find(tasks, blocked)
    if blocker not in then.blocked_by:
        waits = ", ".join(map(str, then.blocked_by)) or "nothing"
        raise ToolError(f"task {blocked} does not wait for {blocker}; it waits for {waits}")
    first = tasks[blocker]
    tasks[blocker] = replace(first, blocks=tuple(id for id in first.blocks if id != blocked))
    left = tuple(id for id in then.blocked_by if id != blocker)
    tasks[blocked] = replace(then, blocked_by=left)


def _delete(tasks: dict[int, Task], id: int) -> None:
    gone = tasks.pop(id)  # a neighbour may be missing, or know nothing of it: files are edited
    for other in {*gone.blocks, *gone.blocked_by} & tasks.keys():
        tasks[other] = like(
            tasks[other],
            blocked_by=tuple(one for one in tasks[other].blocked_by if one != id),
            blocks=tuple(one for one in tasks[other].blocks if one != id),
        )


def _way(tasks: dict[int, Task], start: int, goal: int) -> list[int]:
    """A way along blocks from one task to another; empty if there is none."""
    before = {start: start}
    queue = [start]
    for id in queue:
        if id == goal:
            way = [id]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for after in tasks[id].blocks:
            if after not in before and after in tasks:
                before[after] = id
                queue.append(after)
    return []

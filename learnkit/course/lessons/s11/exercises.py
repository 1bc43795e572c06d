"""Lesson 11's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import short


def _task(id: int, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": id, "status": status, "owner": "", "blockedBy": [], "tags": [], **more}


def check_first(first: Any) -> Verdict:
    """Check that the ready task that most others wait for is claimed first."""
    for tasks, wanted, given, why in (
        ([], None, "an empty board", "there is nothing to claim"),
        ([_task(1, "completed")], None, "one completed task", "no task is ready"),
        (
            [_task(2), _task(1)],
            1,
            "tasks 2 and 1, which no other task waits for",
            "on a tie the lower id wins",
        ),
        (
            [_task(1, "completed"), _task(2, blockedBy=[1])],
            2,
            "task 1 completed and task 2 blocked by 1",
            "a task is ready when all its blockers are completed",
        ),
        (
            [_task(1), _task(2), _task(3, blockedBy=[2])],
            2,
            "tasks 1 and 2 ready and task 3 blocked by 2",
            "one task waits for 2, and none waits for 1",
        ),
        (
            [
                *(_task(1), *(_task(id, blockedBy=[1]) for id in (2, 3, 4)), _task(5)),
                *(_task(6, blockedBy=[5]), _task(7, blockedBy=[5]), _task(8, blockedBy=[6, 7])),
            ],
            1,
            "2, 3 and 4 blocked by 1, 6 and 7 by 5, and 8 by 6 and 7",
            "three tasks wait for 1 and three for 5 (8 counts once), and the lower id wins",
        ),
        (
            [
                *(_task(1), _task(2, blockedBy=[1])),
                *(_task(3), _task(4, blockedBy=[3]), _task(5, blockedBy=[4])),
            ],
            3,
            "the chains 1, 2 and 3, 4, 5",
            "4 and 5 wait for 3, the latter through 4, and only 2 waits for 1",
        ),
        (
            [_task(1, "in_progress"), _task(2, blockedBy=[1]), _task(3)],
            3,
            "task 1 in progress, task 2 blocked by 1, and task 3 ready",
            "a task in progress isn't ready, and a blocked one isn't either",
        ),
        (
            [_task(1), _task(2, "completed", blockedBy=[1]), _task(3), _task(4, blockedBy=[3])],
            3,
            "task 2 completed although blocked by 1, and task 4 blocked by 3",
            "a completed task waits for nothing, so only 3 has a task waiting",
        ),
    ):
        found = first(tasks)
        if found != wanted or isinstance(found, bool):
            return (
                f"With {given}, your function returned {short(found)}. "
                f"It should return {wanted}, because {why}."
            )
    return None


FIRST_QUEUE = """
def first(tasks):
    status = {task["id"]: task["status"] for task in tasks}
    best, most = None, -1
    for task in sorted(tasks, key=lambda one: one["id"]):
        if task["status"] != "pending":
            continue
        if any(status[b] != "completed" for b in task["blockedBy"]):
            continue
        queue, seen = [task["id"]], set()
        while queue:
            id = queue.pop()
            for other in tasks:
                new = other["id"] not in seen and other["status"] != "completed"
                if id in other["blockedBy"] and new:
                    seen.add(other["id"])
                    queue.append(other["id"])
        if len(seen) > most:
            best, most = task["id"], len(seen)
    return best
""".strip()


def check_leases(Leases: Any) -> Verdict:
    """Check that claims expire unless they are renewed."""
    if not isinstance(Leases, type):
        return f"`Leases` is {short(Leases)}. It should be a class, to be called with `lasts=60`."
    made: Any = Leases
    try:
        leases = made(lasts=60)
    except TypeError as error:
        return f"Leases(lasts=60) raised TypeError: {error}. Your `__init__` should take `lasts`."
    for method in ("claim", "renew"):
        if not callable(getattr(leases, method, None)):
            return f"Your class has no method `{method}`. It needs `claim` and `renew`."
    for call, wanted, why in (
        (("claim", 1, "alice", 0), True, "the task is free"),
        (("claim", 1, "bob", 59), False, "alice's claim holds until second 60"),
        (("claim", 2, "bob", 59), True, "it is another task, and free"),
        (("renew", 1, "alice", 59), True, "alice still owns it; it now holds until second 119"),
        (("claim", 1, "bob", 100), False, "alice renewed it at second 59, so it holds until 119"),
        (("renew", 1, "bob", 100), False, "bob doesn't own it"),
        (("claim", 1, "bob", 119), True, "alice's claim expired at second 119"),
        (("renew", 1, "alice", 121), False, "her claim expired, and bob owns the task now"),
        (("renew", 3, "alice", 121), False, "she never claimed it"),
        (("claim", 1, "carol", 178), False, "bob's claim holds until second 179"),
        (("renew", 1, "bob", 180), False, "his claim expired at 179; he has to claim it again"),
        (("claim", 1, "bob", 180), True, "it has no owner any more"),
    ):
        method, *given = call
        found = getattr(leases, method)(*given)
        if bool(found) != wanted:
            said = f"{method}({given[0]}, {given[1]!r}, now={given[2]})"
            return f"{said} returned {short(found)}. It should return {wanted}, because {why}."
    return None


LEASES_UNTIL = '''
class Leases:
    """Claims that expire ``lasts`` seconds after they were made or last renewed."""

    def __init__(self, lasts=60):
        self.lasts, self.until, self.owner = lasts, {}, {}

    def claim(self, id, who, now):
        is_free = self.until.get(id, now) <= now
        if is_free:
            self.until[id], self.owner[id] = now + self.lasts, who
        return is_free

    def renew(self, id, who, now):
        if self.owner.get(id) == who and self.until[id] > now:
            self.until[id] = now + self.lasts
            return True
        return False
'''.strip()


EXERCISES = {
    "first": Check(check_first, [FIRST_QUEUE]),
    "Leases": Check(check_leases, [LEASES_UNTIL]),
}

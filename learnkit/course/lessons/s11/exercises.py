"""Lesson 11's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

from typing import Any

from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check


def _task(id: int, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": id, "status": status, "owner": "", "blockedBy": [], "tags": [], **more}


def check_mine(mine: Any) -> Verdict:
    """Check which tasks an agent with a role could claim now.

    Args:
        mine: the learner's function of the tasks and a role.
    """
    for tasks, wanted, what in (
        ([], [], "an empty board"),
        ([_task(2), _task(1)], [1, 2], "two free tasks"),
        ([_task(1, owner="bob", status="in_progress"), _task(2)], [2], "a task in bob's hands"),
        ([_task(1, "completed"), _task(2, blockedBy=[1])], [2], "a task whose blocker is done"),
        ([_task(1, "failed"), _task(2, blockedBy=[1])], [], "a task whose blocker has failed"),
        ([_task(1, tags=["tester"]), _task(2, tags=["coder", "tester"])], [2], "two with tags"),
        ([_task(1, tags=["coders"])], [], "a tag that only begins like the role"),
        ([_task(1, "completed"), _task(2, "in_progress")], [], "nothing that is pending"),
    ):
        told = mine(tasks, "coder")
        if told is None or list(told) != wanted:
            return f"{what}: for a coder it says {told!r}, and {wanted} is right"
    return None


MINE_LOOP = """
def mine(tasks, role):
    status = {task["id"]: task["status"] for task in tasks}
    found = []
    for task in tasks:
        waits = [b for b in task["blockedBy"] if status.get(b) != "completed"]
        if task["status"] != "pending" or task["owner"] or waits:
            continue
        if task["tags"] and role not in task["tags"]:
            continue
        found.append(task["id"])
    found.sort()
    return found
""".strip()


def check_first(first: Any) -> Verdict:
    """Check that the ready task that most others wait for is claimed first.

    Args:
        first: the learner's function of the tasks.
    """
    diamond = [
        _task(1),
        _task(2, blockedBy=[1]),
        _task(3, blockedBy=[1]),
        _task(4, blockedBy=[2, 3]),
    ]
    for tasks, wanted, what in (
        ([], None, "an empty board"),
        ([_task(1, "completed")], None, "nothing is ready"),
        ([_task(2), _task(1)], 1, "two alike: the lower number"),
        ([_task(1, "completed"), _task(2, blockedBy=[1])], 2, "one whose blocker is completed"),
        ([_task(1), _task(2), _task(3, blockedBy=[2])], 2, "one on which another waits"),
        ([*diamond, _task(5)], 1, "a diamond, and one beside it"),
        (
            [
                *(_task(1), _task(2, blockedBy=[1])),
                *(_task(3), _task(4, blockedBy=[3]), _task(5, blockedBy=[4])),
            ],
            3,
            "a chain of two against a chain of three",
        ),
        (
            [_task(1, "in_progress"), _task(2, blockedBy=[1]), _task(3)],
            3,
            "the most important one is taken",
        ),
        (
            [_task(1), _task(2, "completed", blockedBy=[1]), _task(3), _task(4, blockedBy=[3])],
            3,
            "one on which only a completed task waited",
        ),
    ):
        told = first(tasks)
        if told != wanted:
            return f"{what}: it says {told!r}, and {wanted!r} is right"
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
    """Check that claims run out unless they are renewed.

    Args:
        Leases: the learner's class; it takes ``lasts``, in seconds.
    """
    if not isinstance(Leases, type):
        return "`Leases` must be a class"
    made: Any = Leases
    leases = made(lasts=60)
    steps = (
        ("claim", 1, "alice", 0, True, "alice claims a free task"),
        ("claim", 1, "bob", 59, False, "bob claims it after 59 seconds of 60"),
        ("claim", 2, "bob", 59, True, "bob claims another one"),
        ("renew", 1, "alice", 59, True, "alice renews hers in time"),
        ("claim", 1, "bob", 100, False, "bob claims the one that was renewed"),
        ("renew", 1, "bob", 100, False, "bob renews what is not his"),
        ("claim", 1, "bob", 119, True, "bob claims it when it has just run out"),
        ("renew", 1, "alice", 121, False, "alice comes back and renews what is bob's by now"),
        ("renew", 3, "alice", 121, False, "alice renews what nobody has claimed"),
        ("claim", 1, "carol", 178, False, "carol claims it one second too early"),
    )
    for what, id, who, now, wanted, says in steps:
        told = getattr(leases, what)(id, who, now)
        if bool(told) != wanted:
            return f"{says}: it says {told!r}, and {wanted} is right"
    return None


LEASES_UNTIL = '''
class Leases:
    """Claims that run out after ``lasts`` seconds, unless they are renewed."""

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
    "mine": Check(
        check_mine,
        right=[MINE_LOOP],
        wrong=[
            SOLUTION.replace('role in task["tags"]', 'role in str(task["tags"])'),
            SOLUTION.replace('not task["tags"] or ', ""),
            SOLUTION.replace('== "completed"', 'in ("completed", "failed")'),
        ],
    ),
    "first": Check(
        check_first,
        right=[FIRST_QUEUE],
        wrong=[
            SOLUTION.replace("(-len(waiting(id)), id)", "id"),
            SOLUTION.replace(' | waiting(task["id"])', ""),
            SOLUTION.replace("-len(waiting(id))", "len(waiting(id))"),
        ],
    ),
    "Leases": Check(
        check_leases,
        right=[LEASES_UNTIL],
        wrong=[
            SOLUTION.replace("if now - since < self.lasts else None", ""),
            SOLUTION.replace("if self.holder(id, now) != who:", "if id not in self.held:"),
            SOLUTION.replace("now - since < self.lasts", "now - since <= self.lasts"),
        ],
    ),
}

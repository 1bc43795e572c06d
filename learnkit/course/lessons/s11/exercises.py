"""Lesson 11's exercises: what is written, and what tells whether it works."""

from __future__ import annotations

from typing import Any

from learnkit.course.lessons import Exercise, Verdict


def _task(id: int, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": id, "status": status, "owner": "", "blockedBy": [], "tags": [], **more}


def check_mine(mine: Any) -> Verdict:
    """Which tasks somebody of a role could claim now."""
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


MINE_STUB = """
def mine(tasks, role):
    return []
""".strip()

MINE = """
def mine(tasks, role):
    done = {task["id"] for task in tasks if task["status"] == "completed"}
    return sorted(
        task["id"]
        for task in tasks
        if task["status"] == "pending"
        and not task["owner"]
        and set(task["blockedBy"]) <= done
        and (not task["tags"] or role in task["tags"])
    )
""".strip()

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
    """Which ready task to claim: the one on which most others wait."""
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


FIRST_STUB = """
def first(tasks):
    return None
""".strip()

FIRST = """
def first(tasks):
    done = {task["id"] for task in tasks if task["status"] == "completed"}
    left = [task for task in tasks if task["id"] not in done]

    def waiting(id):
        found = set()
        for task in left:
            if id in task["blockedBy"]:
                found |= {task["id"]} | waiting(task["id"])
        return found

    ready = [
        task["id"]
        for task in left
        if task["status"] == "pending" and set(task["blockedBy"]) <= done
    ]
    return min(ready, key=lambda id: (-len(waiting(id)), id), default=None)
""".strip()

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
    """Claims that run out unless they are renewed."""
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


LEASES_STUB = '''
class Leases:
    """Claims that run out after ``lasts`` seconds, unless they are renewed."""

    def __init__(self, lasts=60):
        self.lasts = lasts

    def claim(self, id, who, now):
        """Whether ``who`` has the task now."""

    def renew(self, id, who, now):
        """Whether ``who`` still has it; then it lasts anew."""
'''.strip()

LEASES = '''
class Leases:
    """Claims that run out after ``lasts`` seconds, unless they are renewed."""

    def __init__(self, lasts=60):
        self.lasts, self.held = lasts, {}

    def holder(self, id, now):
        who, since = self.held.get(id, (None, 0))
        return who if now - since < self.lasts else None

    def claim(self, id, who, now):
        if self.holder(id, now) is not None:
            return False
        self.held[id] = who, now
        return True

    def renew(self, id, who, now):
        if self.holder(id, now) != who:
            return False
        self.held[id] = who, now
        return True
'''.strip()

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

EXERCISES = [
    Exercise(
        title="what could be mine?",
        minutes=5,
        name="mine",
        check=check_mine,
        hints=[
            "Four conditions: pending, nobody's, no open blocker, and the tags.",
            "A task without tags is for everybody.",
            "Collect the completed ids first; set(task['blockedBy']) <= done.",
        ],
        solution=MINE,
        right=[MINE_LOOP],
        wrong=[
            MINE_STUB,
            MINE.replace('role in task["tags"]', 'role in str(task["tags"])'),
            MINE.replace('not task["tags"] or ', ""),
            MINE.replace('== "completed"', 'in ("completed", "failed")'),
        ],
    ),
    Exercise(
        title="which one first?",
        minutes=15,
        name="first",
        check=check_first,
        hints=[
            "Everybody takes the lowest number. Better: the task on which most others wait.",
            "Others wait directly, or for one that waits. Follow blockedBy backwards.",
            "min(ready, key=lambda id: (-len(waiting(id)), id), default=None)",
        ],
        solution=FIRST,
        right=[FIRST_QUEUE],
        wrong=[
            FIRST_STUB,
            FIRST.replace("(-len(waiting(id)), id)", "id"),
            FIRST.replace(' | waiting(task["id"])', ""),
            FIRST.replace("-len(waiting(id))", "len(waiting(id))"),
        ],
    ),
    Exercise(
        title="a claim that runs out",
        minutes=20,
        name="Leases",
        check=check_leases,
        hints=[
            "Remember for each task who has it, and since when.",
            "A claim holds while now - since < lasts; then it is as if nobody had it.",
            "renew works only for the one who still holds it, and sets since to now.",
        ],
        solution=LEASES,
        right=[LEASES_UNTIL],
        wrong=[
            LEASES_STUB,
            LEASES.replace("if now - since < self.lasts else None", ""),
            LEASES.replace("if self.holder(id, now) != who:", "if id not in self.held:"),
            LEASES.replace("now - since < self.lasts", "now - since <= self.lasts"),
        ],
    ),
]

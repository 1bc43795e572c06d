"""What lesson 11 has its reader write: the claim, what comes of a refusal, and who is dead."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.s11.shown import MEETS
from learnkit.course.lessons.verdicts import in_a_folder, in_processes, with_settings
from learnkit.errors import UsageError

REPAIRS = Repairs()

#: A process that claims task 1 once both are there (one may take long to start), and prints what
#: came of it. The alarm ends what waits for ever.
_CLAIM = (
    f"{MEETS}claiming = lambda: True"
    """
import signal, sys
pathlib.Path(f"{sys.argv[1]}.there").touch()
while len([*pathlib.Path().glob("*.there")]) < 2:
    time.sleep(0.002)
signal.alarm(20)
try:
    task = agent.claim(1, sys.argv[1])
    print("claimed" if task and task["owner"] == sys.argv[1] else "nothing")
except ValueError:
    print("refused")
"""
)
_IN_TURN = """
import pathlib, signal
signal.alarm(20)
pathlib.Path("turn").touch()
for id in (1, 2):
    try:
        agent.claim(id, "bob")
        print("claimed")
    except ValueError:
        print("refused")
print(agent.claim(3, "bob")["pid"] == __import__("os").getpid())
"""


@REPAIRS.add("Two processes, one task: one got it, the other one an error.")
def check_claim(agent: Any) -> Verdict:
    """Let two processes claim one task; between deciding and writing, each waits a while."""
    with in_processes(agent) as terminal:
        _create(agent, 3)
        agent.task_update(SimpleNamespace(name="lead"), 2, addBlockedBy=[1])
        meeting = terminal.folder / "meeting"
        meeting.mkdir()
        meet: dict[str, Any] = {"hold": "save_task", "meet": (meeting, 2), "program": _CLAIM}
        both = [terminal.start(name, **meet) for name in ("alice", "bob")]
        for process in both:
            if code := process.wait():
                fate = "waits for ever" if code < 0 else f"fails: {process.last}"
                return f"of two processes that claim a task, one {fate}"
        ends = sorted(process.out.split()[-1] for process in both)
        if ends == ["claimed", "claimed"]:
            return (
                "two processes claimed one task, and both got it: each had read the board "
                "before the other one wrote. Reading, deciding and writing must be one step"
            )
        if ends != ["claimed", "refused"]:
            return (
                f"two processes claimed a free task: {' and '.join(ends)}. One should get it, and "
                "the other one the ValueError, as before"
            )
        with agent.locked(".tasks"):
            turn, end = terminal.start("", program=_IN_TURN), time.monotonic() + 10
            while not (terminal.folder / "turn").exists() and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0.3)  # it waits for the lock, or has claimed by now
            if agent.load_tasks()[3]["owner"]:
                return (
                    "while task_update held the lock of .tasks, a task was claimed. Both change "
                    "tasks, so they need the same lock"
                )
        if turn.wait():
            return f"claiming one task after the other fails: {turn.last}"
        if turn.out.split() != ["refused", "refused", "True"]:
            return (
                "a task that has an owner, or is blocked, was claimed, or its file lacks the "
                "process: all that the function did before is still needed"
            )
    return None


class _Slept(Exception):
    """A teammate went to sleep."""


@REPAIRS.add("Refused at task 1, Alice took task 2 at once.")
def check_find_task(agent: Any) -> Verdict:
    """Let another teammate be faster, and see what the one who is refused does next."""
    refused = list[int]()

    def contested(id: int, owner: str) -> Any:
        task = agent.load_tasks()[id]
        if not refused:  # Bob is faster
            refused.append(id)
            agent.save_task({**task, "status": "in_progress", "owner": "bob", "pid": 1})
        if agent.load_tasks()[id]["owner"]:
            raise ValueError(f"task #{id} is in_progress, owner bob, blocked by []")
        agent.save_task({**task, "status": "in_progress", "owner": owner, "pid": os.getpid()})
        return agent.load_tasks()[id]

    def sleep(_: float) -> None:
        raise _Slept

    clock = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
    with in_a_folder(agent):
        _create(agent, 2)
        alice = agent.Agent("alice", groups=("read", "write", "teammate"))
        alice.role, alice.status = "coder", "idle"
        team = {**agent.MATES, "bob": SimpleNamespace(status="working")}
        try:
            with with_settings(agent, claim=contested, time=clock):
                work = agent.next_work(alice)
            with with_settings(agent, claim=contested, time=clock, MATES=team):
                agent.save_task({**agent.load_tasks()[2], "status": "completed"})
                later = agent.find_task(alice)
        except ValueError as error:
            why = f"the refusal ended Alice: {error}. Task 2 was ready"
            return f"Bob was faster with task 1, and {why}"
        except _Slept:
            state = "hers by then" if agent.load_tasks()[2]["owner"] else "ready"
            return f"Bob was faster with task 1, and Alice went back to sleep. Task 2 was {state}"
    if "#2" not in str(work):
        return f"Bob was faster with task 1, and task 2 was ready; Alice's next work was {work!r}"
    if later is not None:
        return f"with nothing ready, `find_task` returned {later!r} instead of None"
    return None


@REPAIRS.add("The dead are dead, and the living are left alone.")
def check_is_alive(agent: Any) -> Verdict:
    """Ask about a living and a dead process."""

    def of_another_user(pid: int, number: int) -> None:
        os.kill(pid, number)
        raise PermissionError(1, "Operation not permitted")

    theirs = SimpleNamespace(**{**vars(os), "kill": of_another_user})
    with in_processes(agent) as terminal:
        living = terminal.start("", program="import time; time.sleep(60)")
        dead = terminal.start("", program="pass")
        dead.wait()
        for pid, right, what, system in (
            (dead.pid, False, "a process that has ended", os),
            (living.pid, True, "a process that is alive", os),
            (living.pid, True, "a living process of another user", theirs),
        ):
            with with_settings(agent, os=system):
                alive = agent.is_alive(pid)
            if bool(alive) != right:
                return f"asked about {what}, it returned {alive!r}; it should return {right}"
        with suppress(UsageError):
            living.wait(0.3)
            return "a living process was asked, and it is dead now: only signal 0 asks"
    return None


def _create(agent: Any, many: int) -> None:
    for number in range(1, many + 1):
        agent.task_create(None, f"warn station {number}")

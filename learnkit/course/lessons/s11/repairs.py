"""What lesson 11 has its reader write: the claim, what comes of a refusal, and who is dead."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import learnkit as lk
from learnkit.course.agent_file.process import Terminal
from learnkit.course.content import Repair, Verdict
from learnkit.errors import UsageError

#: A process that claims task 1 once both are there (one may take long to start), and prints what
#: came of it. The alarm ends what waits for ever.
_CLAIM = """
import pathlib, signal, sys, time
pathlib.Path(f"{sys.argv[1]}.there").touch()
while len([*pathlib.Path().glob("*.there")]) < 2:
    time.sleep(0.002)
signal.alarm(10)
try:
    task = agent.claim(1, sys.argv[1])
    print("claimed" if task and task["owner"] == sys.argv[1] else "nothing")
except ValueError:
    print("refused")
"""
_IN_TURN = """
import signal
signal.alarm(10)
agent.claim(1, "alice")
for id in (1, 2):
    try:
        agent.claim(id, "bob")
        print("claimed")
    except ValueError:
        print("refused")
print(agent.claim(3, "bob")["pid"] == __import__("os").getpid())
"""


def check_claim(agent: Any) -> Verdict:
    """Let two processes claim one task; between deciding and writing, each waits a while."""
    with _terminal(agent) as (terminal, folder):
        with _at(agent, folder):
            _create(agent, 3)
            agent.task_update(SimpleNamespace(name="lead"), 2, addBlockedBy=[1])
        meeting = Path(folder, "meeting")
        meeting.mkdir()
        meet: dict[str, Any] = {"hold": "save_task", "meet": (meeting, 2), "program": _CLAIM}
        both = [terminal.start(name, **meet) for name in ("alice", "bob")]
        for process in both:
            if process.wait():
                if process.code and process.code < 0:
                    return "of two processes that claim a task, one waits for ever"
                return f"of two processes that claim a task, one fails: {process.last}"
        ends = sorted(process.out.strip() for process in both)
        if ends == ["claimed", "claimed"]:
            return (
                "two processes claimed one task, and both got it: each had read the board "
                "before the other one wrote. Reading, deciding and writing must be one step"
            )
        if "claimed" not in ends:
            return f"two processes claimed a free task, and neither got it: {', '.join(ends)}"
        if ends != ["claimed", "refused"]:
            return (
                "one process got the task, and the other one neither the task nor an error. "
                "It should get the ValueError, as before"
            )
        winner = "alice" if both[0].out.strip() == "claimed" else "bob"
        with _at(agent, folder):
            owner = agent.load_tasks()[1]["owner"]
        if owner != winner:
            return f"{winner} got the task, and its file says that it is {owner}'s"
        with _at(agent, folder):
            agent.save_task({**agent.load_tasks()[1], "status": "pending", "owner": None})
        turn = terminal.start("", program=_IN_TURN)
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


def check_find_task(agent: Any) -> Verdict:
    """Let another teammate be faster, and see what the one who is refused does next."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as name, _at(agent, Path(name)):
        _create(agent, 2)
        alice = agent.Agent("alice", groups=("read", "write", "teammate"))
        alice.role, alice.status = "coder", "idle"
        claim, clock, refused = agent.claim, agent.time, list[int]()

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

        agent.claim = contested
        agent.time = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
        try:
            work = agent.next_work(alice)
            agent.MATES["bob"] = SimpleNamespace(status="working")
            agent.save_task({**agent.load_tasks()[2], "status": "completed"})
            later = agent.find_task(alice)
        except ValueError as error:
            why = f"Bob was faster with task 1, and the refusal ended Alice: {error}"
            return f"{why}. Task 2 was ready"
        except _Slept:
            return "Bob was faster with task 1, and Alice went back to sleep. Task 2 was ready"
        finally:
            agent.claim, agent.time = claim, clock
            agent.MATES.pop("bob", None)
        if not work or "#2" not in str(work):
            return (
                f"Bob was faster with task 1, and task 2 was ready; Alice's next work was {work!r}"
            )
        if later is not None:
            return f"with nothing ready, `find_task` returned {later!r} instead of None"
    return None


def check_is_alive(agent: Any) -> Verdict:
    """Ask about a living and a dead process."""
    with _terminal(agent) as (terminal, _):
        living = terminal.start("", program="import time; time.sleep(60)")
        dead = terminal.start("", program="pass")
        dead.wait()
        for pid, right, what in (
            (dead.pid, False, "a process that has ended"),
            (living.pid, True, "a process that is alive"),
        ):
            try:
                alive = agent.is_alive(pid)
            except OSError as error:
                return f"asked about {what}, it raised {error!r}"
            if bool(alive) != right:
                return f"asked about {what}, it returned {alive!r}; it should return {right}"
        with suppress(UsageError):
            living.wait(0.3)
            return "a living process was asked, and it is dead now: only signal 0 asks"
    return None


@contextmanager
def _terminal(agent: Any) -> Iterator[tuple[Terminal, Path]]:
    with tempfile.TemporaryDirectory(prefix="learnkit-") as name:
        folder = Path(name)
        with Terminal(str(agent.__source__), lambda _: lk.say("."), folder) as terminal:
            yield terminal, folder


@contextmanager
def _at(agent: Any, folder: Path) -> Iterator[None]:
    """Let the module work in a folder."""
    before, agent.ROOT = agent.ROOT, folder
    try:
        yield
    finally:
        agent.ROOT = before


def _create(agent: Any, many: int) -> None:
    for number in range(1, many + 1):
        agent.task_create(None, f"warn station {number}")


REPAIRS = {
    "claim": Repair(check_claim, "Two processes, one task: one got it, the other one an error."),
    "find_task": Repair(check_find_task, "Refused at task 1, Alice took task 2 at once."),
    "is_alive": Repair(check_is_alive, "The dead are dead, and the living are left alone."),
}

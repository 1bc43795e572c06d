"""What lesson 7 has its reader write into ``agent.py``: ready, a save that is whole, a lock."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.agent_file.process import Process
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.s07.exercises import tasks_of
from learnkit.course.lessons.verdicts import in_processes
from learnkit.errors import UsageError

REPAIRS = Repairs()

_DIAMOND = "1 pending 2,3; 2 pending 4; 3 {} 4; 4 {}"
BOARDS: tuple[tuple[str, str, list[int], str], ...] = (
    ("on a diamond of four", _DIAMOND.format("pending", "pending"), [4], "the others wait"),
    ("with #4 completed", _DIAMOND.format("pending", "completed"), [2, 3], "#1 has to wait"),
    ("with #4 and #3 completed", _DIAMOND.format("completed", "completed"), [2], "#1 waits"),
    ("with alice's task, and a free one", "1 pending - alice; 2 pending", [2], "#1 is hers"),
    ("with a blocker that has failed", "1 failed; 2 pending 1", [], "#2 builds on it"),
    ("with a blocker that is in progress", "1 in_progress; 2 pending 1", [], "it isn't completed"),
)


@REPAIRS.add("Only what waits for nothing and nobody owns is ready.")
def check_ready(agent: Any) -> Verdict:
    """Ask which tasks of some boards are ready."""
    for where, board, wanted, because in BOARDS:
        listed = agent.ready({task["id"]: task for task in tasks_of(*board.split("; "))})
        ids = [task["id"] for task in listed]
        if ids != wanted:
            named = ", ".join(f"#{id}" for id in wanted) or "none"
            return f"{where}, your `ready` lists {ids}. It should list {named}: {because}"
    return None


def _one_task(request: dict[str, Any]) -> lk.Reply:
    return lk.say(".") if len(request["messages"]) > 1 else lk.use("task_create", subject="check")


_BEFORE, _AFTER = ({"id": 1, "subject": "parse", "status": s} for s in ("pending", "completed"))
#: The alarm ends what waits, or loops: whatever a process is busy with, its own time is short.
#: Printed at the end: the steps, and how many files were moved from one folder to another.
_SAVE = f"""
import os, signal, sys
def moved(event, details):
    if event == "os.rename":
        here, there = (os.path.dirname(os.path.realpath(path)) for path in details[:2])
        moves.append(here != there)
moves = []
sys.addaudithook(moved)
signal.alarm(10)
agent.save(agent.ROOT / sys.argv[1] / "task_1.json", {_AFTER!r})
signal.alarm(0)
print("\\n", globals().get("steps"), sum(moves))
"""
#: The limit begins where the task's own file is opened to be written, and not a file beside it.
_LATE = """
import os, resource, signal, sys
def watch(event, details):
    if event == "open" and str(details[0]).endswith("/task_1.json"):
        if details[2] & (os.O_WRONLY | os.O_RDWR):
            resource.setrlimit(resource.RLIMIT_FSIZE, (30, 30))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.addaudithook(watch)
"""
#: Before one of the steps that change a folder, in their order, the process dies; before 0, none.
_STEPS = """
import os, signal, sys
def watch(event, details):
    global steps
    if event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR) or event in {
        "os.rename", "os.remove", "os.link", "os.symlink", "os.truncate",
    }:
        steps += 1
        if steps == %d:
            os.kill(os.getpid(), signal.SIGKILL)
steps = 0
sys.addaudithook(watch)
"""
#: Kills between two steps, at most.
MOST = 12


@REPAIRS.add("Killed at byte 30, and between any two steps: the file is whole each time.")
def check_save(agent: Any) -> Verdict:
    """Let processes save a task: one that lives, and some that are killed while they do."""
    with in_processes(agent) as run:

        def start(name: str, limit: str) -> Process:
            path = run.folder / name / "task_1.json"
            path.parent.mkdir()
            path.write_text(json.dumps(_BEFORE))
            return run.start(name, program=limit + _SAVE)

        lives = start("lives", _STEPS % 0)
        if lives.wait():
            what = "never ends" if lives.code == -signal.SIGALRM else f"fails: {lives.last}"
            return f"saving a task {what}"
        if _read(run.folder / "lives" / "task_1.json") != _AFTER:
            return "after a save that nobody killed, task_1.json is not the new task"
        steps, elsewhere = map(int, lives.out.split()[-2:])
        if elsewhere:
            return (
                "the other file is in another folder, which may be on another disk: there, a "
                "rename is no single step. Write it beside the task"
            )
        killed = {"at byte 30": start("at byte 30", _LATE)}
        for step in range(2, min(steps, MOST) + 1):
            when = f"before step {step} of {steps}"
            killed[when] = start(when, _STEPS % step)
        for when, process in killed.items():
            process.wait()
            if why := _left(run.folder / when / "task_1.json"):
                return f"killed {when}, {why}"
    return None


def _left(path: Path) -> Verdict:
    """What is wrong with what a killed process has left."""
    if not path.exists():
        return (
            f"{path.name} is gone: for a moment there was neither the old file nor the new one. "
            "Remove nothing, and let the new file take the old one's place in one step"
        )
    if _read(path) not in (_BEFORE, _AFTER):
        return (
            f"{path.name} is torn: {path.read_text()[-34:]!r}. Write the text into another file "
            "first, and let that one take its place in one step"
        )
    if more := [one.name for one in path.parent.glob("task_*.json") if one != path]:
        return (
            f"{more[0]} is left, and the board reads every task_*.json as a task. Give the file "
            "beside it another kind of name"
        )
    return None


def _read(path: Path) -> Any:
    """The content of a file; None if it is not there, or torn."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


#: Two threads that are inside together meet; else one waits half a second for the other.
_INSIDE = """
import contextlib, signal, threading
def late(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, late)
signal.alarm(10)
try:
    with agent.locked(".tasks"):
        raise ValueError
except ValueError:
    pass
with agent.locked(".tasks") as folder:
    print(folder == agent.ROOT / ".tasks")
def enter():
    with agent.locked(".tasks"), contextlib.suppress(threading.BrokenBarrierError):
        both.wait(0.5)
        print("together")
both = threading.Barrier(2)
threading.Thread(target=enter).start()
enter()
signal.alarm(0)
"""


@REPAIRS.add("Two processes, two tasks. The second one waited until the first had written.")
def check_locked(agent: Any) -> Verdict:
    """Let two processes create a task each; between deciding and writing, each waits a while."""
    with in_processes(agent, _one_task) as run:
        inside = run.start("", program=_INSIDE)
        inside.wait()
        if inside.last == "TimeoutError":
            return (
                "`locked` waits for ever, at once or after an error inside its block: who gives "
                "the lock back? (`finally` does, and so does closing the file)"
            )
        if inside.code:
            return f"`with locked(…)` fails: {inside.last}"
        if not inside.out.startswith("True\n"):
            return "`locked` should yield the folder, as it did before"
        try:
            run.race("Go", "Go", hold="save_task", seconds=20)
        except UsageError as error:
            return f"of two processes that create a task each, one is stuck or fails: {error}"
        left = len(list(run.folder.glob(".tasks/task_*.json")))
        if left != 2 and "BlockingIOError" in str(run.requests):
            return (
                "of two processes that create a task each, the second got a BlockingIOError: it "
                "should wait for the lock (without LOCK_NB)"
            )
        if left != 2:
            return (
                f"two processes created a task each, and the board has {left}: both had read the "
                "board before either wrote. From before `yield` to after it, one process has to "
                "keep the other one out"
            )
        if "together" in inside.out:
            return "two threads of one process were inside together: `lockf` lets them, `flock` not"
    return None

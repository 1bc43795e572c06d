"""What lesson 7 has its reader write into ``agent.py``: ready, a save that is whole, a lock."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.agent_file.process import Process, Terminal
from learnkit.course.content import Repair, Verdict
from learnkit.course.lessons.s07.exercises import tasks_of
from learnkit.errors import UsageError

_DONE, _OPEN = "completed", "pending"


_DIAMOND = "1 pending 2,3; 2 pending 4; 3 {} 4; 4 {}"
BOARDS: tuple[tuple[str, str, list[int], str], ...] = (
    ("on the diamond, with nothing done", _DIAMOND.format(_OPEN, _OPEN), [4], "the others wait"),
    ("with #4 of the diamond completed", _DIAMOND.format(_OPEN, _DONE), [2, 3], "#1 has to wait"),
    ("with #4 and #3 completed", _DIAMOND.format(_DONE, _DONE), [2], "#1 waits for both"),
    ("with alice's task, and a free one", "1 pending - alice; 2 pending", [2], "#1 is hers"),
    ("with a blocker that has failed", "1 failed; 2 pending 1", [], "#2 builds on it"),
    ("with a blocker that is in progress", "1 in_progress; 2 pending 1", [], "it isn't completed"),
)


def check_ready(agent: Any) -> Verdict:
    """Ask which tasks of some boards are ready."""
    for where, board, wanted, because in BOARDS:
        listed = agent.ready({task["id"]: task for task in tasks_of(*board.split("; "))})
        try:
            ids = [task["id"] for task in listed]
        except TypeError:
            return f"{where}, `ready` returned {listed!r}: it should return tasks, as it did before"
        if ids != wanted:
            named = ", ".join(f"#{id}" for id in wanted) or "none"
            return f"{where}, your `ready` lists {ids}. It should list {named}: {because}"
    return None


@contextmanager
def _terminal(agent: Any, folder: str, needs: str) -> Iterator[Terminal]:
    getattr(agent, needs)  # if it isn't there, this says so better than a process
    with Terminal(str(agent.__source__), _one_task, Path(folder)) as terminal:
        yield terminal


def _one_task(request: dict[str, Any]) -> lk.Reply:
    if len(request["messages"]) > 1:
        return lk.say("Noted.")
    return lk.use("task_create", subject="check the archive")


_BEFORE, _AFTER = ({"id": 1, "subject": "parse", "status": one} for one in (_OPEN, _DONE))
#: The alarm ends what waits, or loops: whatever a process is busy with, its own time is short.
_SAVE = f"""
import signal
signal.alarm(10)
agent.save(agent.ROOT / sys.argv[1] / "task_1.json", {_AFTER!r})
signal.alarm(0)
print("\\n", globals().get("steps"))
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
#: Before each step that changes a folder, in their order, the process dies or does something else.
_STEPS = """
import os, signal, sys
def watch(event, details):
    global steps
    if event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR) or event in {
        "os.rename", "os.remove", "os.link", "os.symlink", "os.truncate",
    }:
        steps += 1
        if steps == %d:
            %s
steps = 0
sys.addaudithook(watch)
"""
_DIE = "os.kill(os.getpid(), signal.SIGKILL)"
#: Another process saves a task of another project while this one is about to make its last step.
_OTHER = """os.fork() or (
                agent.save(agent.ROOT / "other" / "task_1.json", {}),
                os._exit(0),
            )
            os.wait()"""
#: Kills between two steps, at most.
MOST = 12
KILLS: dict[str, tuple[str, int | None]] = {
    "at byte 0": ("import sys", 0),
    "at byte 30": ("import sys", 30),
    "in the middle of the write": (_LATE, None),
}


def check_save(agent: Any) -> Verdict:
    """Let processes save a task: one that lives, and some that are killed while they do."""
    with (
        tempfile.TemporaryDirectory(prefix="learnkit-") as folder,
        _terminal(agent, folder, "save") as run,
    ):

        def start(name: str, limit: str, dies_at: int | None = None) -> Process:
            path = Path(folder, name, "task_1.json")
            path.parent.mkdir()
            path.write_text(json.dumps(_BEFORE))
            return run.start(name, program=limit + _SAVE, dies_at=dies_at)

        lives = start("lives", _STEPS % (0, "pass"))
        if lives.wait():
            what = "never ends" if lives.code == -signal.SIGALRM else f"fails: {lives.last}"
            return f"saving a task {what}"
        path = Path(folder, "lives", "task_1.json")
        if (saved := _read(path)) not in (_BEFORE, _AFTER):
            return "after a save that nobody killed, task_1.json is no whole task"
        if saved != _AFTER:
            beside = [one.name for one in path.parent.iterdir() if one != path]
            found = f" The new text is in {beside[0]}: it never takes its place." if beside else ""
            return f"after a save that nobody killed, task_1.json still says what it said.{found}"
        steps = int(lives.out.split()[-1])
        kills = dict(KILLS)
        for step in range(2, min(steps, MOST) + 1):
            kills[f"before step {step} of {steps}"] = _STEPS % (step, _DIE), None
        killed = [start(when, *kill) for when, kill in kills.items()]
        Path(folder, "other").mkdir()
        meets = start("meets", _STEPS % (steps, _OTHER))
        for process in (*killed, meets):
            process.wait()
        for when in kills:
            if why := _left(Path(folder, when, "task_1.json")):
                return f"killed {when}, {why}"
        if meets.code or _read(Path(folder, "meets", "task_1.json")) != _AFTER:
            return (
                "two processes save a task each, in the folders of two projects, and one takes the "
                f"other's text: {meets.last}. Write the new text into the folder of its task"
            )
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


_ERROR_INSIDE = """
import signal
def late(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, late)
signal.alarm(10)
try:
    with agent.locked(".tasks"):
        raise ValueError
except ValueError:
    pass
signal.alarm(10)
with agent.locked(".tasks") as folder:
    print(folder == agent.ROOT / ".tasks")
signal.alarm(0)
"""


def check_locked(agent: Any) -> Verdict:
    """Let two processes create a task each; between deciding and writing, each waits a while."""
    with (
        tempfile.TemporaryDirectory(prefix="learnkit-") as folder,
        _terminal(agent, folder, "locked") as run,
    ):
        inside = run.start("", program=_ERROR_INSIDE)
        inside.wait()
        if inside.code and inside.last == "TimeoutError":
            return (
                "after an error inside its block, `locked` waits for ever: who gives the lock "
                "back? (`finally` does, and so does closing the file)"
            )
        if inside.code:
            return f"`with locked(…)` fails: {inside.last}"
        if inside.out != "True\n":
            return "`locked` should yield the folder, as it did before"
        try:
            run.race("Go", "Go", hold="save_task", seconds=20)
        except UsageError as error:
            return f"of two processes that create a task each, one is stuck or fails: {error}"
        left = len(list(Path(folder).glob(".tasks/task_*.json")))
        if left != 2:
            return (
                f"two processes created a task each, and the board has {left}: both had read the "
                "board before either wrote. The lock has to be held from before `yield` to after it"
            )
    return None


REPAIRS = {
    "ready": Repair(check_ready, "Only what waits for nothing and nobody owns is ready."),
    "save": Repair(
        check_save,
        "Killed at bytes 0 and 30, and between any two steps: the file is whole each time.",
    ),
    "locked": Repair(
        check_locked, "Two processes, two tasks. The second one waited until the first had written."
    ),
}

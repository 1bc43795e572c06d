"""The blank page's check: a learner's own harness, as processes, climbs four rungs."""

from __future__ import annotations

import re
import tempfile
import threading
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.agent_file.process import Process, Terminal
from learnkit.course.content import Verdict
from learnkit.errors import UsageError

#: Seconds that one process may take.
PATIENCE = 10.0
_WORK, _ADD, _TOLD = (
    "Work until nothing is left.",
    "Put three tasks on the board.",
    "The limit is 30.",
)
_TASKS = [f"write {n}.txt" for n in (1, 2, 3)]


class _Rungs:
    """What answers, and what it was asked."""

    terminal: Terminal

    def __init__(self, program: Path) -> None:
        self.program, self.rung = program, 0
        self.given = dict[str, list[str]]()  # agent's prompt -> the tasks that it was given
        self.first = ""  # what the last process was told at first
        self.holds, self.held, self.go = "", threading.Event(), threading.Event()

    def model(self, request: dict[str, Any]) -> Any:
        messages, last = request["messages"], str(request["messages"][-1]["content"])
        tools = [one["name"] for one in request.get("tools", ())]
        if missing := [one for one in ("bash", "send", "add", "claim", "done") if one not in tools]:
            return lk.say(f"The request offers no tool {missing[0]}.")
        turn, prompt = len(messages) // 2, str(messages[0]["content"])
        if turn == 0:
            self.first = prompt
        if "secret.txt" in prompt:
            return lk.say(last) if turn else lk.use("bash", command="cat secret.txt")
        if told := re.search(r"Tell (\w+)", prompt):
            return lk.say("Told.") if turn else lk.use("send", to=told[1], text=_TOLD)
        if _ADD in prompt:
            return lk.use("add", task=_TASKS[turn]) if turn < len(_TASKS) else lk.say("Added.")
        return self._worker(prompt, last, turn) if _WORK in prompt else lk.say("I have read it.")

    def _worker(self, prompt: str, last: str, turn: int) -> Any:
        who = "bob" if "bob" in prompt else "alice"
        if turn % 3 == 0:
            return lk.use("claim")
        if turn % 3 == 2:
            return lk.use("done")
        if not (task := re.search(r"write (\d)\.txt", last)):
            return lk.say("Nothing is left.")
        self.given.setdefault(who, []).append(task[1])
        if who == self.holds and len(self.given[who]) == 2:
            self.held.set()  # it has claimed, and waits: now it can be killed
            self.go.wait(PATIENCE)
        return lk.use("bash", command=f"echo {who} >> {task[1]}.txt")

    def start(self, name: str, prompt: str) -> Process:
        argv = ["mine.py", name, prompt]
        program = f"import runpy, sys; sys.argv = {argv!r}; "
        program += f"runpy.run_path({str(self.program)!r}, run_name='__main__')"
        return self.terminal.start("", program=program)

    def run(self, name: str, prompt: str) -> str:
        process = self.start(name, prompt)
        try:
            failed = process.wait(PATIENCE)
        except UsageError:
            late = f"{name} was told “{prompt}”, and had not ended after {PATIENCE:g} s"
            raise _Fell(late) from None
        if failed:
            raise _Fell(f"{name} has failed: {process.last}")
        return process.out

    def climb(self) -> None:
        (self.terminal.folder / "secret.txt").write_text("swordfish\n")
        if "swordfish" not in (out := self.run("bob", "What is in secret.txt?")):
            raise _Fell(f"bob should print what the model said last; he printed {out[:80]!r}")
        self.rung = 1
        self.run("alice", "Tell bob the limit.")
        for reader, prompt, times in (
            ("bob", "Tell alice the limit.", 1),
            ("bob", "What is new?", 0),
            ("alice", "What is new?", 1),
        ):
            self.run(reader, prompt)
            if (found := self.first.count(_TOLD)) != times:
                which = "once" if times else "no more, since it was read before"
                raise _Fell(
                    f"{reader} should read the message {which}; "
                    f"the first request held it {found} time(s)"
                )
        self.rung = 2
        self.run("alice", _ADD)
        self.holds = "bob"
        bob = self.start("bob", f"bob: {_WORK}")
        if not self.held.wait(PATIENCE):
            got = self.given.get("bob", [])
            raise _Fell(f"bob should do one task after the other; of three he was given {got}")
        try:
            self.run("alice", f"alice: {_WORK}")
        finally:
            bob.kill()
            bob.wait()
            self.go.set()
        done, dead = self.given["bob"]
        if dead in (got := self.given.get("alice", [])):
            raise _Fell(f"bob was at work on task {dead}, and alice was given it as well")
        if done in got or not got:
            raise _Fell(
                f"bob had done task {done} and claimed task {dead}; alice was given {got or 'none'}"
            )
        self.rung = 3
        self.run("alice", f"alice: {_WORK}")
        if dead not in self.given["alice"]:
            raise _Fell(f"bob was killed with task {dead} claimed; nobody has taken it up")
        for number in (1, 2, 3):
            path = self.terminal.folder / f"{number}.txt"
            by = path.read_text().split() if path.exists() else []
            if len(by) != 1:
                who = " and ".join(by) or "nobody"
                raise _Fell(f"each task should be done once; task {number} was done by {who}")


class _Fell(Exception):
    """What happened on the way to the next rung."""


class _Climb:
    """The check; ``seconds`` is what it may take, since it starts nine processes."""

    seconds = 180.0

    def __call__(self, mine: Any) -> Verdict:
        return _climb(mine)


check_mine = _Climb()


def _climb(mine: Any) -> Verdict:
    """Run a learner's program up the four rungs, and say where it fell."""
    found = str(mine())
    program = found if "\n" in found else ""
    if not program and not Path(found).is_file():
        return f"there is no {found} in this folder yet"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "project")
        folder.mkdir()
        path = Path(name, "mine.py") if program else Path(found).resolve()
        if program:
            path.write_text(program)
        rungs = _Rungs(path)
        with Terminal("", rungs.model, folder) as rungs.terminal:
            try:
                rungs.climb()
            except _Fell as error:
                said = str(error)
                return f"rung {rungs.rung} of 4 is reached. {said[:1].upper()}{said[1:]}"
    return None

"""The blank page's check: a learner's own harness, as processes, climbs four rungs."""

from __future__ import annotations

import re
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.agent_file.process import Process, Terminal
from learnkit.course.content import Verdict
from learnkit.errors import UsageError

#: Seconds that one process may take.
PATIENCE = 20.0
_ADD, _WORK, _TOLD = "Add three tasks.", "Work until nothing is left.", "The limit is 30."
#: A file takes long to open, so of two who claim at once and without a lock, both read first.
_SLOWLY = """
import os, sys, time
def waits(event, given, here=os.getcwd()):
    if event == "open" and not isinstance(given[0], int):
        if os.path.abspath(os.fsdecode(given[0])).startswith(here):
            time.sleep(0.05)
sys.addaudithook(waits)
"""


class _Rungs:
    """What answers, and what it was asked."""

    terminal: Terminal

    def __init__(self) -> None:
        self.rung = 0
        self.given: dict[str, list[str]] = {"alice": [], "bob": []}  # the tasks that each was given
        self.first = ""  # what the last process was told at first
        self.lacks = ""  # a tool that it needs, and that its request doesn't offer
        self.held, self.go = threading.Event(), threading.Event()
        self.both: threading.Barrier | None = None  # who claim first, at the same moment

    def model(self, request: dict[str, Any]) -> Any:
        tools = [tool["name"] for tool in request.get("tools", ())]
        messages = request["messages"]
        replies = [at for at, one in enumerate(messages) if one["role"] == "assistant"]
        # Mail may be a message of its own, before the prompt or after it, or a part of `system`.
        asked = str([request.get("system"), messages[: replies[0] if replies else None]])
        last = str(messages[replies[-1] + 1 :]) if replies else asked
        name, arguments = self._call(asked, last, len(replies))
        if name in ("", *tools):
            return lk.use(name, **arguments) if name else lk.say(last)
        self.lacks = name
        return lk.say(f"I need a tool {name}.")

    def _call(self, asked: str, last: str, turn: int) -> tuple[str, dict[str, str]]:
        """What it calls next; without a name it says what it has read last."""
        if turn == 0:
            self.first = asked
        if _WORK in asked and (turn % 3 != 1 or "write" in last):
            if self.both and turn == 0:
                with suppress(threading.BrokenBarrierError):
                    self.both.wait(PATIENCE)
            return self._work("bob" if f"bob: {_WORK}" in asked else "alice", last, turn % 3)
        if "secret.txt" in asked and not turn:
            return "bash", {"command": "cat secret.txt"}
        if (told := re.search(r"Tell (\w+) the limit", asked)) and not turn:
            return "send", {"to": told[1], "text": _TOLD}
        if _ADD in asked and turn < 3:
            return "add", {"task": f"write {turn + (4 if self.both else 1)}.txt"}
        return "", {}

    def _work(self, who: str, last: str, step: int) -> tuple[str, dict[str, str]]:
        if step != 1:
            return ("done" if step else "claim"), {}
        self.given[who] += (task := re.findall(r"write (\d)", last)[:1])
        if who == "bob" and len(self.given[who]) == 2:
            self.held.set()  # it has claimed, and waits: now it can be killed
            self.go.wait(PATIENCE)
        return "bash", {"command": f"echo {who} >> {task[0]}.txt"}

    def start(self, name: str, prompt: str) -> Process:
        program = f"import runpy, sys; sys.argv = {['mine.py', name, prompt]!r}; "
        program = f"{_SLOWLY if self.both else ''}{program}"
        return self.terminal.start(
            "", program=f"{program}runpy.run_path('../mine.py', {{}}, '__main__')"
        )

    def run(self, name: str, prompt: str) -> str:
        return self._ended(self.start(name, prompt), name, prompt)

    def _ended(self, process: Process, name: str, prompt: str) -> str:
        _fell(process.wait(PATIENCE), f"{name} has failed: {process.last}")
        _fell(self.lacks, f"{name} was told “{prompt}”, and has no tool {self.lacks}")
        return process.out

    def answers(self) -> None:
        (self.terminal.folder / "secret.txt").write_text("swordfish\n")
        out = self.run("bob", "What is in secret.txt?")
        said = f"bob should print what the model said last; he printed {out[:80]!r}"
        _fell("swordfish" not in out, said)

    def exchange(self) -> None:
        self.run("alice", "Tell bob the limit.")
        for reader, prompt, times in (
            ("bob", "Tell alice the limit.", 1),
            ("bob", "What is new?", 0),
            ("alice", "What is new?", 1),
        ):
            self.run(reader, prompt)
            held, which = self.first.count(_TOLD), "once" if times else "no more: he has read it"
            said = f"{reader} should read the message {which}; the first request held it {held}"
            _fell(held != times, f"{said} time(s)")

    def is_killed(self) -> None:
        self.run("alice", _ADD)
        bob = self.start("bob", f"bob: {_WORK}")
        try:
            held = self.held.wait(PATIENCE)
            _fell(self.lacks, f"bob was told “{_WORK}”, and has no tool {self.lacks}")
            said = (
                f"bob should do one task after the other; of three he was given {self.given['bob']}"
            )
            _fell(not held, said)
            self.run("alice", f"alice: {_WORK}")
        finally:
            bob.kill()
            bob.wait()
            self.go.set()
        (done, dead), got = self.given["bob"], self.given["alice"]
        _fell(dead in got, f"bob was at work on task {dead}, and alice was given it as well")
        said = f"bob had done task {done} and claimed task {dead}; alice was given {got or 'none'}"
        _fell(done in got or not got, said)

    def loses_nothing(self) -> None:
        self.run("alice", f"alice: {_WORK}")
        dead = self.given["bob"][1]
        said = f"bob was killed with task {dead} claimed; nobody has taken it up"
        _fell(dead not in self.given["alice"], said)
        self._each_once(1, 2, 3)
        self.both = threading.Barrier(2)
        self.run("alice", _ADD)
        prompts = {name: f"{name}: {_WORK}" for name in ("alice", "bob")}
        started = {name: self.start(name, prompt) for name, prompt in prompts.items()}
        for name, process in started.items():
            self._ended(process, name, prompts[name])
        twice = {*self.given["alice"]} & {*self.given["bob"]} & {"4", "5", "6"}
        said = "alice and bob claimed at the same moment, and both were given the same task"
        _fell(twice, f"{said}: to read, decide and write must be one step")
        self._each_once(4, 5, 6)

    def _each_once(self, *numbers: int) -> None:
        for number in numbers:
            path = self.terminal.folder / f"{number}.txt"
            by = path.read_text().split() if path.exists() else []
            who = " and ".join(by) or "nobody"
            _fell(len(by) != 1, f"each task should be done once; task {number} was done by {who}")


def _fell(wrong: object, why: str) -> None:
    if wrong:
        raise UsageError(why)


def check_mine(mine: Any) -> Verdict:
    """Run a learner's program up the four rungs, and say where it fell."""
    program = str(mine())
    if "\n" not in program and program.endswith(".py"):
        if not Path(program).is_file():
            return f"there is no {program} in this folder yet"
        program = Path(program).read_text("utf-8")
    rungs = _Rungs()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "project")
        folder.mkdir()
        Path(name, "mine.py").write_text(program, "utf-8")
        with Terminal("", rungs.model, folder) as rungs.terminal:
            try:
                for climb in (rungs.answers, rungs.exchange, rungs.is_killed, rungs.loses_nothing):
                    climb()
                    rungs.rung += 1
            except UsageError as error:
                said = str(error).replace("agent.py", "the program")
                return f"rung {rungs.rung} of 4 is reached. {said[:1].upper()}{said[1:]}"
    return None


check_mine.seconds = 240.0  # type: ignore[attr-defined]  # it starts twelve processes

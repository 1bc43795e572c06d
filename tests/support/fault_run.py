"""A team whose teammates are killed: four ``learnkit join`` processes, SIGKILL and SIGSTOP.

This process plays the lead: it puts tasks with dependencies on the board, writes messages, and
looks at the board many times a second. The teammates are played by the stand-in. A worker that is
killed is started again under its name; one that is stopped for longer than its lease goes on
afterwards, and does not know that another has its task by then.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from learnkit.backends.connect import open_backend
from learnkit.backends.task import Task

NAMES = ("alice", "bob", "carol", "dave")
#: Seconds of a lease, and how much later than that a look at the board may be.
LEASE, LATE = 2.0, 1.0
#: Open tasks as long as there are faults to come; seconds without progress that are an error.
OPEN, STUCK = 8, 120.0


@dataclass
class Summary:
    """What happened in a run, and what must be 0: ``lost`` and ``twice``."""

    tasks: int = 0
    mails: int = 0
    kills: int = 0
    stops: int = 0
    taken_over: int = 0
    refused: int = 0
    lost: int = 0
    twice: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"tasks {self.tasks}, mails {self.mails}, kills {self.kills}, stops {self.stops}, "
            f"leases taken over {self.taken_over}, late completions refused {self.refused}, "
            f"lost {self.lost}, twice {self.twice}"
        )


class Worker:
    """A teammate's process, and those before it under the same name."""

    def __init__(self, folder: Path, url: str, name: str) -> None:
        self.name, self.home = name, folder / name
        program = "from learnkit.terminal.cli import main; main()"
        self.command = [sys.executable, "-c", program, "join", url, "--name", name]
        self.command += ["--workspace", str(self.home), "--lease", str(LEASE)]
        self.command += ["--stand-in", "--yes"]
        self.log = (folder / f"{name}.log").open("ab")
        self.incarnation = ""  # as the roster has it, once it has joined
        self.due = 0.0  # seconds from when it has joined to its fault
        self.begin()

    def begin(self) -> None:
        self.incarnation = ""
        self.begun = time.monotonic()
        self.joined: float | None = None
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def transcript(self) -> list[dict[str, Any]]:
        path = self.home / ".learnkit/team/transcripts" / f"{self.name}.jsonl"
        found = []
        for line in path.read_text("utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue  # the last line of a process that was killed
        return found


class Run:
    """One run.

    Args:
        folder: for the workers' homes.
        url: of the backend, whose tables are there.
        kills: how many workers are killed.
        seed: of what is random; the timing of processes is not.
    """

    def __init__(self, folder: Path, url: str, kills: int, seed: int) -> None:
        random.seed(seed)
        self.goal, self.summary = kills, Summary()
        self.backend = open_backend(url)
        self.board, self.mail = self.backend.board(), self.backend.mail()
        self.roster = self.backend.roster()
        self.mail.open("lead")
        self.inbox = self.mail.reader("lead")
        self.heard: list[str] = []
        self.sent: dict[str, list[str]] = {name: [] for name in NAMES}
        self.before: dict[int, Task] = {}
        self.died: dict[str, float] = {}  # when, by incarnation
        self.paused: dict[str, float] = {}  # until when, by name
        self.progress = time.monotonic()
        for name in NAMES:
            self.mail.open(name)
        self.workers = {name: Worker(folder, url, name) for name in NAMES}

    def go(self, tasks: int) -> Summary:
        """Run until there were enough tasks and kills, and everything is done."""
        try:
            while self._step(tasks):
                time.sleep(0.05)
        except BaseException:
            for worker in self.workers.values():
                worker.process.kill()
                worker.process.wait()
            raise
        self._end()
        self.backend.close()
        return self.summary

    def _step(self, tasks: int) -> bool:
        """Look once, and cause a fault if one is due; return whether there is more to do."""
        now, told = time.monotonic(), self.summary
        more = told.kills < self.goal or told.tasks < tasks
        there = self._look(now)
        open_tasks = [task for task in there if task.status != "completed"]
        if more and len(open_tasks) < OPEN:
            self._create(open_tasks)
        self._read()
        self._fault(now, more)
        unread = any(self.mail.unread(name) for name in NAMES)
        if now - self.progress > STUCK:
            raise AssertionError(f"nothing has happened for {STUCK:g} s: {open_tasks}")
        return more or bool(open_tasks) or unread or bool(self.paused)

    def _create(self, open_tasks: list[Task]) -> None:
        number = self.summary.tasks + 1
        task = self.board.create(f"run sleep 0.{random.randint(1, 9)}")
        before = random.sample([one.id for one in open_tasks], min(len(open_tasks), number % 3))
        if before:
            self.board.update(task.id, add_blocked_by=before)
        self.summary.tasks = number
        for to in random.sample(NAMES, 2):
            self.sent[to].append(self.mail.send("tester", to, f"this is note {number}").id)
            self.summary.mails += 1

    def _look(self, now: float) -> list[Task]:
        """What has changed on the board, and whether that may be."""
        ready = {task.id for task in self.board.ready()}
        there = self.board.tasks()  # later, so that a claim between the two is no problem
        for task in there:
            old = self.before.get(task.id)
            if old == task:
                continue
            self.progress = now
            if old is not None and old.status == "completed":
                self._problem("twice", f"{task} was completed before: {old}")
            both = old is not None and old.status == task.status == "in_progress"
            if old is not None and both and old.incarnation != task.incarnation:
                self.summary.taken_over += 1
        self.before = {task.id: task for task in there}
        for task in there:
            died = self.died.get(task.incarnation) if task.status == "in_progress" else None
            looked = time.monotonic()
            if died is not None and now - died > LEASE + LATE and task.id not in ready:
                self._problem("lost", f"{task} is still the dead's after {looked - died:.1f} s")
        return there

    def _read(self) -> None:
        new = self.inbox.take()
        self.heard += [mail.id for mail in new]
        self.inbox.commit()
        self.summary.mails += len(new)

    def _fault(self, now: float, more: bool) -> None:
        """Kill or stop whose time has come; note who has joined."""
        for name in [one for one, until in self.paused.items() if now > until]:
            self.workers[name].process.send_signal(signal.SIGCONT)
            del self.paused[name]
        known = {one["name"]: one for one in self.roster.members()}
        for name, worker in self.workers.items():
            if worker.process.poll() is not None:
                raise AssertionError(f"{name} has ended by itself: {worker.process.returncode}")
            incarnation = known.get(name, {}).get("incarnation", "")
            if worker.joined is None:
                if incarnation and incarnation not in self.died:
                    worker.incarnation, worker.joined = incarnation, now
                    # A slow machine starts it slowly, and also gives it more time to work.
                    worker.due = random.uniform(0.1, max(2.5, 1.5 * (now - worker.begun)))
                continue
            if not more or name in self.paused or now - worker.joined < worker.due:
                continue
            if random.random() < 0.25 and not self.paused:
                worker.process.send_signal(signal.SIGSTOP)
                self.paused[name], worker.joined = now + LEASE + 2.5, now + LEASE + 2.5
                self.summary.stops += 1
                continue
            worker.process.send_signal(signal.SIGKILL)
            worker.process.wait()
            self.died[worker.incarnation] = time.monotonic()
            self.summary.kills += 1
            worker.begin()

    def _end(self) -> None:
        """End the workers, and look at what each of them has read."""
        while any(worker.joined is None for worker in self.workers.values()):
            self._fault(time.monotonic(), False)
            time.sleep(0.05)
        for worker in self.workers.values():
            worker.process.send_signal(signal.SIGTERM)
        for name, worker in self.workers.items():
            code = worker.process.wait(timeout=60)
            if code != 128 + signal.SIGTERM:
                self._problem("lost", f"{name} has ended with {code}")
            worker.log.close()
            read: list[str] = []
            for entry in worker.transcript():
                read += entry.get("mail", [])
                self.summary.refused += "is not yours any more" in json.dumps(entry)
            for id in self.sent[name]:
                if read.count(id) != 1:
                    kind = "twice" if id in read else "lost"
                    self._problem(kind, f"{name} has read {id} {read.count(id)} times")
        self._read()
        if len(set(self.heard)) != len(self.heard):
            self._problem("twice", "the lead has read a message twice")
        for entry in self.roster.members():
            if entry["status"] != "shutdown":
                self._problem("lost", f"the roster says: {entry}")

    def _problem(self, kind: str, text: str) -> None:
        setattr(self.summary, kind, getattr(self.summary, kind) + 1)
        self.summary.problems.append(text)


def sqlite(folder: Path) -> str:
    """A new database in a folder.

    Args:
        folder: for the file.
    """
    url = f"sqlite:///{folder / 'team.db'}"
    open_backend(url, create=True).close()
    os.environ.pop("LEARNKIT_BACKEND", None)
    return url

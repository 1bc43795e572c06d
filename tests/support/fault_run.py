"""A team whose teammates are killed: a ``learnkit chat`` leads four ``learnkit join`` processes.

The teammates get SIGKILL and SIGSTOP. On a PostgreSQL server of the tests' own, the server is
restarted meanwhile, in good order and as after a crash, and lines to it are cut in the middle of
statements, the lead's as well.

This process types into the chat, which puts tasks with dependencies on the board and writes
messages, and it looks at the board many times a second. All models are a function of the request,
behind a local server that speaks the Messages API. A worker that is killed is started again under
its name; one that is stopped for longer than its lease goes on afterwards, and does not know that
another has its task by then.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from messages_server import serving
from sqlalchemy import select

import learnkit as lk
from learnkit.backends.connect import SETTING, open_backend
from learnkit.backends.sql.tables import MAIL
from learnkit.backends.task import Task

if TYPE_CHECKING:  # the fault run on SQLite needs no psycopg
    from postgres import Cluster
    from tcp_proxy import Proxy

NAMES = ("alice", "bob", "carol", "dave")
CLI = (sys.executable, "-c", "from learnkit.terminal.cli import main; main()")
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
    restarts: int = 0
    cuts: int = 0
    taken_over: int = 0
    refused: int = 0
    lost: int = 0
    twice: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"tasks {self.tasks}, mails {self.mails}, kills {self.kills}, stops {self.stops}, "
            f"restarts {self.restarts}, cuts {self.cuts}, "
            f"leases taken over {self.taken_over}, late completions refused {self.refused}, "
            f"lost {self.lost}, twice {self.twice}"
        )


def crew(body: dict[str, Any]) -> Any:
    """What the models say: the lead's does what it is told, a teammate's runs the task it has.

    The lead is told ``batch 3: sleep 0.1; sleep 0.2``. It makes a task of each command, lets each
    third one wait for the two before it, and writes to two teammates.
    """
    if "tools" not in body:
        return lk.say("What was done is on the board.")
    asked, results = "", list[str]()
    for message in body["messages"]:
        content = message["content"]
        for block in [{"text": content}] if isinstance(content, str) else content:
            if block.get("type") == "tool_result":
                results.append(str(block["content"]))
            elif message["role"] == "user" and re.search("batch |<auto-claimed>", block["text"]):
                asked, results = block["text"], []
    if told := re.search(r"batch (\d+): (.+)", asked):
        commands = told[2].split("; ")
        if not results:
            return lk.reply("", *(lk.use("task_create", subject=one) for one in commands))
        ids = [int(id) for one in results[: len(commands)] for id in re.findall(r"#(\d+)", one)[:1]]
        if len(results) > len(ids):
            return lk.say("Noted.")
        waits = {ids[n]: ids[n - 2 : n] for n in range(2, len(ids), 3)}
        chosen = random.Random(told[1]).sample(NAMES, 2)
        return lk.reply(
            "",
            *(lk.use("task_update", task_id=id, addBlockedBy=two) for id, two in waits.items()),
            *(lk.use("send_message", to=to, content=f"this is note {told[1]}") for to in chosen),
        )
    if task := re.search(r"Task #(\d+): (.+?)(?:</auto|\n)", asked):
        if not results:
            return lk.use("bash", command=task[2])
        if len(results) == 1:
            return lk.use("task_update", task_id=int(task[1]), status="completed")
    return lk.say("Done.")


class Lead:
    """The process of the chat, told what to do in lines."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.home, self.log = folder / "lead", folder / "lead.log"
        self.home.mkdir()
        self.told = 0
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [*CLI, "chat", str(self.home), "--yes"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={**os.environ, **env},
                start_new_session=True,
            )

    def tell(self, commands: list[str]) -> None:
        """Have it put tasks on the board."""
        assert self.process.stdin is not None
        self.told += 1
        self.process.stdin.write(f"batch {self.told}: {'; '.join(commands)}\n".encode())
        self.process.stdin.flush()

    def said(self) -> str:
        """All that it has shown."""
        return self.log.read_text("utf-8", "replace")


def read_by(home: Path, name: str) -> list[str]:
    """The ids of the messages in a transcript, in order."""
    return [id for entry in transcript(home, name) for id in entry.get("mail", [])]


def transcript(home: Path, name: str) -> list[dict[str, Any]]:
    """The entries of a transcript."""
    path = home / ".learnkit/team/transcripts" / f"{name}.jsonl"
    found: list[dict[str, Any]] = []
    if not path.exists():  # it was killed before it had anything to do
        return found
    for line in path.read_text("utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # the last line of a process that was killed
    return found


class Worker:
    """A teammate's process, and those before it under the same name."""

    def __init__(self, folder: Path, url: str, name: str, env: dict[str, str]) -> None:
        self.name, self.home, self.env = name, folder / name, env
        self.command = ["join", url, "--name", name, "--workspace", str(self.home)]
        self.command += ["--lease", str(LEASE), "--yes"]
        self.log = folder / f"{name}.log"
        self.incarnation = ""  # as the roster has it, once it has joined
        self.due = 0.0  # seconds from when it has joined to its fault
        self.begin()

    def begin(self) -> None:
        self.incarnation = ""
        self.begun = time.monotonic()
        self.joined: float | None = None
        self.process = _FORKS.Process(target=_join, args=(self.command, self.log, self.env))
        self.process.start()

    def send(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)


#: Starts the workers' processes, with what they import already there: most of a run would be that.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *("learnkit.backends.sql", "learnkit.clients.connect", "learnkit.harness"),
        *("learnkit.mechanisms.teams.joined", "anthropic"),
        *("learnkit.terminal.join", "learnkit.terminal.session", "anthropic.resources.messages"),
        *("rich.console", "rich.highlighter", "rich.text"),
    ]
)


def _join(command: list[str], log: Path, env: dict[str, str]) -> None:
    """Be ``learnkit`` with these words."""
    os.environ.update(env)
    from learnkit.terminal.cli import main

    with log.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.argv = ["learnkit", *command]
    main()


class Run:
    """One run."""

    def __init__(
        self, folder: Path, url: str, kills: int, seed: int, server: Server | None = None
    ) -> None:
        random.seed(seed)
        self.server = server
        self.goal, self.summary = kills, Summary()
        self.backend = open_backend(url)
        self.board, self.mail = self.backend.board(), self.backend.mail()
        self.roster = self.backend.roster()
        self.before: dict[int, Task] = {}
        self.died: dict[str, float] = {}  # when, by incarnation
        self.paused: dict[str, threading.Timer] = {}  # what ends it, by name
        for name in ("lead", *NAMES):
            self.mail.open(name)
        self._folder, self._url = folder, url
        self.progress = time.monotonic()

    def go(self, tasks: int) -> Summary:
        """Run until there were enough tasks and kills, and everything is done."""
        with serving(crew) as api:
            self.lead = Lead(self._folder, {**api.env, SETTING: self._url})
            self.workers = {one: Worker(self._folder, self._url, one, api.env) for one in NAMES}
            try:
                while self._step(tasks):
                    time.sleep(0.05)
                self._end()
            finally:
                self.lead.process.kill()
                for worker in self.workers.values():
                    worker.process.kill()
        self.backend.close()
        if self.server:
            self.summary.restarts, self.summary.cuts = self.server.restarts, self.server.proxy.cuts
        return self.summary

    def _step(self, tasks: int) -> bool:
        """Look once, and cause a fault if one is due; return whether there is more to do."""
        now, told = time.monotonic(), self.summary
        more = told.kills < self.goal or told.tasks < tasks
        if self.server:
            more = self.server.step(told.kills / self.goal) or more
        there = self._look(now)
        open_tasks = [task for task in there if task.status != "completed"]
        unread = any(self.mail.unread(name) for name in NAMES)
        made = len(there) >= told.tasks
        if more and made and not open_tasks:
            told.tasks += OPEN
            self.lead.tell([f"sleep 0.{random.randint(1, 9)}" for _ in range(OPEN)])
        if (code := self.lead.process.poll()) is not None:
            raise AssertionError(f"the chat has ended with {code}: {self.lead.said()[-2000:]}")
        self._fault(now, more)
        if now - self.progress > STUCK:
            raise AssertionError(f"nothing has happened for {STUCK:g} s: {open_tasks}")
        return more or not made or bool(open_tasks) or unread or bool(self.paused)

    def _look(self, now: float) -> list[Task]:
        """What has changed on the board, and whether that may be."""
        ready = {task.id for task in self.board.ready()}
        there = self.board.tasks()  # later, so that a claim between the two is no problem
        for task in there:
            old = self.before.get(task.id)
            if old == task:
                continue
            self.progress = now
            if old is not None and old.status == "completed" and _done(old) != _done(task):
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

    def _fault(self, now: float, more: bool) -> None:
        """Kill or stop whose time has come; note who has joined."""
        for name in [one for one, timer in self.paused.items() if not timer.is_alive()]:
            del self.paused[name]
        known = {one["name"]: one for one in self.roster.members()}
        for name, worker in self.workers.items():
            if (code := worker.process.exitcode) is not None:
                said = worker.log.read_text("utf-8", "replace")[-500:]
                raise AssertionError(f"{name} has ended by itself with {code}: {said}")
            incarnation = known.get(name, {}).get("incarnation", "")
            if worker.joined is None:
                if incarnation and incarnation not in self.died:
                    worker.incarnation, worker.joined = incarnation, now
                    # A slow machine starts it slowly, and also gives it more time to work.
                    worker.due = random.uniform(0.1, max(4.0, 1.5 * (now - worker.begun)))
                continue
            if not more or name in self.paused or now - worker.joined < worker.due:
                continue
            if random.random() < 0.25 and not self.paused:
                worker.send(signal.SIGSTOP)
                worker.joined = now + LEASE + 2.5
                # From a thread: this one may wait for a lock which the stopped process holds.
                timer = threading.Timer(LEASE + 2.5, worker.send, [signal.SIGCONT])
                self.paused[name] = timer
                timer.start()
                self.summary.stops += 1
                continue
            worker.send(signal.SIGKILL)
            worker.process.join()
            self.died[worker.incarnation] = time.monotonic()
            self.summary.kills += 1
            worker.begin()

    def _end(self) -> None:
        """End the workers, and look at what each of them has read."""
        while any(worker.joined is None for worker in self.workers.values()):
            self._fault(time.monotonic(), False)
            time.sleep(0.05)
        for worker in self.workers.values():
            worker.send(signal.SIGTERM)
        for name, worker in self.workers.items():
            worker.process.join(60)
            code = worker.process.exitcode
            if code != 128 + signal.SIGTERM:
                self._problem("lost", f"{name} has ended with {code}")
            for entry in transcript(worker.home, name):
                self.summary.refused += "is not yours any more" in json.dumps(entry)
        assert self.lead.process.stdin is not None
        self.lead.process.stdin.close()
        code = self.lead.process.wait(60)
        if code != 0 or "Traceback" in self.lead.said():
            self._problem("lost", f"the chat has ended with {code}: {self.lead.said()[-2000:]}")
        homes = {"lead": self.lead.home, **{one.name: one.home for one in self.workers.values()}}
        read = {name: Counter(read_by(home, name)) for name, home in homes.items()}
        wanted = select(MAIL.c.number, MAIL.c.inbox, MAIL.c.done)
        for number, to, done in self.backend._database.read(  # type: ignore[attr-defined]
            lambda connection: connection.execute(wanted).all()
        ):
            self.summary.mails += 1
            times = read[to][f"m{number}"]
            if times != 1 and (times or done or to != "lead"):  # it may have come after its turn
                self._problem(
                    "twice" if times else "lost", f"{to} has read m{number} {times} times"
                )
        if (there := len(self.board.tasks())) != self.summary.tasks:
            kind = "lost" if there < self.summary.tasks else "twice"
            self._problem(kind, f"there are {there} tasks, and {self.summary.tasks} were made")
        for entry in self.roster.members():
            if entry["status"] != "shutdown":
                self._problem("lost", f"the roster says: {entry}")

    def _problem(self, kind: str, text: str) -> None:
        setattr(self.summary, kind, getattr(self.summary, kind) + 1)
        self.summary.problems.append(text)


def _done(task: Task) -> Task:
    """A completed task without its dependencies, which the lead may say later."""
    return replace(task, blocks=(), blocked_by=())


class Server:
    """A PostgreSQL server, and a proxy before it; both fail as far as the run has come."""

    def __init__(self, cluster: Cluster, proxy: Proxy, restarts: int, cuts: int) -> None:
        self.cluster, self.proxy = cluster, proxy
        self.restarts, self._restarts, self._cuts = 0, restarts, cuts
        self._restarting = threading.Thread()

    def step(self, part: float) -> bool:
        """Cause the faults that are due; return whether more of them are to come."""
        if not self.proxy.armed and self.proxy.cuts < self._cuts * part:
            words = random.choice([b"COMMIT\0", b"COMMIT\0", b"BEGIN", b"_pg3_", b"learnkit_"])
            random.choice([self.proxy.cut_after, self.proxy.cut_within])(words)
        at_work = self._restarting.is_alive()
        if not at_work and self.restarts < self._restarts and self.restarts < self._restarts * part:
            self.restarts += 1
            self._restarting = threading.Thread(target=self._restart)
            self._restarting.start()
        return at_work or self.restarts < self._restarts or self.proxy.cuts < self._cuts

    def _restart(self) -> None:
        """Meanwhile the lead goes on."""
        self.cluster.stop(signal.SIGQUIT if self.restarts % 3 == 0 else signal.SIGINT)
        self.cluster.start()


@contextmanager
def postgres(restarts: int, cuts: int) -> Iterator[tuple[str, Server]]:
    """A server of its own for one run, and its address through a proxy."""
    from postgres import Cluster
    from tcp_proxy import Proxy

    cluster = Cluster()
    try:
        cluster.start()
        proxy = Proxy(cluster.port)
        url = cluster.url(port=proxy.port)
        open_backend(url, create=True).close()
        server = Server(cluster, proxy, restarts, cuts)
        yield url, server
        proxy.close()
    finally:
        cluster.remove()


def sqlite(folder: Path) -> str:
    """A new database in a folder."""
    url = f"sqlite:///{folder / 'team.db'}"
    open_backend(url, create=True).close()
    os.environ.pop("LEARNKIT_BACKEND", None)
    return url

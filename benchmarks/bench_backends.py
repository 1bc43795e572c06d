"""Mail and tasks on each backend: with 1, 4 and 16 writers, on large boards and in large inboxes.

Each writer is a process of its own; one reader drains the inbox meanwhile. All backends run one
after the other for each number of writers, so that their ratios hold on a busy machine too. Two
yardsticks run beside them: bare commits of SQLite, and the inbox of many tutorials, which its
reader reads and then blanks.

    python benchmarks/bench_backends.py [--quick] [ADDRESS ...]

An address is ``files``, ``sqlite``, ``postgres`` for a server that is made for the run and removed,
or that of a PostgreSQL for tests, where the teams of a run stay. By default it is the first two.

Exits with 1 when a backend loses a message, has one twice, or gives a task to another; when the
blanked inbox loses none in the whole run (then nothing was tested); when a claim, a get, a send or
a take (on a database, also news) is more than five times as slow on the largest board or inbox as
on the smallest; or when to list a board of files is not twice as fast as to read every file. (It
is three to five times as fast; a list that reads every file is no faster.)
"""

from __future__ import annotations

import argparse
import itertools
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRAIN = 0.002  # seconds between two looks of the reader


class Blanked:
    """The inbox that loses: its reader reads the file and then blanks it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "alice.jsonl"

    def open(self, name: str) -> None:
        self._path.touch()

    def send(self, sender: str, to: str, content: str) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps({"from": sender, "content": content}) + "\n")

    def drain(self) -> list[str]:
        lines = self._path.read_text().splitlines()
        self._path.write_text("")  # what has come in between is gone
        found = []
        for line in lines:
            try:
                found.append(json.loads(line)["content"])
            except ValueError:
                continue  # half a line
        return found


class Bare:
    """A row for each message, and nothing else: what SQLite could do at best."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "mail.db", timeout=60, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = OFF")  # files do not wait for the disk either
        self._read = 0

    def open(self, name: str) -> None:
        self._database.execute("CREATE TABLE mail (id INTEGER PRIMARY KEY, sender, content)")

    def send(self, sender: str, to: str, content: str) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("INSERT INTO mail VALUES (NULL, ?, ?)", (sender, content))
        self._database.execute("COMMIT")

    def drain(self) -> list[str]:
        # One writer at a time, so that ids become visible in order.
        query = "SELECT id, content FROM mail WHERE id > ? ORDER BY id"
        rows = self._database.execute(query, (self._read,)).fetchall()
        self._read = rows[-1][0] if rows else self._read
        return [content for _, content in rows]


class Real:
    """A backend's mailbox, with the reader that an agent has."""

    def __init__(self, box: Any) -> None:
        self._box = box
        self._inbox: Any = None
        self.open, self.send = box.open, box.send

    def drain(self) -> list[str]:
        self._inbox = self._inbox or self._box.reader("alice")
        found = [one.content for one in self._inbox.take()]
        self._inbox.commit()
        return found


YARDSTICKS = {"blanked": Blanked, "sqlite3": Bare}


class Place:
    """Where one team of a run keeps its state.

    Args:
        kind: an address, as on the command line, or a yardstick.
        folder: for what is kept in files.
        team: its name.
    """

    def __init__(self, kind: str, folder: str, team: str = "") -> None:
        self.kind, self.folder = kind, Path(folder)
        self.team = team or f"bench-{uuid.uuid4().hex[:12]}"
        self._backend: Any = None

    @property
    def backend(self) -> Any:
        """The backend; it is opened once in each process."""
        import learnkit as lk

        addresses = {
            "files": f"files:{self.folder}",
            "sqlite": f"sqlite:///{self.folder / 'team.db'}",
        }
        if self._backend is None:
            self._backend = lk.open_backend(addresses.get(self.kind, self.kind), create=True)
        return self._backend

    def mailbox(self) -> Any:
        if self.kind in YARDSTICKS:
            return YARDSTICKS[self.kind](self.folder)
        return Real(self.backend.mail(self.team))

    def board(self) -> Any:
        return self.backend.board(self.team)


def named(kind: str) -> str:
    """A short name, without the password that an address may have."""
    return kind.partition(":")[0].partition("+")[0]


# Writers


def work(place: Place, what: str, number: int, writers: int, most: int, seconds: float) -> None:
    """Do something again and again, and print when it began and ended, and how long each took."""
    if what == "mail":
        send = place.mailbox().send

        def act(turn: int) -> None:
            send(f"w{number}", "alice", f"w{number}-{turn}")

    else:
        claim = place.board().claim

        def act(turn: int) -> None:
            claim(turn * writers + number + 1, f"w{number}")

    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    moments = [begin]
    while len(moments) <= most and moments[-1] < begin + seconds:
        act(len(moments) - 1)
        moments.append(time.perf_counter())
    print(json.dumps(moments))


def together(
    place: Place, what: str, writers: int, most: int, seconds: float, meanwhile: Callable[[], Any]
) -> list[list[float]]:
    """Let several processes work at once; returns the moments between their steps."""
    command = [sys.executable, __file__, "--work", place.kind, str(place.folder), place.team, what]
    started = [
        subprocess.Popen(
            [*command, str(number), str(writers), str(most), str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    for process in started:
        process.stdout.readline()  # type: ignore[union-attr]
    for process in started:
        process.stdin.write("go\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        meanwhile()
        time.sleep(DRAIN)
    return [json.loads(process.communicate()[0]) for process in started]


def mails(place: Place, writers: int, seconds: float) -> tuple[list[list[float]], int]:
    """As ``together``, and how many messages were lost or came twice."""
    box, got = place.mailbox(), Counter[str]()
    box.open("alice")
    moments = together(place, "mail", writers, 1_000_000, seconds, lambda: got.update(box.drain()))
    got.update(box.drain())
    sent = Counter(
        f"w{name}-{turn}" for name, own in enumerate(moments) for turn in range(len(own) - 1)
    )
    return moments, sum(((sent - got) + (got - sent)).values())


def claims(place: Place, writers: int, seconds: float) -> tuple[list[list[float]], int]:
    """As ``together``, and how many tasks are not with the one who has claimed them."""
    most = int(3_000 * seconds / writers)
    fill_board(place, most * writers, chained=False)
    moments = together(place, "claim", writers, most, seconds, lambda: None)
    wrong = 0
    for task in place.board().tasks():
        turn, writer = divmod(task.id - 1, writers)
        claimed = turn < len(moments[writer]) - 1
        wrong += task.owner != (f"w{writer}" if claimed else "")
    return moments, wrong


def contest(
    title: str, run: Any, kinds: list[str], writers: list[int], seconds: float
) -> Counter[str]:
    """Print a line for each backend and number of writers; returns the mistakes of each."""
    print(f"\n{title:<11} writers  a second  ratio     median       99 %  wrong")
    wrong = Counter[str]()
    for many in writers:
        first = 0.0
        for kind in kinds:
            with tempfile.TemporaryDirectory() as folder:
                moments, mistakes = run(Place(kind, folder), many, seconds)
            times = [b - a for own in moments for a, b in itertools.pairwise(own)]
            took = max(own[-1] for own in moments) - min(own[0] for own in moments)
            speed = len(times) / took
            first = first or speed
            wrong[kind] += mistakes
            late = sorted(times)[99 * len(times) // 100]
            print(
                f"{named(kind):<11} {many:>7} {speed:>9,.0f} {speed / first:>6.2f} "
                f"{1000 * statistics.median(times):>7.2f} ms {1000 * late:>7.2f} ms {mistakes:>6}"
            )
    return wrong


# Size


def fill_board(place: Place, size: int, *, chained: bool = True) -> None:
    """Make tasks; every tenth one waits for the one before.

    A hundred thousand calls of ``create`` would take minutes, so all but one are copied.
    """
    first = place.board().create("step 1", "read the station file and report " * 5)
    waiting = range(10, size + 1, 10) if chained else range(0)
    if place.kind == "files":
        folder = place.board().folder
        for id in range(2, size + 1):
            task = {**first.to_json(), "id": id}
            task["blockedBy"] = [id - 1] if id in waiting else []
            task["blocks"] = [id + 1] if id + 1 in waiting else []
            (folder / f"task_{id}.json").write_text(json.dumps(task))
        (folder / "board.json").write_text(json.dumps({"next_id": size + 1}))
        return
    copy_row(place, "tasks", size, id="n.i")
    execute(place, "UPDATE learnkit_counters SET last = :size WHERE team = :team", size=size)
    if chained:
        edges = "INSERT INTO learnkit_edges (team, blocked, blocker) SELECT team, id, id - 1"
        execute(place, f"{edges} FROM learnkit_tasks WHERE team = :team AND id % 10 = 0")


def fill_inbox(place: Place, size: int) -> None:
    """Make messages; all but the last one are committed."""
    box = place.backend.mail(place.team)
    box.open("alice")
    first = box.send("bob", "alice", "station 3 reports 31.4 degrees " * 4)
    if place.kind == "files":
        with (box.folder / "alice.jsonl").open("a") as file:
            for id in range(2, size):
                file.write(json.dumps({**first.to_json(), "id": f"m{id}"}) + "\n")
        (box.folder / "mail.json").write_text(json.dumps({"next_id": size}))
    inbox = box.reader("alice")
    inbox.take()
    inbox.commit()
    if place.kind != "files":
        copy_row(place, "mail", size - 1, number=None)
    box.send("bob", "alice", "the last one")


def copy_row(place: Place, table: str, size: int, **others: str | None) -> None:
    """Copy the only row that a team has in a table of a database.

    Args:
        place: of the team.
        table: its name.
        size: rows that there are afterwards.
        others: what columns have instead, as SQL with the row's number ``n.i``; None for those
            that the database fills.
    """
    from learnkit.backends.sql.tables import METADATA

    columns = [column.name for column in METADATA.tables[f"learnkit_{table}"].columns]
    values = {name: others.get(name, f"t.{name}") for name in columns}
    filled = {name: value for name, value in values.items() if value}
    execute(
        place,
        f"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < :size) "
        f"INSERT INTO learnkit_{table} ({', '.join(filled)}) "
        f"SELECT {', '.join(filled.values())} FROM learnkit_{table} t, n WHERE t.team = :team",
        size=size,
    )
    execute(place, "ANALYZE")


def execute(place: Place, statement: str, **values: Any) -> None:
    from sqlalchemy import text

    names = {"team": place.team, **values} if ":" in statement else {}
    place.backend._database.change(lambda connection: connection.execute(text(statement), names))


def milliseconds(act: Callable[[], Any], times: int) -> float:
    """The shortest of several times: what it takes when nothing disturbs it."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - began)
    return 1000 * best


def on_a_board(place: Place) -> dict[str, float]:
    """Milliseconds of each operation."""
    found = {"open": milliseconds(place.board, 1)}
    tasks = place.board()
    ids, done = ((id for id in itertools.count(1) if id % 10) for _ in range(2))  # the others wait
    found["claim"] = milliseconds(lambda: tasks.claim(next(ids), "alice"), 25)
    found["complete"] = milliseconds(lambda: tasks.update(next(done), "completed"), 25)
    found["get"] = milliseconds(lambda: tasks.get(7), 25)
    found["create"] = milliseconds(lambda: tasks.create("a new one"), 25)
    found["ready"] = milliseconds(tasks.ready, 3)
    found["list"] = milliseconds(tasks.tasks, 5)
    tasks.open()
    news = []
    for _ in range(10):
        tasks.create("one more")
        news.append(milliseconds(tasks.news, 1))
    found["news"] = min(news)
    if place.kind == "files":
        found["all files"] = milliseconds(
            lambda: [json.loads(path.read_text()) for path in tasks.folder.glob("task_*.json")], 5
        )
    return found


def in_an_inbox(place: Place) -> dict[str, float]:
    """Milliseconds of each operation; the first send and take are those of a new process."""
    place.mailbox().drain()
    found = {
        "first send": milliseconds(lambda: place.mailbox().send("bob", "alice", "one"), 5),
        "first take": milliseconds(lambda: place.mailbox().drain(), 5),
    }
    box = place.mailbox()
    sending, taking = [], []
    for _ in range(25):
        sending.append(milliseconds(lambda: box.send("bob", "alice", "one more"), 1))
        taking.append(milliseconds(box.drain, 1))
    return {**found, "send": min(sending), "take": min(taking)}


def by_size(
    title: str,
    fill: Callable[[Place, int], None],
    measure: Callable[[Place], dict[str, float]],
    kinds: list[str],
    sizes: list[int],
) -> dict[str, dict[str, float]]:
    """Print a line for each size; returns how much longer each operation takes on the largest."""
    growth = {}
    for kind in kinds:
        found = []
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                place = Place(kind, folder)
                fill(place, size)
                found.append(measure(place))
                place.backend.close()
            if size == sizes[0]:
                print(f"\n{named(kind) + ', ms':<15}{title:>9}" + _cells(found[0], ">11"))
            print(f"{'':<15}{size:>9,}" + _cells(found[-1].values(), ">11.2f"))
        growth[kind] = {key: found[-1][key] / found[0][key] for key in found[0]}
        print(f"{'':<15}{'times':>9}" + _cells(growth[kind].values(), ">11.1f"))
        if "all files" in growth[kind]:
            growth[kind]["faster"] = found[-1]["all files"] / found[-1]["list"]
    return growth


def _cells(values: Iterable[Any], form: str) -> str:
    return "".join(format(value, form) for value in values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="ADDRESS", help="files, sqlite, or a database")
    parser.add_argument("--quick", action="store_true", help="a few seconds: less of everything")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        kind, folder, team, what, number, writers, most, seconds = arguments.kinds
        numbers = int(number), int(writers), int(most), float(seconds)
        work(Place(kind, folder, team), what, *numbers)
        return 0
    writers, seconds, boards, inboxes = [1, 4, 16], 3.0, [100, 10_000, 100_000], [100, 100_000]
    if arguments.quick:
        writers, seconds, boards, inboxes = [1, 4], 0.3, [50, 1_000], [100, 10_000]
    with servers(arguments.kinds or ["files", "sqlite"]) as kinds:
        faults = measured(kinds, writers, seconds, boards, inboxes)
    print("", *faults, sep="\n")
    return 1 if faults else 0


def measured(
    kinds: list[str], writers: list[int], seconds: float, boards: list[int], inboxes: list[int]
) -> list[str]:
    """Print all tables; returns what is wrong."""
    wrong = contest("mail", mails, [*kinds, *YARDSTICKS], writers, seconds)
    misplaced = contest("claims", claims, kinds, writers, seconds)
    tasks = by_size("tasks", fill_board, on_a_board, kinds, boards)
    inbox = by_size("messages", fill_inbox, in_an_inbox, kinds, inboxes)
    faults = [] if wrong["blanked"] else ["the blanked inbox has lost nothing: nothing was tested"]
    for kind in kinds:
        if wrong[kind] or misplaced[kind]:
            faults.append(
                f"{named(kind)}: {wrong[kind]} messages lost or twice, {misplaced[kind]} tasks "
                "with another"
            )
        grown = {key: tasks[kind][key] for key in ("claim", "get")}
        grown |= {key: inbox[kind][key] for key in ("send", "take")}
        grown |= {} if kind == "files" else {"news": tasks[kind]["news"]}
        faults += [f"{named(kind)}: {key} × {one:.1f}" for key, one in grown.items() if one > 5]
        if tasks[kind].get("faster", 2) < 2:
            faults.append(f"{named(kind)}: a list is not twice as fast as to read every file")
    return faults


@contextmanager
def servers(kinds: list[str]) -> Iterator[list[str]]:
    """The addresses, with that of a server of our own in place of ``postgres``."""
    if "postgres" not in kinds:
        yield kinds
        return
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
    from postgres import Cluster

    cluster = Cluster()
    try:
        cluster.start()
        yield [cluster.url() if kind == "postgres" else kind for kind in kinds]
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main())

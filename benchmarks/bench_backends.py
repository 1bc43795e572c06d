"""Mail and tasks on each backend: with 1, 4 and 16 writers, on large boards and in large inboxes.

Each writer is a process of its own; one reader drains the inbox meanwhile. All backends run one
after the other for each number of writers, so that their ratios hold on a busy machine too. Two
yardsticks run beside them: bare commits of SQLite, and the inbox of many tutorials, which its
reader reads and then blanks.

    python benchmarks/bench_backends.py [--quick] [URL ...]

Exits with 1 when a backend loses a message, has one twice, or gives a task to two; when the blanked
inbox loses none in the whole run (then nothing was tested); when claiming a task, sending or taking
a message takes more than five times as long on the largest board or inbox as on the smallest; or
when listing a board of files is not three times as fast as reading every file.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnkit import Mailbox, TaskBoard
from learnkit.backends.mail import Mail
from learnkit.backends.task import Task

WRITERS = (1, 4, 16)
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


def mailbox(url: str) -> Any:
    kind, _, rest = url.partition(":")
    if kind in YARDSTICKS:
        return YARDSTICKS[kind](Path(rest))
    return Real(Mailbox(Path(rest) / "inbox"))


def board(url: str) -> Any:
    return TaskBoard(Path(url.partition(":")[2]) / "tasks")


# What a writer does


def work(what: str, url: str, number: int, writers: int, count: int) -> None:
    """Do something ``count`` times, and print the seconds that each time took."""
    act: Callable[[int], Any]
    if what == "mail":
        box = mailbox(url)

        def act(turn: int) -> None:
            box.send(f"w{number}", "alice", f"w{number}-{turn}")

    else:
        tasks = board(url)

        def act(turn: int) -> None:
            tasks.claim(turn * writers + number + 1, f"w{number}")

    print("ready", flush=True)
    sys.stdin.readline()
    times = []
    for turn in range(count):
        began = time.perf_counter()
        act(turn)
        times.append(time.perf_counter() - began)
    print(json.dumps(times))


def together(
    what: str, url: str, writers: int, count: int, meanwhile: Callable[[], Any]
) -> tuple[float, list[float]]:
    """Seconds that all writers took, and those of each of their steps."""
    command = [sys.executable, __file__, "--work", what, url]
    started = [
        subprocess.Popen(
            [*command, str(number), str(writers), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    for process in started:
        process.stdout.readline()  # type: ignore[union-attr]
    began = time.perf_counter()
    for process in started:
        process.stdin.write("go\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    while any(process.poll() is None for process in started):
        meanwhile()
        time.sleep(DRAIN)
    took = time.perf_counter() - began
    times = [one for process in started for one in json.loads(process.communicate()[0])]
    return took, times


def mails(url: str, writers: int, count: int) -> tuple[float, list[float], int]:
    """As ``together``, and how many messages were lost or came twice."""
    box, got = mailbox(url), Counter[str]()
    box.open("alice")
    took, times = together("mail", url, writers, count, lambda: got.update(box.drain()))
    got.update(box.drain())
    sent = Counter(f"w{number}-{turn}" for number in range(writers) for turn in range(count))
    return took, times, sum(((sent - got) + (got - sent)).values())


def claims(url: str, writers: int, count: int) -> tuple[float, list[float], int]:
    """As ``together``, and how many tasks are not with the one who has claimed them."""
    tasks = board(url)
    for number in range(writers * count):
        tasks.create(f"step {number}")
    took, times = together("claim", url, writers, count, lambda: None)
    owners = [task.owner for task in tasks.tasks()]
    wrong = [one for one in range(len(owners)) if owners[one] != f"w{one % writers}"]
    return took, times, len(wrong)


def contest(title: str, run: Any, urls: list[str], count: int) -> dict[str, int]:
    """Print a line for each backend and number of writers; returns the mistakes of each."""
    print(f"\n{title:<9}  writers  a second  ratio     median       99 %  wrong")
    wrong = dict.fromkeys(urls, 0)
    for writers in WRITERS:
        first = 0.0
        for url in urls:
            with tempfile.TemporaryDirectory() as folder:
                took, times, mistakes = run(placed(url, folder), writers, max(10, count // writers))
            speed = len(times) / took
            first = first or speed
            wrong[url] += mistakes
            late = statistics.quantiles(times, n=100)[98]
            print(
                f"{url:<9} {writers:>8} {speed:>9,.0f} {speed / first:>6.2f} "
                f"{1000 * statistics.median(times):>7.2f} ms {1000 * late:>7.2f} ms {mistakes:>6}"
            )
    return wrong


def placed(url: str, folder: str) -> str:
    """The URL of a backend that is empty."""
    return f"{url.partition(':')[0]}:{folder}"


# Size


def fill_board(url: str, size: int) -> None:
    """A board on which every tenth task waits for the one before."""
    folder = Path(url.partition(":")[2]) / "tasks"
    folder.mkdir()
    for id in range(1, size + 1):
        waits = (id - 1,) if id % 10 == 0 else ()
        blocks = (id + 1,) if id % 10 == 9 and id < size else ()
        text = "read the station file and report " * 5
        task = Task(id, f"step {id}", text, blocked_by=waits, blocks=blocks)
        (folder / task.file).write_text(json.dumps(task.to_json()))


def fill_inbox(url: str, size: int) -> None:
    """An inbox whose reader has committed all but the last message."""
    folder = Path(url.partition(":")[2]) / "inbox"
    box = Mailbox(folder)
    box.open("alice")
    text = "station 3 reports 31.4 degrees " * 4
    with (folder / "alice.jsonl").open("a") as file:
        for id in range(1, size):
            mail = Mail(f"m{id}", "message", "bob", "alice", text, "2026-01-01T00:00:00+00:00")
            file.write(json.dumps(mail.to_json()) + "\n")
    inbox = box.reader("alice")
    inbox.take()
    inbox.commit()
    box.send("bob", "alice", "the last one")


def milliseconds(act: Callable[[int], Any], times: int) -> float:
    """The shortest of several times: what the operation takes when nothing disturbs it."""
    best = float("inf")
    for number in range(times):
        began = time.perf_counter()
        act(number)
        best = min(best, time.perf_counter() - began)
    return 1000 * best


def every_file(url: str) -> list[Any]:
    folder = Path(url.partition(":")[2]) / "tasks"
    return [json.loads(path.read_text()) for path in folder.glob("task_*.json")]


def on_a_board(url: str) -> dict[str, float]:
    """Milliseconds of each operation."""
    found = {"open": milliseconds(lambda _: board(url), 1)}
    tasks = board(url)
    found["claim"] = milliseconds(lambda number: tasks.claim(number + 1, "alice"), 9)
    found["complete"] = milliseconds(lambda number: tasks.update(number + 1, "completed"), 9)
    found["get"] = milliseconds(lambda number: tasks.get(number + 1), 9)
    found["create"] = milliseconds(lambda number: tasks.create(f"new {number}"), 9)
    found["list"] = milliseconds(lambda _: tasks.tasks(), 5)
    found["ready"] = milliseconds(lambda _: tasks.ready(), 5)
    found["every file"] = milliseconds(lambda _: every_file(url), 3)
    return found


def in_an_inbox(url: str) -> dict[str, float]:
    """Milliseconds of each operation; the first ones are those of a new process."""
    box = mailbox(url)
    found = {"first take": milliseconds(lambda _: box.drain(), 1)}
    found["first send"] = milliseconds(lambda _: box.send("bob", "alice", "one"), 1)
    box.drain()

    def take(_: int) -> None:
        assert len(box.drain()) == 1

    sending, taking = [], []
    for _ in range(20):
        sending.append(milliseconds(lambda number: box.send("bob", "alice", "one more"), 1))
        taking.append(milliseconds(take, 1))
    return {**found, "send": min(sending), "take": min(taking)}


def by_size(
    title: str,
    fill: Callable[[str, int], None],
    measure: Callable[[str], dict[str, float]],
    urls: list[str],
    sizes: tuple[int, ...],
) -> dict[str, dict[str, float]]:
    """Print a line for each size; returns how much longer each operation takes on the largest."""
    growth = {}
    for url in urls:
        found = []
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                fill(placed(url, folder), size)
                found.append(measure(placed(url, folder)))
            if size == sizes[0]:
                heads = "".join(f"{key:>11}" for key in found[0])
                print(f"\n{url + ', ms':<14} {title:>8}{heads}")
            values = "".join(f"{value:>11.2f}" for value in found[-1].values())
            print(f"{'':<14} {size:>8,}{values}")
        growth[url] = {key: found[-1][key] / found[0][key] for key in found[0]}
        print(f"{'':<14} {'times':>8}" + "".join(f"{one:>11.1f}" for one in growth[url].values()))
        if "list" in growth[url]:
            growth[url]["faster"] = found[-1]["every file"] / found[-1]["list"]
    return growth


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("urls", nargs="*", default=["files"], metavar="URL")
    parser.add_argument("--quick", action="store_true", help="a few seconds: less of everything")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        what, url, *numbers = arguments.urls
        work(what, url, *map(int, numbers))
        return 0
    boards: tuple[int, ...]
    count, boards, inboxes = 2_000, (100, 10_000, 100_000), (100, 100_000)
    if arguments.quick:
        count, boards, inboxes = 300, (10, 1_000), (100, 10_000)
    urls = arguments.urls
    wrong = contest("mail", mails, [*urls, *YARDSTICKS], count)
    misplaced = contest("claims", claims, urls, count)
    tasks = by_size("tasks", fill_board, on_a_board, urls, boards)
    inbox = by_size("mails", fill_inbox, in_an_inbox, urls, inboxes)
    faults = [f"{url}: {wrong[url]} messages lost or twice" for url in urls if wrong[url]]
    faults += [f"{url}: {misplaced[url]} tasks with another" for url in urls if misplaced[url]]
    faults += [] if wrong["blanked"] else ["the blanked inbox has lost nothing: a longer run"]
    for url in urls:
        grown = {"claim": tasks[url]["claim"], "get": tasks[url]["get"]}
        grown |= {key: inbox[url][key] for key in ("send", "take")}
        faults += [f"{url}: {key} × {much:.1f}" for key, much in grown.items() if much > 5]
    if "files" in urls and tasks["files"]["faster"] < 3:
        faults.append(f"files: a list takes 1/{tasks['files']['faster']:.1f} of every file's time")
    print("", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

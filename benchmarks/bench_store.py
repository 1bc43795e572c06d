"""The store and the board, against the ways that lose and the way of a database.

Counting up one number in a shared document: with the store's lock and rename; bare, reading and
writing without a lock (which loses counts as soon as there are two processes); and in sqlite, in
WAL mode. Then the time of listing and of claiming on boards of 10, 100 and 1,000 tasks, against
somebody who reads every file on each poll.

    python benchmarks/bench_store.py [--quick]

Exits with 1 when the store loses a count, when bare writing loses none (then nothing was tested),
when a claim takes more than five times as long on 1,000 tasks as on 10, or when listing 1,000
tasks is not at least three times as fast as reading every file.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnkit import TaskBoard
from learnkit.backends.files.store import Document, write_together
from learnkit.backends.task import Task

PROCESSES = 2
BOARDS = (10, 100, 1_000)


def store(folder: Path, times: int) -> None:
    document = Document(folder / "count.json")
    for _ in range(times):
        with document.change({"n": 0}) as value:
            value["n"] += 1


def bare(folder: Path, times: int) -> None:
    path = folder / "count.json"
    for _ in range(times):
        try:
            value = json.loads(path.read_text())
        except (FileNotFoundError, ValueError):
            value = {"n": 0}  # not there yet, or torn by the other one: all is lost
        value["n"] += 1
        path.write_text(json.dumps(value))


def sqlite(folder: Path, times: int) -> None:
    connection = sqlite3.connect(folder / "count.db", timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # the store does not wait for the disk either
    connection.execute("CREATE TABLE IF NOT EXISTS count (id INTEGER PRIMARY KEY, n INTEGER)")
    connection.execute("INSERT OR IGNORE INTO count VALUES (1, 0)")
    for _ in range(times):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE count SET n = n + 1 WHERE id = 1")
        connection.execute("COMMIT")
    connection.close()


WAYS: dict[str, Callable[[Path, int], None]] = {"store": store, "bare": bare, "sqlite": sqlite}


def counted(way: str, folder: Path) -> int:
    if way == "sqlite":
        with sqlite3.connect(folder / "count.db") as connection:
            (number,) = connection.execute("SELECT n FROM count").fetchone()
        connection.close()
        return int(number)
    try:
        return int(json.loads((folder / "count.json").read_text())["n"])
    except ValueError:
        return 0


def together(way: str, times: int) -> tuple[float, int]:
    """Operations a second of two processes, and how many counts were lost."""
    with tempfile.TemporaryDirectory() as name:
        WAYS[way](Path(name), 0)  # a database is made by one
        command = [sys.executable, __file__, "--work", way, name, str(times)]
        workers = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(PROCESSES)
        ]
        for worker in workers:
            worker.stdout.readline()  # type: ignore[union-attr]
        began = time.perf_counter()
        for worker in workers:
            worker.stdin.write(b"go\n")  # type: ignore[union-attr]
            worker.stdin.flush()  # type: ignore[union-attr]
        for worker in workers:
            worker.communicate()
        took = time.perf_counter() - began
        return PROCESSES * times / took, PROCESSES * times - counted(way, Path(name))


def alone(way: str, times: int) -> float:
    """Operations a second of one process."""
    with tempfile.TemporaryDirectory() as name:
        WAYS[way](Path(name), 3)
        began = time.perf_counter()
        WAYS[way](Path(name), times)
        return times / (time.perf_counter() - began)


def board_of(folder: Path, size: int) -> TaskBoard:
    """A board on which every tenth task waits for the one before."""
    tasks = []
    for id in range(1, size + 1):
        waits = (id - 1,) if id % 10 == 0 else ()
        blocks = (id + 1,) if id % 10 == 9 and id < size else ()
        tasks.append(
            Task(
                id,
                f"step {id}",
                "read the station file and report " * 5,
                blocked_by=waits,
                blocks=blocks,
            )
        )
    write_together(folder, {task.file: task.to_json() for task in tasks})
    return TaskBoard(folder)


def milliseconds(act: Callable[[int], Any], times: int) -> float:
    best = float("inf")
    for number in range(times):
        began = time.perf_counter()
        act(number)
        best = min(best, time.perf_counter() - began)
    return 1_000 * best


def every_file(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in folder.glob("task_*.json")]


def boards(times: int) -> tuple[dict[int, float], dict[int, float]]:
    """Prints a line a board; returns the times of a claim, and how much faster listing is."""
    claims, faster = {}, {}
    print(f"\n{'tasks':>6} {'list':>9} {'every file':>11} {'ratio':>6} {'claim':>9} {'ready':>9}")
    for size in BOARDS:
        with tempfile.TemporaryDirectory() as name:
            board = board_of(Path(name), size)
            listing = milliseconds(lambda _, board=board: board.tasks(), times)
            reading = milliseconds(lambda _, name=name: every_file(Path(name)), times)
            ready = milliseconds(lambda _, board=board: board.ready(), times)

            def claim(number: int, board: TaskBoard = board) -> None:
                board.claim(number + 1, "alice")

            claims[size] = milliseconds(claim, 8)
            faster[size] = reading / listing
        print(
            f"{size:>6,} {listing:>6.2f} ms {reading:>8.2f} ms {1 / faster[size]:>6.2f} "
            f"{claims[size]:>6.2f} ms {ready:>6.2f} ms"
        )
    return claims, faster


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer operations")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        way, folder, times = arguments.work
        print("ready", flush=True)
        sys.stdin.readline()
        WAYS[way](Path(folder), int(times))
        return 0
    times = 300 if arguments.quick else 1_500
    print(f"{'':>8} {'one process':>14} {'two processes':>15} {'lost':>7}")
    lost = {}
    for way in WAYS:
        single = alone(way, times)
        double, lost[way] = together(way, times)
        print(f"{way:>8} {single:>10,.0f} /s {double:>11,.0f} /s {lost[way]:>7,}")
    claims, faster = boards(10 if arguments.quick else 40)
    growth = claims[BOARDS[-1]] / claims[BOARDS[0]]
    print(f"\na claim on {BOARDS[-1]:,} tasks against {BOARDS[0]}: × {growth:.2f}")
    wrong = lost["store"] or not lost["bare"] or growth > 5 or faster[BOARDS[-1]] < 3
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

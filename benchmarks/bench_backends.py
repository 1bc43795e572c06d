"""Tasks and mail on files, on SQLite, and on a PostgreSQL for tests whose address you may give.

    python benchmarks/bench_backends.py [--quick] [ADDRESS]

Size: the best milliseconds of each operation on a board of 50 and of 1,000 tasks, and in an inbox
of 100 and of 2,000 messages of which one is new. Budget: an operation takes at most five times as
long on the larger one; a list may do so for each of its tasks.

Contest: 1 and 4 writers, each a process of its own, send mail to one inbox, and its reader empties
it meanwhile. Budget: no message is lost, and none comes twice.

Exits with 1 when a budget is not kept. In a PostgreSQL the teams of the run stay.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from tables import arguments, over, row, seconds

import learnkit as lk
from learnkit.backends.interface import Backend, InboxReader

SIZES = ((50, 100), (1_000, 2_000))  # tasks, messages
TEXT = "read the station file and report " * 5


def take(inbox: InboxReader) -> list[str]:
    """The contents of what is new."""
    found = [mail.content for mail in inbox.take()]
    inbox.commit()
    return found


def costs(backend: Backend, tasks: int, messages: int, rounds: int) -> dict[str, float]:
    """Fill a board and an inbox; returns the best milliseconds of each operation."""
    team = f"bench-{uuid.uuid4().hex[:12]}"
    board, mail, ids = backend.board(team), backend.mail(team), itertools.count(1)
    mail.open("alice")
    inbox = mail.reader("alice")
    operations: dict[str, Callable[[], object]] = {
        "claim": lambda: board.claim(next(ids), "alice"),
        "get": lambda: board.get(7),
        "create": lambda: board.create("read a file", TEXT),
        "list": board.tasks,
        "send": lambda: mail.send("bob", "alice", TEXT),
        "take": lambda: take(inbox),
    }
    for _ in range(tasks):
        operations["create"]()
    for _ in range(messages):
        operations["send"]()
    take(inbox)
    times = {name: [seconds(act)] for name, act in operations.items()}
    for _ in range(rounds):
        for name, act in operations.items():
            times[name].append(seconds(act))
    return {name: 1000 * min(spent) for name, spent in times.items()}


def growth(name: str, backend: Backend, rounds: int) -> bool:
    """Print what operations cost by size; returns whether one grows too much."""
    small, large = (costs(backend, *sizes, rounds) for sizes in SIZES)
    more = {operation: large[operation] / small[operation] for operation in large}
    more["list"] /= SIZES[1][0] / SIZES[0][0]
    row(f"{name}, ms", *small)
    for (tasks, messages), found in zip(SIZES, (small, large), strict=True):
        row(f"{tasks:,} tasks, {messages:,} mails", *found.values())
    row("growth (list: of each task)", *more.values())
    return over(f"{name}: times as long", max(more.values()), 5)


def write(address: str, team: str, writer: str, each: int, start: threading.Barrier) -> None:
    """Send so many messages; runs in a process of its own."""
    backend = lk.open_backend(address)
    mail = backend.mail(team)
    start.wait(60)
    for number in range(each):
        mail.send(writer, "alice", f"{writer}-{number}")
    backend.close()


def contest(address: str, backend: Backend, writers: int, each: int) -> bool:
    """Print how fast several writers are; returns whether a message was lost or came twice."""
    team = f"bench-{uuid.uuid4().hex[:12]}"
    mail, got = backend.mail(team), Counter[str]()
    mail.open("alice")
    inbox = mail.reader("alice")
    names = [f"w{number}" for number in range(writers)]
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, ProcessPoolExecutor(writers, spawn) as pool:
        start = manager.Barrier(writers + 1)
        writing = [pool.submit(write, address, team, name, each, start) for name in names]
        start.wait(60)
        begin = time.perf_counter()
        while not all(writer.done() for writer in writing):
            got.update(take(inbox))
            time.sleep(0.002)
        spent = time.perf_counter() - begin
        for writer in writing:
            writer.result()
    got.update(take(inbox))
    sent = Counter(f"{name}-{number}" for name in names for number in range(each))
    lost, twice = (sent - got).total(), (got - sent).total()
    row(f"writers: {writers}", int(writers * each / spent), lost, twice)
    return lost + twice > 0


def main() -> int:
    options = arguments(__doc__, "address")
    rounds, each = (10, 100) if options.quick else (25, 1_000)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        addresses = [f"files:{folder}", f"sqlite:///{folder}/team.db", options.address]
        for address in filter(None, addresses):
            name = address.partition(":")[0]
            backend = lk.open_backend(address, create=True)
            failed |= growth(name, backend, rounds)
            row(f"{name}, mail", "a second", "lost", "twice")
            for writers in (1, 4):
                failed |= contest(address, backend, writers, each)
            backend.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())

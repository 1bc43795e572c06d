"""Tasks and mail on files, on SQLite, and on a PostgreSQL for tests whose address you may give.

    python benchmarks/bench_backends.py [--quick] [ADDRESS]

The best milliseconds of each operation on a board of 50 and of 1,000 tasks, and in an inbox of 100
and of 2,000 messages of which one is new. Budget: an operation takes at most five times as long on
the larger one; a list may do so for each of its tasks. Exits with 1 when the budget is not kept. In
a PostgreSQL the teams of the run stay.
"""

import itertools
import math
import sys
import tempfile
import uuid
from collections.abc import Callable

from tables import arguments, over, row, seconds

import learnkit as lk
from learnkit.backends.interface import Backend, InboxReader

TEXT = "read the station file and report " * 5


def take(inbox: InboxReader) -> list[str]:
    """The contents of what is new."""
    found = [mail.content for mail in inbox.take()]
    inbox.commit()
    return found


def costs(backend: Backend, tasks: int, messages: int, rounds: int) -> dict[str, float]:
    """Fill a board and an inbox; returns the best milliseconds of each operation."""
    team, ids = str(uuid.uuid4()), itertools.count(1)
    board, mail = backend.board(team), backend.mail(team)
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
    for operation, times in (("create", tasks), ("send", messages), ("take", 1)):
        for _ in range(times):
            operations[operation]()
    best = dict.fromkeys(operations, math.inf)
    for _ in range(rounds):
        for operation, act in operations.items():
            best[operation] = min(best[operation], 1000 * seconds(act))
    return best


def growth(name: str, backend: Backend, rounds: int) -> bool:
    """Print what operations cost by size; returns whether one grows too much."""
    small, large = costs(backend, 50, 100, rounds), costs(backend, 1_000, 2_000, rounds)
    more = {operation: large[operation] / small[operation] for operation in large}
    more["list"] /= 1_000 / 50
    row(f"{name}, ms", *small)
    row("50 tasks, 100 mails", *small.values())
    row("1,000 tasks, 2,000 mails", *large.values())
    row("growth (list: of each task)", *more.values())
    return over(f"{name}: times as long", max(more.values()), 5)


def main() -> int:
    options = arguments(__doc__, "address")
    rounds = 10 if options.quick else 25
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        addresses = [f"files:{folder}", f"sqlite:///{folder}/team.db", options.address]
        for address in filter(None, addresses):
            name = address.partition(":")[0]
            backend = lk.open_backend(address, create=True)
            failures.append(growth(name, backend, rounds))
            backend.close()
    return any(failures)


if __name__ == "__main__":
    sys.exit(main())

"""How many mails a reader misses that asks for "id greater than the last one I have seen".

Twelve writers, each with a connection of its own, insert 2,400 mails into one table of PostgreSQL.
An id is given when a row is inserted, and the row is visible when its transaction is committed, so
ids become visible out of order. Meanwhile one reader looks again and again. In the first run it
asks for greater ids, and in the second one it marks each row that it has read.

    python benchmarks/bench_last_seen.py [--quick]

Begin, insert and commit are three statements, without a pause. The server is made for the run and
removed again. Exits with 1 when the marks miss a mail, or the greater ids miss none (then nothing
was tested).
"""

from __future__ import annotations

import argparse
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from postgres import Cluster

WRITERS = 12


def write(server: Cluster, each: int) -> None:
    """Insert mails, each in a transaction of its own."""
    with server.connect() as connection:
        for _ in range(each):
            with connection.transaction():
                connection.execute("INSERT INTO mail DEFAULT VALUES")


def by_last(server: Cluster, over: threading.Event) -> set[int]:
    """Read the mails whose id is greater than the last one that was seen."""
    found, last, ends = set[int](), 0, False
    with server.connect() as connection:
        while not ends:
            ends = over.is_set()  # look once more after the last commit
            for (id,) in connection.execute("SELECT id FROM mail WHERE id > %s", [last]):
                found.add(id)
            last = max(found, default=0)
    return found


def by_mark(server: Cluster, over: threading.Event) -> set[int]:
    """Read the mails that are not done, and mark them."""
    found, ends = set[int](), False
    with server.connect() as connection:
        while not ends:
            ends = over.is_set()
            rows = connection.execute("UPDATE mail SET done = true WHERE NOT done RETURNING id")
            found |= {id for (id,) in rows}
    return found


def missed(server: Cluster, reader: Any, each: int) -> int:
    """How many of the mails a reader has not got."""
    with server.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS mail")
        connection.execute("CREATE TABLE mail (id serial PRIMARY KEY, done bool DEFAULT false)")
    over = threading.Event()
    with ThreadPoolExecutor(WRITERS + 1) as pool:
        reads = pool.submit(reader, server, over)
        writes = [pool.submit(write, server, each) for _ in range(WRITERS)]
        for one in writes:
            one.result()
        over.set()
        return WRITERS * each - len(reads.result())


def main() -> int:
    """Print what each reader has missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a quarter of the mails")
    each = 50 if parser.parse_args().quick else 200
    server = Cluster()
    try:
        server.start()
        with server.connect() as connection:
            (version,) = connection.execute("SHOW server_version").fetchone() or ("?",)
        lost = {reader: missed(server, reader, each) for reader in (by_last, by_mark)}
    finally:
        server.remove()
    sent = f"of {WRITERS * each:,} mails"
    print(f"PostgreSQL {version}, {WRITERS} writers")
    print(f"id greater than the last one seen: {lost[by_last]} {sent} lost")
    print(f"a mark for each row:               {lost[by_mark]} {sent} lost")
    return 1 if lost[by_mark] or not lost[by_last] else 0


if __name__ == "__main__":
    sys.exit(main())

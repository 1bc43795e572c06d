"""How many mails a reader misses that asks for "id greater than the last one I have seen".

    python benchmarks/bench_last_seen.py [--quick]

Twelve writers, each with a connection of its own, insert 2,400 mails (with --quick 600) into one
table of a PostgreSQL that is made for the run. An id is given when a row is inserted, and the row
is visible when its transaction is committed, so ids become visible out of order. Meanwhile one
reader looks again and again: first for greater ids, in a second run for rows without a mark. Exits
with 1 when the marks miss a mail, or the greater ids miss none (then nothing was tested).
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tables import arguments, row

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from postgres import Cluster

WRITERS = 12
GREATER = "SELECT id FROM mail WHERE id > %(last)s"
UNMARKED = "UPDATE mail SET done = true WHERE NOT done RETURNING id"


def write(server: Cluster, each: int) -> int:
    """Insert mails: begin, insert and commit are three statements, without a pause."""
    with server.connect() as connection:
        for _ in range(each):
            with connection.transaction():
                connection.execute("INSERT INTO mail DEFAULT VALUES")
    return each


def missed(server: Cluster, query: str, each: int) -> int:
    """How many of the mails a reader has not got that asks again and again."""
    found, ends = set[int](), False
    with server.connect() as connection, ThreadPoolExecutor(WRITERS) as pool:
        connection.execute("DROP TABLE IF EXISTS mail")
        connection.execute("CREATE TABLE mail (id serial PRIMARY KEY, done bool DEFAULT false)")
        writers = [pool.submit(write, server, each) for _ in range(WRITERS)]
        while not ends:
            ends = all(writer.done() for writer in writers)  # once more after the last commit
            last = max(found, default=0)
            found |= {id for (id,) in connection.execute(query, {"last": last})}
    return sum(writer.result() for writer in writers) - len(found)


each = 50 if arguments(__doc__).quick else 200
server = Cluster()
try:
    server.start()
    with server.connect() as connection:
        print(f"PostgreSQL {connection.info.server_version // 10_000}, {WRITERS} writers")
    greater, unmarked = (missed(server, query, each) for query in (GREATER, UNMARKED))
finally:
    server.remove()
row("the reader asks for", "lost", "mails")
row("id > the last one seen", greater, WRITERS * each)
row("rows without a mark", unmarked, WRITERS * each)
sys.exit(unmarked > 0 or greater == 0)

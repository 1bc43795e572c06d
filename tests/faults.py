"""Teams whose teammates are killed: ``python -m tests.faults --kills 100``.

Each run has four ``learnkit join`` processes. They are killed at random points and started again,
or stopped for longer than a lease. With ``--postgres``, a server of its own is restarted meanwhile
and lines to it are cut. It says what happened, and what was lost or done twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

from fault_run import Run, Server, postgres, sqlite


def main() -> int:
    """Make the runs; return 1 if something was lost or done twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="in each run (100)")
    parser.add_argument("--tasks", type=int, default=60, help="at least so many in each run (60)")
    parser.add_argument("--runs", type=int, default=1, help="how many (1)")
    parser.add_argument("--seed", type=int, default=0, help="of the first run (0)")
    parser.add_argument("--url", default="", help="an empty database; by default SQLite")
    parser.add_argument("--postgres", action="store_true", help="a PostgreSQL server of its own")
    parser.add_argument("--restarts", type=int, default=10, help="of that server (10)")
    parser.add_argument("--cuts", type=int, default=30, help="of lines to that server (30)")
    options = parser.parse_args()
    bad = False
    for seed in range(options.seed, options.seed + options.runs):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as name, _database(options, Path(name)) as (url, server):
            summary = Run(Path(name), url, options.kills, seed, server).go(options.tasks)
        seconds = time.monotonic() - began
        print(f"seed {seed}: {summary}, seconds {seconds:.0f}", flush=True)
        print(*summary.problems[:20], sep="\n", end="\n" if summary.problems else "", flush=True)
        bad = bad or bool(summary.problems)
    return int(bad)


@contextmanager
def _database(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Server | None]]:
    """An address, and the server there if it may be made to fail."""
    if options.postgres:
        with postgres(options.restarts, options.cuts) as place:
            yield place
    else:
        yield options.url or sqlite(folder), None


if __name__ == "__main__":
    sys.exit(main())

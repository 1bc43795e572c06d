"""Teams whose teammates are killed: ``python -m tests.faults --kills 100``.

Each run has four ``learnkit join`` processes. They are killed at random points and started again,
or stopped for longer than a lease. It says what happened, and what was lost or done twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

from fault_run import Run, sqlite


def main() -> int:
    """Make the runs; return 1 if something was lost or done twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="in each run (100)")
    parser.add_argument("--tasks", type=int, default=60, help="at least so many in each run (60)")
    parser.add_argument("--runs", type=int, default=1, help="how many (1)")
    parser.add_argument("--seed", type=int, default=0, help="of the first run (0)")
    parser.add_argument("--url", default="", help="an empty database; by default SQLite")
    options = parser.parse_args()
    bad = False
    for seed in range(options.seed, options.seed + options.runs):
        with tempfile.TemporaryDirectory() as folder:
            url = options.url or sqlite(Path(folder))
            summary = Run(Path(folder), url, options.kills, seed).go(options.tasks)
        print(f"seed {seed}: {summary}", flush=True)
        print(*summary.problems[:20], sep="\n", end="\n" if summary.problems else "", flush=True)
        bad = bad or bool(summary.problems)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())

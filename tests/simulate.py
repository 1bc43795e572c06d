"""Random teams, as many as you like: ``python -m tests.simulate --seeds 1000``.

A seed that fails is named, with the command that runs it again; its log is saved.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

from simulated import simulate


def main() -> int:
    """Run the seeds; return 1 if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many (200)")
    parser.add_argument("--start", type=int, default=0, help="the first one (0)")
    parser.add_argument("--log", action="store_true", help="print the log of each run")
    options = parser.parse_args()
    failed, events, seconds, began = [], 0, 0.0, time.monotonic()
    for seed in range(options.start, options.start + options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                run = simulate(seed, Path(folder))
            except Exception as error:
                failed.append(seed)
                print(f"seed {seed}: {type(error).__name__}: {error}")
                print(f"  again: python -m tests.simulate --seeds 1 --start {seed}")
                continue
        events += len(run.lead.events)
        seconds += run.clock.time()
        if options.log:
            print(run.lead.events)
    took = time.monotonic() - began
    passed = options.seeds - len(failed)
    print(f"{passed} of {options.seeds} teams passed: {events:,} events,", end=" ")
    print(f"{seconds / 3600:,.1f} virtual hours in {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

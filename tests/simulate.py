"""Random teams, as many as you like: ``python -m tests.simulate --seeds 1000``.

A seed that fails is named, with the command that runs it again and the file of its log. With
``--wall`` threads decide who is first, so that another run of the seed may pass.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

from simulated import closing_lines, interrupted_line, simulate

from learnkit import EventLog


def main() -> int:
    """Run the seeds; return 1 if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many (200)")
    parser.add_argument("--start", type=int, default=0, help="the first one (0)")
    parser.add_argument("--log", action="store_true", help="print the log of each run")
    parser.add_argument("--wall", action="store_true", help="run on the wall clock, 100 x as fast")
    parser.add_argument(
        "--interrupt", action="store_true", help="press Ctrl-C somewhere in each, or in its end"
    )
    parser.add_argument("--within", type=float, default=float("inf"), help="begin no seed after s")
    options = parser.parse_args()
    failed, events, seconds, began, tried = [], 0, 0.0, time.monotonic(), 0
    for seed in range(options.start, options.start + options.seeds):
        if time.monotonic() - began > options.within:
            break
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                line, closing = 0, []
                if options.interrupt and seed % 2:
                    closing = closing_lines(seed)
                elif options.interrupt:
                    line = interrupted_line(seed)
                run = simulate(
                    seed, Path(folder), real=options.wall, interrupt=line, closing=closing
                )
            except Exception as error:
                failed.append(seed)
                print(f"seed {seed}: {type(error).__name__}: {error}")
                again = " --wall" if options.wall else ""
                again += " --interrupt" if options.interrupt else ""
                print(f"  again: python -m tests.simulate --seeds 1 --start {seed}{again}")
                if isinstance(log := getattr(error, "log", None), EventLog):
                    file = Path(tempfile.gettempdir()) / f"simulated-team-{seed}.jsonl"
                    log.save(file)
                    print(f"  log: {file}")
                continue
        events += len(run.lead.events)
        seconds += run.lead.events[-1].time
        if options.log:
            print(run.lead.events)
    took = time.monotonic() - began
    if tried < options.seeds:
        print(f"stopped after {options.within:g} s, before seed {options.start + tried}")
    print(f"{tried - len(failed)} of {tried} teams passed: {events:,} events,", end=" ")
    print(f"{seconds / 3600:,.2f} {'' if options.wall else 'virtual '}hours in {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

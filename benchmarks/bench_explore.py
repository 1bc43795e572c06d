"""What one move of an explorable costs in Python: its function, and the message that is sent.

    python benchmarks/bench_explore.py [--quick]

Every state of the twelve lessons' explorables is made once, at the width of a notebook; the times
are absolute, the median and the slowest of each. In a page the message is sent and painted on top
of this: tests/browser/test_explore.py prints the time from a drag to its picture. Ends with 1 when
the median of the heaviest is above the 100 ms that a reader takes for at once.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from importlib import import_module
from itertools import product

from learnkit.widget.explore import Explorable

BUDGET = 0.1  # seconds
LESSONS = [f"s{number:02}" for number in range(1, 13)]


def measure(shown: Explorable, every: int) -> tuple[list[float], list[int]]:
    """Seconds and bytes of each answer; of one state in so many."""
    names = list(shown.controls)
    states = product(*(range(len(control.values)) for control in shown.controls.values()))
    seconds, sizes = [], []
    for places in list(states)[::every]:
        begin = time.perf_counter()
        message = json.dumps(shown.message(dict(zip(names, places, strict=True))))
        seconds.append(time.perf_counter() - begin)
        sizes.append(len(message.encode()))
    return seconds, sizes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the states")
    every = 4 if parser.parse_args().quick else 1
    heaviest = 0.0
    print(f"{'lesson':<8}{'states':>7}{'median ms':>11}{'slowest ms':>12}{'bytes':>9}")
    for name in LESSONS:
        module = import_module(f"learnkit.course.lessons.{name}.explorable")
        seconds, sizes = measure(module.explorable(), every)
        median = statistics.median(seconds)
        heaviest = max(heaviest, median)
        times = f"{1000 * median:>11.2f}{1000 * max(seconds):>12.2f}"
        print(f"{name:<8}{len(seconds):>7}{times}{statistics.median(sizes):>9,.0f}")
    print(f"the heaviest: {1000 * heaviest:.1f} ms of {1000 * BUDGET:.0f}")
    return 1 if heaviest > BUDGET else 0


if __name__ == "__main__":
    sys.exit(main())

"""What one move of an explorable costs in Python: its function, and the message that is sent.

    python benchmarks/bench_explore.py [--quick]

Every state of the lessons' explorables is made once (with --quick every fourth). Budget: 100 ms for
the median of the heaviest, which a reader takes for at once; above it, exits with 1.
"""

import json
import statistics
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import product

from tables import arguments, over, row, seconds

from learnkit.widget.explore import Explorable


def move(shown: Explorable, places: tuple[int, ...]) -> str:
    return json.dumps(shown.message(dict(zip(shown.controls, places, strict=True))))


every = 4 if arguments(__doc__).quick else 1
medians = []
row("lesson", "states", "median ms", "slowest ms")
for lesson in (f"s{number:02}" for number in range(1, 13)):
    module = f"learnkit.course.lessons.{lesson}.explorable"
    if not find_spec(module):  # it has a game instead
        continue
    shown = import_module(module).explorable()
    states = product(*(range(len(control.values)) for control in shown.controls.values()))
    times = [1000 * seconds(move, shown, places) for places in list(states)[::every]]
    medians.append(statistics.median(times))
    row(lesson, len(times), medians[-1], max(times))
sys.exit(over("ms of the heaviest", max(medians), 100))

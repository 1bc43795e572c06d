"""What ``import learnkit`` costs more than starting Python, in fresh processes.

    python benchmarks/bench_import.py [--quick]

Budget: 0.15 s. Exits with 1 beyond twice the budget.
"""

from __future__ import annotations

import subprocess
import sys
import time

BUDGET = 0.15
PROGRAMS = {
    "bare Python": "pass",
    "import learnkit": "import learnkit",
    "and lk.Agent, lk.EventLog": "import learnkit as lk; lk.Agent; lk.EventLog",
    "import anthropic": "import anthropic",
}


def seconds(program: str) -> float:
    """How long a fresh Python takes for a program."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - begin


def main() -> int:
    """Measure in turn, print, and say whether it is far beyond the budget."""
    rounds = 3 if "--quick" in sys.argv else 15
    times = {
        name: min(seconds(program) for _ in range(rounds)) for name, program in PROGRAMS.items()
    }
    bare = times["bare Python"]
    for name, spent in times.items():
        print(f"{name:28} {spent:6.3f} s   {spent - bare:+.3f} s")
    cost = max(times["import learnkit"], times["and lk.Agent, lk.EventLog"]) - bare
    print(f"budget {BUDGET} s: {'kept' if cost <= BUDGET else 'not kept'}")
    return int(cost > 2 * BUDGET)


if __name__ == "__main__":
    sys.exit(main())

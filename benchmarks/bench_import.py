"""What ``import learnkit`` costs more than starting Python, in fresh processes; the best of 15.

    python benchmarks/bench_import.py [--quick]

Budget: 0.15 s. Exits with 1 beyond twice the budget.
"""

import subprocess
import sys

from tables import arguments, over, seconds

OURS = ("import learnkit", "import learnkit as lk; lk.Agent; lk.EventLog")

rounds = 3 if arguments(__doc__).quick else 15
spent = {}
for program in ("pass", *OURS, "import anthropic"):
    command = [sys.executable, "-c", program]
    spent[program] = min(seconds(subprocess.run, command, check=True) for _ in range(rounds))
    print(f"{program:<46} {spent[program]:.3f} s  {spent[program] - spent['pass']:+.3f} s")
cost = max(spent[program] for program in OURS) - spent["pass"]
sys.exit(over("seconds more than a bare Python", cost, 0.15, margin=2))

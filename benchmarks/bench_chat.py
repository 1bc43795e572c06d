"""How long ``learnkit chat`` takes from its start to the first prompt, in a terminal.

    python benchmarks/bench_chat.py [--quick]

Budget: 1.5 s, the median of five, for a live chat and for a recording. Exits with 1 beyond twice
the budget.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGET = 1.5
CHAT = [sys.executable, "-c", "from learnkit.terminal.cli import main; main()", "chat"]


def bare() -> float:
    """Seconds that a Python takes that does nothing."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - begin


def until(mark: str, *arguments: str) -> float:
    """Seconds until a chat has shown something in its terminal.

    Args:
        mark: what it shows.
        arguments: of the chat.
    """
    main, side = pty.openpty()
    with tempfile.TemporaryDirectory() as folder:
        # Nothing is sent before a prompt is typed.
        env = {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
        env |= {"ANTHROPIC_API_KEY": "none", "XDG_STATE_HOME": folder}
        begin = time.perf_counter()
        chat = subprocess.Popen(
            [*CHAT, *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            env={**os.environ, **env},
            start_new_session=True,
        )
        try:
            shown = b""
            while mark.encode() not in shown:
                if not select.select([main], [], [], 60)[0]:
                    raise SystemExit(f"no {mark!r} within a minute: {shown!r}")
                shown += os.read(main, 65536)
            spent = time.perf_counter() - begin
            os.write(main, b"\x04")
            chat.wait(timeout=60)
        finally:
            chat.kill()
            chat.wait()
            os.close(side)
            os.close(main)
    return spent


def main() -> int:
    """Measure in turn, print, and say whether it is far beyond the budget."""
    measured = {
        "python -c pass": bare,
        "chat: the first prompt": lambda: until("> "),
        "chat: ready to send": lambda: until("/help lists"),
        "chat --replay s12: the first prompt": lambda: until("> ", "--replay", "s12"),
        "chat --replay s12: ready to play": lambda: until("Press Enter", "--replay", "s12"),
    }
    rounds = 1 if "--quick" in sys.argv else 5
    times: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, measure in measured.items():
            times[name].append(measure())
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    for name, spent in medians.items():
        print(f"{name:36} {spent:6.3f} s")
    worst = max(spent for name, spent in medians.items() if name.endswith("prompt"))
    print(f"budget {BUDGET} s: {'kept' if worst <= BUDGET else 'not kept'}")
    return int(worst > 2 * BUDGET)


if __name__ == "__main__":
    sys.exit(main())

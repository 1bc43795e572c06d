"""How long ``learnkit chat`` takes from its start to the first prompt, in a terminal.

    python benchmarks/bench_chat.py [--quick]

Budget: 1.5 s, the median of five, for a live chat and for a recording. Exits with 1 beyond twice
the budget. The time until all is loaded is printed, too.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect
from tables import arguments, over, row

ROOT = Path(__file__).resolve().parents[1]
CHAT = ["-c", "from learnkit.terminal.cli import main; main()", "chat"]


def until(mark: str, *words: str) -> float:
    """Seconds until a chat with these words on its command line shows a mark."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": folder}
        env |= {"TERM": "xterm-256color", "ANTHROPIC_API_KEY": "none"}  # nothing is sent
        begin = time.perf_counter()
        with pexpect.spawn(sys.executable, [*CHAT, *words], 60, cwd=folder, env=env) as chat:
            chat.expect_exact(mark)
            spent = time.perf_counter() - begin
            chat.sendeof()
            chat.expect(pexpect.EOF)
    return spent


rounds = 1 if arguments(__doc__).quick else 5
prompts = []
row("median seconds", "prompt", "ready")
for words, ready in ([], "/help lists"), (["--replay", "s12"], "Press Enter"):
    prompts.append(statistics.median(until("> ", *words) for _ in range(rounds)))
    loaded = statistics.median(until(ready, *words) for _ in range(rounds))
    row(" ".join(["chat", *words]), prompts[-1], loaded)
sys.exit(over("seconds to the first prompt", max(prompts), 1.5, margin=2))

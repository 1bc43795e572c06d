"""How long ``learnkit chat`` takes from its start to the first prompt, in a terminal.

    python benchmarks/bench_chat.py [--quick]

Budget: 1.5 s, the median of five. Exits with 1 beyond twice the budget. The time until all is
loaded is printed, too.
"""

import os
import statistics
import sys
import tempfile
import time

import pexpect
from tables import arguments, over, row

CHAT = ["-c", "from learnkit.terminal.cli import main; main()", "chat"]


def until(mark: str) -> float:
    """Seconds until a chat shows a mark."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"XDG_STATE_HOME": folder, "TERM": "xterm-256color"}
        env = {**os.environ, **env, "ANTHROPIC_API_KEY": "none"}  # nothing is sent
        begin = time.perf_counter()
        with pexpect.spawn(sys.executable, CHAT, 60, cwd=folder, env=env) as chat:
            chat.expect_exact(mark)
            spent = time.perf_counter() - begin
            chat.sendeof()
            chat.expect(pexpect.EOF)
    return spent


rounds = 1 if arguments(__doc__).quick else 5
prompt, loaded = (
    statistics.median(until(mark) for _ in range(rounds)) for mark in ("> ", "/help lists")
)
row("median seconds", "prompt", "ready")
row("chat", prompt, loaded)
sys.exit(over("seconds to the first prompt", prompt, 1.5, margin=2))

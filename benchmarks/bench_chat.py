"""How long ``learnkit chat`` takes from its start to the first prompt, in a terminal.

    python benchmarks/bench_chat.py [--quick]

Budget: 1.5 s, the median of five, for a live chat and for a recording. Exits with 1 beyond twice
the budget. The time until all is loaded is printed, too.
"""

import os
import statistics
import sys
import tempfile
import time

import pexpect
from tables import arguments, over, row

CHAT = ["-c", "from learnkit.terminal.cli import main; main()", "chat"]


def until(mark: str, *words: str) -> float:
    """Seconds until a chat with these words on its command line shows a mark."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"XDG_STATE_HOME": folder, "TERM": "xterm-256color"}
        env = {**os.environ, **env, "ANTHROPIC_API_KEY": "none"}  # nothing is sent
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

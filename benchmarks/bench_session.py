"""Opening a session of 1,000 turns up to the first picture, beside ``json.loads`` of every line.

    python benchmarks/bench_session.py [--quick]

Each row is a fresh process: its time and its peak of memory, imports included. The last rows are
of a session of 200 MB, which is not kept whole; --quick leaves them out. Budget: 2 s and 300 MB
for 1,000 turns. Exits with 1 beyond twice a budget. Linux only.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import arguments, over, row

LOADS = "import json\nfor line in open(path, 'rb'): json.loads(line)"
OPEN = "import learnkit as lk\nlog = lk.open_session(path)"
PICTURE = f"{OPEN}\nlk.views.Tokens(log)._repr_mimebundle_()"
PAGE = f"{OPEN}\nfrom learnkit.sessions.page import page\npage(log)"
#: The peak is read from /proc, as getrusage begins with that of the process it was forked from.
MEASURED = """
import re, sys, time
began, path = time.perf_counter(), sys.argv[1]
{}
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(time.perf_counter() - began, int(peak) / 1e3)
"""


def write(path: Path, turns: int, size: int) -> None:
    """Write a session in which each turn reads a file of some size, in characters."""
    lines, parent, usage = [], None, {"input_tokens": 5, "output_tokens": 90}

    def add(kind: str, **fields: object) -> None:
        nonlocal parent
        id, time = f"{len(lines):032x}", f"2026-11-01T{len(lines) // 3600:02}:00:00.000Z"
        about = {"uuid": id, "parentUuid": parent, "timestamp": time, "sessionId": "s"}
        about |= {"version": "2.1.45", "cwd": "/work", "gitBranch": "main", "isSidechain": False}
        lines.append(json.dumps({"type": kind, **about, **fields}))
        parent = id

    add("user", message={"role": "user", "content": "Read all of it"})
    for turn in range(turns):
        text = {"type": "text", "text": f"I'll read part {turn}."}
        given = {"file_path": f"src/part{turn % 40}.py"}
        use = {"type": "tool_use", "id": f"t{turn}", "name": "Read", "input": given}
        for block in (text, use):
            counts = usage | {"cache_read_input_tokens": 9_000 + turn * size // 4}
            message = {"id": f"m{turn}", "role": "assistant", "model": "m", "usage": counts}
            add("assistant", requestId=f"r{turn}", message=message | {"content": [block]})
        content = f"{turn} line of a file\n" * (size // 20)
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": content}
        told = {"type": "text", "file": {"filePath": given["file_path"], "content": content}}
        add("user", message={"role": "user", "content": [result]}, toolUseResult=told)
    path.write_text("\n".join(lines))


def measured(program: str, path: Path, rounds: int) -> tuple[float, float]:
    """Seconds and megabytes of a fresh process; the best of some rounds."""
    command = [sys.executable, "-c", MEASURED.format(program), str(path)]
    runs = [subprocess.run(command, check=True, capture_output=True) for _ in range(rounds)]
    found = [tuple(map(float, run.stdout.split())) for run in runs]
    return min(time for time, _ in found), min(peak for _, peak in found)


quick = arguments(__doc__).quick
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "session.jsonl"
    sizes = [(1_000, 4_000)] if quick else [(1_000, 4_000), (1_000, 100_000)]
    for turns, size in sizes:
        write(path, turns, size)
        row(f"{turns:,} turns, {path.stat().st_size / 1e6:.0f} MB", "seconds", "MB")
        programs = {"json.loads of every line": LOADS, "open_session": OPEN, "the page": PAGE}
        for name, program in programs.items():
            row(name, *measured(program, path, 1 if quick else 5))
        first = measured(PICTURE, path, 1 if quick else 5)
        row("up to the first picture", *first)
        if size == sizes[0][1]:
            small = first
slow = over("seconds up to the first picture", small[0], 2, margin=2)
big = over("megabytes up to the first picture", small[1], 300, margin=2)
sys.exit(slow or big)

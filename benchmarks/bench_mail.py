"""Mail from 1 to 16 writers, ours against the design that reads an inbox and then blanks it.

Each writer is a process of its own; one reader drains meanwhile. Throughput, and what was lost.

    python benchmarks/bench_mail.py [--quick]

Exits with 1 when ours loses a message, or when the other design loses none in the whole run (then
nothing was tested).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnkit.backends.files.mailbox import Inbox, Mailbox

WRITERS = (1, 2, 4, 8, 16)


def ours_write(folder: Path, name: str, count: int) -> None:
    box = Mailbox(folder)
    for number in range(count):
        box.send(name, "alice", f"{name}-{number}")


def blank_write(folder: Path, name: str, count: int) -> None:
    for number in range(count):
        with (folder / "alice.jsonl").open("a") as file:
            file.write(json.dumps({"from": name, "content": f"{name}-{number}"}) + "\n")


def ours_reader(folder: Path) -> Callable[[], list[str]]:
    inbox = Inbox(Mailbox(folder), "alice")

    def drain() -> list[str]:
        mail = [one.content for one in inbox.take()]
        inbox.commit()
        return mail

    return drain


def blank_reader(folder: Path) -> Callable[[], list[str]]:
    path = folder / "alice.jsonl"

    def drain() -> list[str]:
        lines = path.read_text().splitlines()
        path.write_text("")  # what has come in between is gone
        found = []
        for line in lines:
            try:
                found.append(json.loads(line)["content"])
            except ValueError:
                continue  # half a line
        return found

    return drain


DESIGNS: dict[str, tuple[Any, Any]] = {
    "ours": (ours_write, ours_reader),
    "read, then blank": (blank_write, blank_reader),
}


def measured(design: str, writers: int, count: int) -> tuple[float, int]:
    """Messages a second, and how many were lost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Mailbox(folder).open("alice")
        command = [sys.executable, __file__, "--work", design, name]
        started = [
            subprocess.Popen(
                [*command, f"w{number}", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for number in range(writers)
        ]
        for process in started:
            process.stdout.readline()  # type: ignore[union-attr]
        began = time.perf_counter()
        for process in started:
            process.stdin.write(b"go\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        drain, got = DESIGNS[design][1](folder), []
        while any(process.poll() is None for process in started):
            got += drain()
        took = time.perf_counter() - began
        got += drain()
        for process in started:
            process.communicate()
        return writers * count / took, writers * count - len(set(got))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer messages")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        design, folder, name, count = arguments.work
        print("ready", flush=True)
        sys.stdin.readline()
        DESIGNS[design][0](Path(folder), name, int(count))
        return 0
    count = 100 if arguments.quick else 400
    lost = dict.fromkeys(DESIGNS, 0)
    print(f"{'writers':>8}" + "".join(f"{design:>20} {'lost':>6}" for design in DESIGNS))
    for writers in WRITERS:
        line = f"{writers:>8}"
        for design in DESIGNS:
            speed, gone = measured(design, writers, count)
            lost[design] += gone
            line += f"{speed:>17,.0f} /s {gone:>6}"
        print(line)
    return 1 if lost["ours"] or not lost["read, then blank"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""A file system that really has no room left: a small one in memory, in a sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import json, os, sys
from pathlib import Path
from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.mailbox import Mailbox

folder, filler = Path("/small/.tasks"), Path("/small/filler")
board, box = TaskBoard(folder), Mailbox("/small/inbox")
for name in ("alice", "bob"):
    box.open(name)
for number in range(6):
    board.create(f"step {number}", "x" * 3_000)
board.update(2, add_blocked_by=[1], add_blocks=[3])

def fill(leave):
    filler.unlink(missing_ok=True)
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1_024))
        except OSError:
            pass
        file.truncate(max(0, file.tell() - leave))

said = []
for leave in (0, 4_096, 8_192, 12_288, 16_384):  # room for none of the files, for one, for two …
    fill(leave)
    try:
        board.update(2, remove_blocked_by=[1])
        board.update(2, add_blocked_by=[1])
        outcome = "done"
    except OSError as error:
        outcome = error.strerror
        for one in (board, TaskBoard(folder)):
            assert [task.id for task in one.tasks()] == [1, 2, 3, 4, 5, 6]
    full = [task.to_json() for task in board.tasks()]
    parts = [one.name for one in folder.iterdir() if one.name.startswith((".store", ".together"))]
    filler.unlink()
    later = [task.to_json() for task in TaskBoard(folder).tasks()]
    assert later == full, "what failed is not carried out later"
    assert parts == [], parts
    if outcome != "done":
        if not board.get(2).blocked_by:
            board.update(2, add_blocked_by=[1])
    said.append(outcome)

fill(0)
try:
    box.broadcast("lead", "x" * 9_000)
    raise SystemExit("there was room")
except OSError:
    assert box.unread("alice") == box.unread("bob") == []
filler.unlink()
for id in (2, 1, 3, 4, 5, 6):
    assert board.update(id, "deleted") is None
assert board.tasks() == TaskBoard(folder).tasks() == []
print(json.dumps(said))
"""


def test_nothing_that_failed_happens_and_everything_can_be_read() -> None:
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    small = ["--size", str(96 * 1024), "--tmpfs", "/small"]
    done = subprocess.run(
        [bwrap, "--bind", "/", "/", "--dev", "/dev", *small, sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert "No space left on device" in done.stdout
    assert "done" in done.stdout

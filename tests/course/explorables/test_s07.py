"""Lesson 7's explorable: its disks are those that really killed processes leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from learnkit.backends.files.board import TaskBoard
from learnkit.course.lessons.s07.explorable import (
    ATOMIC,
    NAIVE,
    Disk,
    disk,
    draw,
    found,
    moments,
    texts,
)
from learnkit.views.drawing.display import WIDE

SIZE = len(texts()[1])
WRITES = {
    NAIVE: "path.write_text(text)",
    ATOMIC: "from learnkit.runtime import atomic_write; atomic_write.replace(path, text)",
}
KILL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would make an OSError of it
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""
CODE = """
import sys
from pathlib import Path
from learnkit.runtime import atomic_write
path, text = Path(sys.argv[1]), sys.argv[2]
{kill}
{write}
"""


def killed(folder: Path, size: int, way: str) -> Disk:
    """What is there when the kernel has killed a real writer at a size in bytes."""
    path = folder / "task_1.json"
    path.write_text(texts()[0])
    code = CODE.format(kill=KILL.format(size=size), write=WRITES[way])
    run = subprocess.run([sys.executable, "-c", code, str(path), texts()[1]], check=False)
    assert (run.returncode < 0) == (size < SIZE)
    (part,) = list(folder.glob(".*.part")) or [None]
    return Disk(path.read_text(), part.read_text() if part else None)


@pytest.mark.parametrize("way", [NAIVE, ATOMIC])
@pytest.mark.parametrize("moment", [48, SIZE + 1])
def test_a_killed_process_leaves_what_the_picture_shows(
    tmp_path: Path, moment: int, way: str
) -> None:
    assert moment in moments()
    assert killed(tmp_path, min(moment, SIZE), way) == disk(moment, way)


def test_the_board_reads_what_the_next_process_finds(tmp_path: Path) -> None:
    for moment in moments():
        for way in (NAIVE, ATOMIC):
            left = disk(moment, way)
            (tmp_path / "task_1.json").write_text(left.file)
            try:
                status: str | None = TaskBoard(tmp_path).get(1).status
            except Exception:
                status = None
            assert found(left.file) == status


def test_the_picture_says_what_the_next_process_finds() -> None:
    marks = {"completed": "done", "in_progress": "active", None: "failed"}
    for moment in moments():
        answer = draw(WIDE, moment)
        for way in (NAIVE, ATOMIC):
            status = found(disk(moment, way).file)
            assert answer.canvas[f"reads {way}"].mark == marks[status]
            assert answer.canvas[f"file {way}"].mark == marks[status]
        torn = found(disk(moment, NAIVE).file) is None
        assert answer.finding.startswith("Written in place: torn. Written beside") == torn
        assert f"{SIZE} bytes" in answer.assumes

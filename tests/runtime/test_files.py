"""A file is replaced whole or not at all."""

from __future__ import annotations

from pathlib import Path

import dying
import pytest
from full_disk import room

from learnkit.runtime import atomic_write as files


@pytest.mark.parametrize("size", [0, 10])
def test_without_room_the_old_file_stays_and_nothing_is_left_over(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with room(size), pytest.raises(OSError, match="too large"):
        files.replace(path, "new" * 100)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_whenever_the_writer_is_killed_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    met = set()
    for _ in dying.at_every_step(lambda: files.replace(path, "new")):
        met.add(path.read_text())
        path.write_text("old")
    assert met == {"old", "new"}  # new: killed while tidying up
    assert path.read_text() == "new"


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text("old")
    path.chmod(0o750)
    files.replace(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o750
    (tmp_path / "by open").write_text("")
    files.replace(tmp_path / "b.txt", "new")
    assert (tmp_path / "b.txt").stat().st_mode == (tmp_path / "by open").stat().st_mode


def test_text_is_utf8_and_half_a_surrogate_pair_its_escape(tmp_path: Path) -> None:
    files.replace(tmp_path / "a", "grüße \ud83d")
    assert (tmp_path / "a").read_bytes() == "grüße ".encode() + b"\\ud83d"


def test_two_writes_never_look_alike(tmp_path: Path) -> None:
    path = tmp_path / "a"
    stamps = set()
    for number in range(200):
        files.replace(path, str(number % 10))
        stamps.add(path.stat().st_mtime_ns)
    assert len(stamps) == 200
    assert [one.read_text() for one in [files.stage(path, text) for text in "ab"]] == ["a", "b"]

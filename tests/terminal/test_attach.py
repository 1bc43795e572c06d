"""Files that a prompt names: what goes along, what does not, and what the user is told."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learnkit.errors import UsageError
from learnkit.terminal.attach import PICTURE, TEXT, attached
from learnkit.terminal.completion import files

PNG = b"\x89PNG\r\n\x1a\n" + bytes(30)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("x = 1\n")
    (work / "two words.md").write_text("two\n")
    (work / "logo.txt").write_bytes(PNG)  # a picture is known by its content
    (work / "fake.png").write_text("no picture\n")
    (work / "data.bin").write_bytes(b"\0\1")
    (work / "big.png").write_bytes(PNG + bytes(PICTURE))
    (work / "long.txt").write_text("é" * (TEXT + 1))
    (tmp_path / "key").write_text("private")
    (work / "README").symlink_to(tmp_path / "key")
    os.mkfifo(work / "pipe")
    return work


@pytest.mark.parametrize(
    ("prompt", "kinds", "said"),
    [
        ("look at @a.py, please", ["text"], ["a.py goes along"]),
        ('read @"two words.md"', ["text"], ["two words.md goes along"]),
        ("see @logo.txt", ["image"], ["logo.txt goes along"]),
        ("@a.py and @./a.py", ["text"], ["a.py goes along"]),
        ("see @long.txt", ["text"], ["long.txt goes along, its first 50,000 characters"]),
        ("a@a.py @pipe @none @~nobody/x @\0 @" + "x" * 5000, [], []),
    ],
)
def test_what_goes_along(work: Path, prompt: str, kinds: list[str], said: list[str]) -> None:
    made, told = attached(prompt, work)
    blocks = made[1:] if isinstance(made, list) else []
    assert [one["type"] for one in blocks] == kinds
    assert len(told) == len(said)
    assert all(line.startswith(begin) for line, begin in zip(told, said, strict=True))
    if not kinds:
        assert made == prompt


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("data.bin", "it is no text, and no picture of a kind that can be sent"),
        ("fake.png", "it is no text, and no picture of a kind that can be sent"),
        ("big.png", "a picture may have 3,750,000 bytes"),
        ("README", "a link leads out of the workspace"),
    ],
)
def test_a_prompt_with_a_file_that_cannot_be_sent_is_not_sent(
    work: Path, name: str, why: str
) -> None:
    with pytest.raises(UsageError, match=f"not sent: {name}: {why}"):
        attached(f"see @{name}", work)


def test_a_picture_outside_of_the_workspace_goes_along_by_its_whole_path(work: Path) -> None:
    (work.parent / "screen.png").write_bytes(PNG)
    made, _ = attached(f"what is wrong in '{work.parent / 'screen.png'}'", work)
    assert isinstance(made, list)
    assert base64.b64decode(made[1]["source"]["data"]) == PNG
    assert attached(f"read {work.parent / 'key'}", work)[1] == []  # a text needs the @


@given(st.text(alphabet='@ab./"~\\\n \0é-', max_size=40))
@example("@~\0")
def test_no_prompt_makes_it_fail(prompt: str) -> None:
    made, _ = attached(prompt, Path("/nonexistent"))
    assert made == prompt


def test_the_files_offered_are_those_that_git_does_not_ignore(work: Path) -> None:
    def git(*arguments: str) -> None:
        assert os.spawnvp(os.P_WAIT, "git", ["git", "-C", str(work), *arguments]) == 0

    assert "a.py" in list(files(work))  # without git
    git("init", "-q")
    (work / ".gitignore").write_text("*.bin\n")
    ran = work.parent / "ran"
    git("config", "core.fsmonitor", f"touch {ran}; false")
    found = list(files(work))
    assert "a.py" in found
    assert "data.bin" not in found
    assert not ran.exists()  # a repository names no program that completion runs

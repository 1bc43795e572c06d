"""Lesson 9's repair of the inbox: its own text, tried as the learner tries it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from cells import cell, folded

from learnkit.course.games.races.schedules import run, shrink
from learnkit.course.lessons.s07.processes import in_process
from learnkit.course.lessons.s09.inbox_trials import write_while_it_reads
from learnkit.errors import UsageError

REPAIR, CURSOR, STUB = (
    folded("s09", "class MyInbox"),
    cell("s09", "class CursorInbox("),
    cell("s09", "class MyInbox("),
)
ALL = "['first message', 'second message', 'third message']"
#: A cursor that counts again after the pause: it passes what came in between.
CARELESS = ("str(len(lines))", "str(len(self.file.read_text().splitlines()))")


def made(folder: Path, *sources: str) -> Any:
    """The class that the last of some cells defines, from files where a process can find them."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(sources):
        path = folder / f"cell{number}.py"
        path.write_text(source)
        exec(compile(source, str(path), "exec"), names)
    return [one for one in names.values() if isinstance(one, type)][-1]


@pytest.fixture
def naive() -> str:
    return cell("s09", "class Inbox:")


@pytest.mark.parametrize("source", [REPAIR, CURSOR], ids=["fold", "cursor"])
def test_a_repaired_inbox_passes_both_trials(tmp_path: Path, naive: str, source: str) -> None:
    inbox = made(tmp_path, naive, source)
    assert write_while_it_reads(inbox, tmp_path / "inbox") == ALL
    assert [seed for seed in range(25) if run(inbox, seed).fails] == []


def test_the_stub_fails_both_trials(tmp_path: Path, naive: str) -> None:
    inbox = made(tmp_path, naive, STUB)
    assert write_while_it_reads(inbox, tmp_path / "inbox") == "['first message', 'third message']"
    assert any(run(inbox, seed).lost for seed in range(25))


def test_a_drain_that_does_not_pause_proves_nothing(tmp_path: Path, naive: str) -> None:
    inbox = made(tmp_path, naive, STUB.replace("self.pause()", "pass"))
    got = ""
    with contextlib.suppress(UsageError):
        got = write_while_it_reads(inbox, tmp_path / "inbox")
    assert got == "nothing is shown: drain() did not call self.pause() between its two steps"


@pytest.mark.parametrize("source", [REPAIR, CURSOR], ids=["fold", "cursor"])
def test_a_kill_while_the_cursor_is_written_leaves_the_old_one(
    tmp_path: Path, naive: str, source: str
) -> None:
    inbox, folder = made(tmp_path, naive, source), tmp_path / "inbox"
    inbox(folder).send("one")
    assert inbox(folder).drain() == ["one"]
    inbox(folder).send("two")
    assert in_process(inbox, folder, "board.drain()", dies_at=0)
    assert (folder / "cursor").read_text() == "1"
    assert inbox(folder).drain() == ["two"]


def test_a_cursor_that_counts_only_the_new_lines_is_found(tmp_path: Path, naive: str) -> None:
    """It is right once, so that only what comes twice at the end gives it away."""
    wrong = REPAIR.replace(".splitlines()", ".splitlines()[done:]").replace(
        "lines[done:]]", "lines]"
    )
    assert "splitlines()[done:]" in wrong
    inbox = made(tmp_path, naive, wrong)
    got = write_while_it_reads(inbox, tmp_path / "inbox")
    assert got.count("second") == got.count("third") == 2
    assert any(run(inbox, seed).repeated for seed in range(25))


def test_a_cursor_that_runs_ahead_is_found(tmp_path: Path, naive: str) -> None:
    wrong = REPAIR.replace("str(len(lines))", "str(done + len(lines))")
    got = write_while_it_reads(made(tmp_path, naive, wrong), tmp_path / "inbox")
    assert got == "['first message', 'second message']"


def test_a_cursor_that_passes_what_it_has_not_read_is_found_and_shrinks(
    tmp_path: Path, naive: str
) -> None:
    assert CARELESS[0] in REPAIR
    inbox = made(tmp_path, naive, REPAIR.replace(*CARELESS))
    assert write_while_it_reads(inbox, tmp_path / "inbox") == "['first message', 'third message']"
    lost = next(one for one in (run(inbox, seed) for seed in range(25)) if one.lost)
    small = shrink(inbox, lost)
    assert [step.split()[1] for step in small.steps] == ["reads", "writes", "finishes"]


def test_a_cursor_that_never_moves_is_found_because_messages_are_read_twice(
    tmp_path: Path, naive: str
) -> None:
    moves = "part.replace(cursor)"
    assert moves in REPAIR
    inbox = made(tmp_path, naive, REPAIR.replace(moves, "pass"))
    ran = [run(inbox, seed) for seed in range(5)]
    assert all(one.repeated and not one.lost for one in ran)
    assert len(shrink(inbox, ran[0]).steps) == 3


def test_a_reader_killed_before_it_commits_leaves_the_message_to_the_next_one(
    tmp_path: Path, naive: str
) -> None:
    inbox = made(tmp_path, naive, CURSOR)
    folder = tmp_path / "inbox"
    inbox(folder).send("one")
    assert in_process(inbox, folder, "import os; board.take(); os.kill(os.getpid(), 9)")
    again = inbox(folder)
    assert (again.drain(), again.drain()) == (["one"], [])
    assert in_process(
        inbox, folder, "board.send('two'); board.drain(); import os; os.kill(os.getpid(), 9)"
    )
    assert inbox(folder).drain() == []

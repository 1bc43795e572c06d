"""Runs of the loop and of the tools: lessons 1 and 2."""

from __future__ import annotations

from pathlib import Path

from learnkit.clients.scripted import reply, say, use
from learnkit.core.events import EventLog
from learnkit.course.games.mutants.mutant import alone
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.todo import Todo


def two_calls(folder: Path) -> EventLog:
    """Play two calls in one reply.

    Args:
        folder: an empty folder.
    """
    (folder / "a.txt").write_text("alpha")
    (folder / "b.txt").write_text("beta")
    calls = reply(use("read_file", path="a.txt"), use("read_file", path="b.txt"))
    return alone([calls, say("Both are read.")], [CodingTools(folder)], "Read both files.")


def reminded(folder: Path) -> EventLog:
    """Play a reminder that follows a result.

    Args:
        folder: an empty folder.
    """
    (folder / "a.txt").write_text("alpha")
    items = [{"id": "1", "text": "read a.txt", "status": "in_progress"}]
    script = [use("todo", items=items), use("read_file", path="a.txt"), say("It is read.")]
    return alone(script, [CodingTools(folder), Todo(remind_after=1)], "Read a.txt.")


def one_call(folder: Path) -> EventLog:
    """Play one call and an answer.

    Args:
        folder: an empty folder.
    """
    (folder / "a.txt").write_text("alpha")
    script = [reply("I look.", use("read_file", path="a.txt")), say("It says alpha.")]
    return alone(script, [CodingTools(folder)], "What is in a.txt?")


def odd_reason(folder: Path) -> EventLog:
    """Play a call in a reply that says end_turn.

    Args:
        folder: an empty folder.
    """
    (folder / "a.txt").write_text("alpha")
    call = reply("I look.", use("read_file", path="a.txt"), stop_reason="end_turn")
    return alone([call, say("It says alpha.")], [CodingTools(folder)], "What is in a.txt?")


def cut(folder: Path) -> EventLog:
    """Play a reply that is cut off in the middle of a call.

    Args:
        folder: an empty folder.
    """
    half = reply(
        use("write_file", path="poem.txt", content="Roses are r"), stop_reason="max_tokens"
    )
    return alone([half, say("I send less.")], [CodingTools(folder)], "Write a poem.")


def failure(folder: Path) -> EventLog:
    """Play a call that fails.

    Args:
        folder: an empty folder.
    """
    script = [use("read_file", path="missing.txt"), say("There is no such file.")]
    return alone(script, [CodingTools(folder)], "Read missing.txt.")


def next_door(folder: Path) -> EventLog:
    """Play a read inside the workspace, and one outside it.

    Args:
        folder: an empty folder.
    """
    work = folder / "work"
    work.mkdir()
    (work / "notes.txt").write_text("notes for the agent")
    (folder / "notes.txt").write_text("private notes, one folder higher")
    script = [
        use("read_file", path="notes.txt"),
        use("read_file", path="../notes.txt"),
        say("I have read what I may."),
    ]
    return alone(script, [CodingTools(work)], "Read the notes.")


def edit(folder: Path) -> EventLog:
    """Play an edit of a text that occurs three times.

    Args:
        folder: an empty folder.
    """
    (folder / "limits.txt").write_text("day: 30\nnight: 30\nweek: 30\n")
    script = [
        use("edit_file", path="limits.txt", old_text="30", new_text="35"),
        use("read_file", path="limits.txt"),
        say("The limit of the day is 35."),
    ]
    return alone(script, [CodingTools(folder)], "Raise the limit of the day to 35.")

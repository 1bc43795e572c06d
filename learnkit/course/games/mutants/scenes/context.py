"""Runs of what a context contains: lessons 3 to 6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnkit.clients.scripted import Reply, say, use
from learnkit.core.events import EventLog
from learnkit.course.games.mutants.mutant import alone
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.compaction.mechanism import Compaction
from learnkit.mechanisms.skills.mechanism import Skills
from learnkit.mechanisms.subagents import Subagents
from learnkit.mechanisms.todo import Todo

_SKILL = "---\nname: {name}\ndescription: How to {name} things.\n---\n{body}\n"


def forgetful(folder: Path) -> EventLog:
    """Play a model that never updates its open list.

    Args:
        folder: an empty folder.
    """
    (folder / "a.txt").write_text("alpha")
    items = [{"id": "1", "text": "read a.txt", "status": "in_progress"}]
    rounds = [use("read_file", path="a.txt")] * 7
    script = [use("todo", items=items), *rounds, say("It is read.")]
    return alone(script, [CodingTools(folder), Todo(remind_after=3)], "Read a.txt.")


def subtask(folder: Path) -> EventLog:
    """Play a read, and a subtask for a child.

    Args:
        folder: an empty folder.
    """
    (folder / "long.txt").write_text("a line that nobody needs\n" * 60)
    (folder / "short.txt").write_text("the limit is 30\n" * 40)
    script = {
        "lead": [
            use("read_file", path="long.txt"),
            use("task", prompt="Which limit is in short.txt?", description="find the limit"),
            say("The limit is 30."),
        ],
        "lead.toolu_0002": [use("read_file", path="short.txt"), say("The limit is 30.")],
    }
    tools = [CodingTools(folder), Subagents(lambda: [CodingTools(folder)])]
    return alone(script, tools, "What is the limit?")


def layers(folder: Path) -> EventLog:
    """Play a choice of three skills, of which one is loaded.

    Args:
        folder: an empty folder.
    """
    for name in ("paint", "build", "clean"):
        place = folder / name
        place.mkdir()
        body = f"Step: {name} with care.\n" * 40
        (place / "SKILL.md").write_text(_SKILL.format(name=name, body=body))
    return alone([use("load_skill", name="build"), say("I build.")], [Skills(folder)], "Build it.")


def cleared(folder: Path) -> EventLog:
    """Play four reads, after which old results are cleared.

    Args:
        folder: an empty folder.
    """
    tools = _reading(folder, threshold=2_600, keep=2, clear_at_least=250)
    return alone([*_calls("abcd"), say("All are read.")], tools, "Read all the files.")


def summarised(folder: Path) -> EventLog:
    """Play three reads that fill the context until it is summarised.

    Args:
        folder: an empty folder.
    """
    return _filled(folder, "Count the lines of a, b and c, and say which is longest.")


def pair(folder: Path) -> EventLog:
    """Play the same with a shorter request: what counts is where the cut goes.

    Args:
        folder: an empty folder.
    """
    return _filled(folder, "Read a, b and c.")


def _reading(folder: Path, **options: Any) -> list[Any]:
    """Four files to read, and a compaction with these options."""
    for name in "abcd":
        (folder / f"{name}.txt").write_text(f"line of {name}\n" * 60)
    return [CodingTools(folder), Compaction(transcripts=folder / ".transcripts", **options)]


def _calls(names: str) -> list[Reply]:
    return [use("read_file", path=f"{name}.txt") for name in names]


def _filled(folder: Path, prompt: str) -> EventLog:
    """Three reads, of which the third passes the threshold of a summary."""
    tools = _reading(folder, threshold=1_100, keep=9)
    script = [*_calls("abc"), say("Two files were read."), say("All are read.")]
    return alone(script, tools, prompt)

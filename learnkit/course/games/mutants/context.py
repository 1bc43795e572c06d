"""Mutants of what a context contains: lessons 3 to 6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnkit.clients.scripted import Reply, say, use
from learnkit.core.events import EventLog
from learnkit.course.games.mutants.mutant import Mutant, alone, choice
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.compaction.mechanism import Compaction
from learnkit.mechanisms.skills.mechanism import Skills
from learnkit.mechanisms.subagents import Subagents
from learnkit.mechanisms.todo import Todo

_SKILL = "---\nname: {name}\ndescription: How to {name} things.\n---\n{body}\n"


def _forgetful(folder: Path) -> EventLog:
    """A model does not update its open list. After every third round it gets a reminder."""
    (folder / "a.txt").write_text("alpha")
    items = [{"id": "1", "text": "read a.txt", "status": "in_progress"}]
    rounds = [use("read_file", path="a.txt")] * 7
    script = [use("todo", items=items), *rounds, say("It is read.")]
    return alone(script, [CodingTools(folder), Todo(remind_after=3)], "Read a.txt.")


def _subtask(folder: Path) -> EventLog:
    """A lead reads a file, then delegates a subtask. The child gets its prompt, and reports."""
    (folder / "long.txt").write_text("a line that nobody needs\n" * 60)
    (folder / "short.txt").write_text("the limit is 30\n" * 40)
    script = {
        "lead": [
            use("read_file", path="long.txt"),
            use("task", prompt="Which limit stands in short.txt?", description="find the limit"),
            say("The limit is 30."),
        ],
        "lead.toolu_0002": [use("read_file", path="short.txt"), say("The limit is 30.")],
    }
    tools = [CodingTools(folder), Subagents(lambda: [CodingTools(folder)])]
    return alone(script, tools, "What is the limit?")


def _layers(folder: Path) -> EventLog:
    """Three skills are listed, and one is loaded when it is needed."""
    for name in ("paint", "build", "clean"):
        place = folder / name
        place.mkdir()
        body = f"Step: {name} with care.\n" * 40
        (place / "SKILL.md").write_text(_SKILL.format(name=name, body=body))
    return alone([use("load_skill", name="build"), say("I build.")], [Skills(folder)], "Build it.")


def _reading(folder: Path, **options: Any) -> list[Any]:
    for name in "abcd":
        (folder / f"{name}.txt").write_text(f"line of {name}\n" * 60)
    return [CodingTools(folder), Compaction(transcripts=folder / ".transcripts", **options)]


def _calls(names: str) -> list[Reply]:
    return [use("read_file", path=f"{name}.txt") for name in names]


def _cleared(folder: Path) -> EventLog:
    """Four files are read, and keep is 2: old results are cleared, and the last two stay."""
    tools = _reading(folder, threshold=2_600, keep=2, clear_at_least=250)
    return alone([*_calls("abcd"), say("All are read.")], tools, "Read all the files.")


def _summarised(folder: Path) -> EventLog:
    """The context is full, and becomes a summary. The user's request is kept word for word."""
    tools = _reading(folder, threshold=1_100, keep=9)
    script = [*_calls("abc"), say("Two files were read."), say("All are read.")]
    return alone(script, tools, "Count the lines of a, b and c, and say which is longest.")


def _pair(folder: Path) -> EventLog:
    """The context is full after a call. The call that has just been answered stays, with its
    result; what was before becomes a summary."""
    tools = _reading(folder, threshold=1_100, keep=9)
    script = [*_calls("abc"), say("Two files were read."), say("All are read.")]
    return alone(script, tools, "Read a, b and c.")


MUTANTS = (
    Mutant(
        "m10",
        "learnkit.mechanisms.todo",
        "rounds, self._rounds = self._rounds, 0",
        "rounds = self._rounds",
        _forgetful,
        "Todo",
        choice(
            ("The reminder is about a finished list.", "The item is in progress all the time."),
            ("The reminder comes too early.", "The first one comes after three rounds, as set."),
            (
                "Updates are refused, so that the list stays as it is.",
                "The first one was taken: its item is there.",
            ),
            (
                "After a reminder the count does not start again.",
                "Right: from the third round on every message has a reminder.",
            ),
        ),
        "d",
    ),
    Mutant(
        "m11",
        "learnkit.mechanisms.subagents",
        'if self._inherit == "everything":',
        'if self._inherit != "everything":',
        _subtask,
        "Contexts",
        choice(
            (
                "The child gets the parent's conversation.",
                "Right: its request is long from the start. It should be one prompt.",
            ),
            ("The child has read long.txt again.", "It has made one call, for short.txt."),
            (
                "The parent gets everything that the child has read.",
                "The report is one short line.",
            ),
            ("The child never ends.", "It has ended, and its report is there."),
        ),
        "a",
    ),
    Mutant(
        "m12",
        "learnkit.mechanisms.skills.mechanism",
        "lines = [_line(skill, skill.name in self.preloaded) for skill in self.skills.values()]",
        "lines = [skill.wrapped for skill in self.skills.values()]",
        _layers,
        "Skills",
        choice(
            (
                "All skills are loaded by the tool.",
                "load_skill has loaded the one that was asked for.",
            ),
            (
                "The list contains the whole instructions.",
                "Right: a skill in the list now costs as much as a loaded one.",
            ),
            ("A skill is loaded twice.", "It is loaded once; it was in the prompt before that."),
            (
                "The files that belong to the skills are read too.",
                "These skills have no other files.",
            ),
        ),
        "b",
    ),
    Mutant(
        "m13",
        "learnkit.mechanisms.compaction.edits",
        "kept = {one.id for one in found[max(0, len(found) - keep) :]}",
        "kept = {one.id for one in found[max(0, len(found) - keep + 1) :]}",
        _cleared,
        "Compaction",
        choice(
            ("The newest result is cleared.", "The newest one is whole."),
            ("Nothing is cleared.", "Count the rows that are marked as cleared."),
            (
                "It keeps one result fewer than keep says.",
                "Right: keep is 2, and only one of the earlier results is whole.",
            ),
            (
                "Old calls are cleared, and their results are not.",
                "The calls are as they were.",
            ),
        ),
        "c",
    ),
    Mutant(
        "m14",
        "learnkit.mechanisms.compaction.mechanism",
        "if asked and not still:",
        "if asked and still:",
        _summarised,
        "Messages",
        choice(
            (
                "The summary replaces the request as well.",
                "Right: the messages say only what was done, and not what there is to do.",
            ),
            ("The summary is empty.", "It says that two files were read."),
            ("The last result is lost.", "It comes after the summary, with its call."),
            (
                "The messages are sent whole, and nothing is compacted.",
                "Message 0 is a summary of the earlier messages.",
            ),
        ),
        "a",
    ),
    Mutant(
        "m15",
        "learnkit.mechanisms.compaction.edits",
        "return cut_before(messages, seen(messages))",
        "return seen(messages)",
        _pair,
        "Messages",
        choice(
            ("The summary comes too late.", "It comes when the threshold is passed, as set."),
            (
                "The cut goes between a call and its result.",
                "Right: the call is in the summary, and the API refuses a result without it.",
            ),
            ("The summary is sent as an assistant's message.", "It is in a user message."),
            ("The model is not asked for a summary.", "It was asked, and its text is there."),
        ),
        "b",
    ),
)

"""Mutants of the loop and of the tools: lessons 1 and 2."""

from __future__ import annotations

from pathlib import Path

from learnkit.clients.scripted import reply, say, use
from learnkit.core.events import EventLog
from learnkit.course.games.mutants.mutant import Mutant, alone, choice
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.todo import Todo

_ANSWER = (
    "return [*(self._results[call.id] for call in self.calls), *self.notes]",
    "return [*(self._results[call.id] for call in self.calls[:1]), *self.notes]",
    "return [*(self._results[call.id] for call in reversed(self.calls)), *self.notes]",
    "return [*self.notes, *(self._results[call.id] for call in self.calls)]",
)


def _two_calls(folder: Path) -> EventLog:
    """Two calls in one reply, each with its result, in the order of the calls."""
    (folder / "a.txt").write_text("alpha")
    (folder / "b.txt").write_text("beta")
    calls = reply(use("read_file", path="a.txt"), use("read_file", path="b.txt"))
    return alone([calls, say("Both are read.")], [CodingTools(folder)], "Read both files.")


def _reminded(folder: Path) -> EventLog:
    """A reminder follows the result of a call in the same message."""
    (folder / "a.txt").write_text("alpha")
    items = [{"id": "1", "text": "read a.txt", "status": "in_progress"}]
    script = [use("todo", items=items), use("read_file", path="a.txt"), say("It is read.")]
    return alone(script, [CodingTools(folder), Todo(remind_after=1)], "Read a.txt.")


def _one_call(folder: Path) -> EventLog:
    """The model reads a file, and says what is in it."""
    (folder / "a.txt").write_text("alpha")
    script = [reply("I look.", use("read_file", path="a.txt")), say("It says alpha.")]
    return alone(script, [CodingTools(folder)], "What is in a.txt?")


def _odd_reason(folder: Path) -> EventLog:
    """A reply has a call, and the stop_reason end_turn. The call is run all the same."""
    (folder / "a.txt").write_text("alpha")
    call = reply("I look.", use("read_file", path="a.txt"), stop_reason="end_turn")
    return alone([call, say("It says alpha.")], [CodingTools(folder)], "What is in a.txt?")


def _cut(folder: Path) -> EventLog:
    """A reply is cut off at max_tokens in the middle of a call. The model reads so, and repeats."""
    half = reply(
        use("write_file", path="poem.txt", content="Roses are r"), stop_reason="max_tokens"
    )
    return alone([half, say("I send less.")], [CodingTools(folder)], "Write a poem.")


def _failure(folder: Path) -> EventLog:
    """A call fails. Its result is an error, and the model sees that."""
    script = [use("read_file", path="missing.txt"), say("There is no such file.")]
    return alone(script, [CodingTools(folder)], "Read missing.txt.")


def _next_door(folder: Path) -> EventLog:
    """The model reads in its workspace, then a folder higher. The second call is refused."""
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


def _edit(folder: Path) -> EventLog:
    """A text occurs three times in a file. One edit changes the first of them, and says so."""
    (folder / "limits.txt").write_text("day: 30\nnight: 30\nweek: 30\n")
    script = [
        use("edit_file", path="limits.txt", old_text="30", new_text="35"),
        use("read_file", path="limits.txt"),
        say("The limit of the day is 35."),
    ]
    return alone(script, [CodingTools(folder)], "Raise the limit of the day to 35.")


MUTANTS = (
    Mutant(
        "m01",
        "learnkit.core.tool_calls",
        _ANSWER[0],
        _ANSWER[1],
        _two_calls,
        "Messages",
        choice(
            ("Two calls in one reply are refused.", "Both have run: each has its mark."),
            ("The second call is never run.", "It has run. Its output never gets to the model."),
            (
                "Only the first call of a reply gets a result.",
                "Right: two calls, one result. The API refuses the next request.",
            ),
            (
                "The result names the wrong call.",
                "It is paired with the first call. The second has no partner.",
            ),
        ),
        "c",
    ),
    Mutant(
        "m02",
        "learnkit.core.tool_calls",
        _ANSWER[0],
        _ANSWER[3],
        _reminded,
        "Messages",
        choice(
            (
                "Injected text comes before the results.",
                "Right: results come first in the message, or the API refuses it.",
            ),
            ("The result is lost.", "It is in the message: look after the reminder."),
            ("The reminder comes one round too early.", "It may come after one round here."),
            (
                "The reminder is a message of its own, after the results.",
                "It is in the same message as the result; only the order is wrong.",
            ),
        ),
        "a",
    ),
    Mutant(
        "m03",
        "learnkit.core.agent",
        'self._append("assistant", content)',
        "pass",
        _one_call,
        "Messages",
        choice(
            ("The model is never asked.", "It was asked, and replied: see the steps."),
            (
                "The reply is not kept in the messages.",
                "Right: the array ends with the request, and there is no call in it.",
            ),
            ("The tool is unknown.", "Then there would be a call, and an error as its result."),
            (
                "The result of the call is not appended to the messages.",
                "There is not even a call that a result could answer.",
            ),
        ),
        "b",
    ),
    Mutant(
        "m04",
        "learnkit.core.agent",
        "if calls := calls_in(self._messages[-1]):",
        'if reason == "tool_use" and (calls := calls_in(self._messages[-1])):',
        _odd_reason,
        "Messages",
        choice(
            (
                "The call has run, but its result is lost.",
                "No call has started in this log.",
            ),
            ("The tool is refused.", "A refused call gets an error as its result."),
            ("The turn limit is one.", "Then the run would end with the reason turn_limit."),
            (
                "stop_reason decides, and nothing looks for calls.",
                "Right: the loop trusts end_turn, so the call gets no result.",
            ),
        ),
        "d",
    ),
    Mutant(
        "m05",
        "learnkit.core.tool_calls",
        _ANSWER[0],
        _ANSWER[2],
        _two_calls,
        "Messages",
        choice(
            ("The calls run in the wrong order.", "They start in the order of the reply."),
            ("The results are swapped.", "Each result still names its own call."),
            (
                "The model has made the calls in another order.",
                "The reply has the calls in the order in which they were made.",
            ),
            (
                "The results are in reverse order.",
                "Right. The API accepts it, because ids pair them, but it misleads a reader.",
            ),
        ),
        "d",
    ),
    Mutant(
        "m06",
        "learnkit.core.agent",
        'self._batch = batch = Batch(self, calls, cut=reason == "max_tokens")',
        "self._batch = batch = Batch(self, calls, cut=False)",
        _cut,
        "Messages",
        choice(
            (
                "A call of a reply that was cut off is run.",
                "Right: half a poem is in the file, and the model thinks that it is complete.",
            ),
            ("The file is written twice.", "There is one call, and one result."),
            (
                "The tool cuts off a text that is too long.",
                "The call itself has no more text. The reply was cut, not the file.",
            ),
            (
                "max_tokens is too small.",
                "That is a setting. The fault is in what the harness does about it.",
            ),
        ),
        "a",
    ),
    Mutant(
        "m07",
        "learnkit.core.tool_calls",
        'if how != "ran":',
        'if how == "cancelled":',
        _failure,
        "Messages",
        choice(
            (
                "Reading creates the file.",
                "The result says that there is no such file.",
            ),
            (
                "The result of a failed call is no error.",
                "Right: the call has failed, and its result looks like an output.",
            ),
            (
                "The error is raised through the loop, and ends the run.",
                "The run continues after the result.",
            ),
            ("The text of the error is lost.", "It is there, as the content of the result."),
        ),
        "b",
    ),
    Mutant(
        "m08",
        "learnkit.runtime.workspace",
        "self.root = Path(folder).resolve()",
        "self.root = Path(folder).resolve().parent",
        _next_door,
        "Messages",
        choice(
            ("Paths are not checked.", "They are: the second call is refused."),
            (
                "The two files were swapped on disk before the first call.",
                "Nothing writes in this run.",
            ),
            (
                "The boundary is one folder too high.",
                "Right: notes.txt is now the one above. A file above that is still refused.",
            ),
            ("The file is read from a cache.", "There is none. The text is that of another file."),
        ),
        "c",
    ),
    Mutant(
        "m09",
        "learnkit.mechanisms.coding",
        "self.workspace.write(path, text.replace(old_text, new_text, 1))",
        "self.workspace.write(path, text.replace(old_text, new_text))",
        _edit,
        "Messages",
        choice(
            (
                "The edit changes the last line instead of the first.",
                "Look at the file: all three lines are different.",
            ),
            (
                "The edit changes every line, and reports one.",
                "Right: the result says that only the first was replaced.",
            ),
            ("The edit runs three times.", "There is one call. One replacement did it all."),
            ("read_file shows an old state.", "An old state would have 30 in it."),
        ),
        "b",
    ),
)

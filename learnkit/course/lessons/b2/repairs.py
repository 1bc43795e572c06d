"""What lesson b2 has its reader write: a note's file, the list that is sent, who has spoken."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import learnkit as lk
from learnkit.course.content import Repair, Verdict
from learnkit.course.lessons.b2.notes import write_notes
from learnkit.course.lessons.verdicts import asking, in_a_folder, short, with_settings


def check_keep(agent: Any) -> Verdict:
    """Write a note, and write it again."""
    with in_a_folder(agent) as folder:
        path, before = folder / "limit.md", folder / "before"
        agent.keep(path, "hot from 28 °C")
        os.link(path, before)  # still the old file after a rename
        with _states(path) as seen:
            agent.keep(path, "hot from 25 °C")
        if (found := path.read_text("utf-8")) != "hot from 25 °C":
            return f"a second note of this name makes the file {short(found)}; only it should stay"
        if before.read_text("utf-8") != "hot from 28 °C":
            return (
                "it writes into the note itself; killed in the middle, it leaves half a note, and "
                "the old one is gone, too. Write another file, and rename it"
            )
        if None in seen:
            return (
                "between two of its lines there is no note at all; killed there, it loses both. "
                "Write another file, and rename it over the old one"
            )
        if more := [one.name for one in folder.iterdir() if one not in (path, before)]:
            return f"it leaves {more[0]} in the folder"
        with _killed_before_a_rename() as sources:
            agent.keep(path, "hot from 24 °C")
        for source in sources:
            if source.parent != folder:
                return f"the other file is in {source.parent}; keep both in one folder: on one disk"
            if source.suffix == ".md":
                return f"killed before the rename, {source.name} is listed as a note"
        agent.keep(path, "hot from 26 °C")
        if (found := path.read_text("utf-8")) != "hot from 26 °C":
            return f"after one that was killed before the rename, the next note is {short(found)}"
    return None


class _Killed(BaseException):
    """No code of the learner's should catch it."""


@contextlib.contextmanager
def _killed_before_a_rename() -> Iterator[list[Path]]:
    """End the code where it would rename a file, as a kill would; give what it would rename."""
    sources, renames = list[Path](), (os.replace, os.rename)

    def killed(source: Any, *_: object) -> None:
        sources.append(Path(source).resolve())
        raise _Killed

    os.replace = os.rename = killed  # type: ignore[assignment]
    try:
        with contextlib.suppress(_Killed):
            yield sources
    finally:
        os.replace, os.rename = renames


@contextlib.contextmanager
def _states(path: Path) -> Iterator[set[str | None]]:
    """What a file has before each line of Python that is run, None if it isn't there."""
    seen, before = set[str | None](), sys.gettrace()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        seen.add(path.read_text("utf-8") if path.exists() else None)
        return trace

    sys.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)


def _listed(agent: Any, number: int, words: str = "What is hot.", **limits: int) -> Any:
    """The numbers of the notes that are sent, their bytes, and what else the list says."""
    with in_a_folder(agent, **limits) as folder:
        write_notes(folder, number, words)
        os.utime(folder / "note-0001.md")  # the first one was changed today
        lines = (agent.listed(folder) or "").splitlines()
        whole = {agent.headline(path) for path in folder.glob("*.md")}
    notes = [line for line in lines if line in whole]
    numbers = [int(line[7:11]) for line in notes]
    rest = [line for line in lines if line not in notes]
    return numbers, len("\n".join(notes).encode()), "\n".join(rest)


def check_listed(agent: Any) -> Verdict:
    """List few notes, many, and long ones."""
    numbers, _, rest = _listed(agent, 3)
    if numbers != [1, 3, 2]:
        return f"of three notes, of which 1 was changed last, it sends {numbers}, not [1, 3, 2]"
    if rest:
        return f"of three notes none is left out, and it says {short(rest)}"
    numbers, _, rest = _listed(agent, 8, LINES=5)
    if numbers != [1, 8, 7, 6, 5]:
        return f"of 8 notes with LINES = 5, it sends {numbers}, not the five newest"
    if "3" not in rest:
        return f"3 of 8 notes are left out, and after the list it says {short(rest)}"
    numbers, size, rest = _listed(agent, 40, "Über Böen, Föhn, Dürre, Nässe, Stürme", BYTES=1_000)
    if "- note-" in rest:
        return f"with BYTES = 1,000, it cuts a note's line in the middle: {short(rest)}"
    if not 850 < size <= 1_000:
        return f"with BYTES = 1,000, the lines of 40 notes that it sends have {size:,} bytes"
    if numbers != [1, *range(40, 41 - len(numbers), -1)]:
        return f"with BYTES = 1,000, it sends the notes {short(numbers)}, not the newest"
    if str(40 - len(numbers)) not in rest:
        return f"{40 - len(numbers)} of 40 notes are left out, and after the list it says {rest!r}"
    return None


def _shelf(agent: Any, first: lk.Reply, *, forgets: bool = False) -> tuple[str, str]:
    """Let a model do something, and then note something; return where the note is, and its text."""
    look = lk.use("read_file", path="README.md")
    note = lk.use("remember", name="limit", description="What is hot.", text="From 28 °C.")
    with asking(agent, [first, lk.say("."), look, note, lk.say(".")], POLICY={}) as folder:
        (folder / "README.md").write_text("heatwatch")
        tools = {name: _stranger(name, group) for name, group in _STRANGERS.items()}
        with with_settings(agent, TOOLS=agent.TOOLS | tools):
            lead = agent.Agent(groups=("read", "write", "lead", "mcp"))
            agent.run(lead, "Look.")
            if forgets:
                lead.messages.clear()  # as a summary would
            agent.run(lead, "Note it.")
        notes = [*folder.glob(".memory/**/limit.md")]
        return (notes[0].parent.name, notes[0].read_text("utf-8")) if notes else ("no folder", "")


#: Tools that bring in a stranger's text, and their groups.
_STRANGERS = {"fetch": "web", "mcp__harbour__sea": "mcp"}


def _stranger(name: str, group: str) -> Any:
    def ask(agent: Any) -> str:
        """Ask a stranger."""
        return "Closed on Thursday."

    ask.__name__, ask.groups = name, {group}  # type: ignore[attr-defined]
    return ask


def check_heard(agent: Any) -> Verdict:
    """Note something after reading a file, a page, another server's answer."""
    cases = (
        ("after read_file", lk.use("read_file", path="README.md"), False, ".memory"),
        ("after fetch", lk.use("fetch"), False, "outside"),
        (
            "after an MCP server's answer",
            lk.use("mcp__harbour__sea"),
            False,
            "outside",
        ),
        ("after fetch and a summary", lk.use("fetch"), True, "outside"),
        ("after a call of a tool that doesn't exist", lk.use("look"), False, ".memory"),
    )
    for what, first, forgets, right in cases:
        shelf, text = _shelf(agent, first, forgets=forgets)
        if shelf != right:
            return f"{what}, a note goes to {shelf}; it belongs in {right}"
        (called,) = [block["name"] for block in first.content]
        if right == "outside" and called not in text:
            return f"{what}, the note should name {called}; it says {short(text[:40])}"
    return None


REPAIRS = {
    "keep": Repair(check_keep, "One name, one note, and it's there whole."),
    "listed": Repair(check_listed, "The newest are sent, and the model knows that there are more."),
    "heard": Repair(check_heard, "What a stranger had a part in is kept apart, summary or not."),
}

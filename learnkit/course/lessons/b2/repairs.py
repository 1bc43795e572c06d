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
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.b2.notes import write_notes
from learnkit.course.lessons.verdicts import asking, in_a_folder, short

REPAIRS = Repairs()


@REPAIRS.add("One name, one note, and it's there whole.")
def check_keep(agent: Any) -> Verdict:
    """Write a note, and write it again."""
    with in_a_folder(agent) as folder:
        path, before = folder / "limit.md", folder / "before"
        agent.keep(path, "hot from 28 °C")
        if not path.exists():
            return f"no file {path.name} is there after it; it should write the text into that path"
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


@REPAIRS.add("The newest are sent, and the model knows that there are more.")
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
    words = "Über Böen, Föhn, Dürre, Nässe, Stürme"
    most = 6 * _listed(agent, 2, words)[1] + 4  # one less than 12 lines have with their newlines
    numbers, size, rest = _listed(agent, 40, words, BYTES=most)
    if "- note-" in rest:
        return f"with BYTES = {most}, it cuts a note's line in the middle: {short(rest)}"
    if size > most:
        return f"with BYTES = {most}, what it sends has {size} bytes, with the newlines"
    if size < most - 250:
        return f"with BYTES = {most}, the lines that it sends have {size} bytes; more of them fit"
    if numbers != [1, *range(40, 41 - len(numbers), -1)]:
        return f"with BYTES = {most}, it sends the notes {short(numbers)}, not the newest"
    if str(40 - len(numbers)) not in rest:
        return f"{40 - len(numbers)} of 40 notes are left out, and after the list it says {rest!r}"
    return None


def _shelf(agent: Any, first: lk.Reply, then: str) -> tuple[str, str]:
    """Let a model do something, and then note something; return where the note is, and its text."""
    look = [lk.use("read_file", path="README.md")] if then else []
    note = lk.use("remember", name="limit", description="What is hot.", text="From 28 °C.")
    script = [first, lk.say("."), *look, note, lk.say(".")]
    with asking(agent, script, POLICY={}, TOOLS=agent.TOOLS | _STRANGERS) as folder:
        (folder / "README.md").write_text("heatwatch")
        lead = agent.Agent(groups=("read", "write", "lead", "mcp"))
        agent.run(lead, "Look.")
        if then == _FORGOTTEN:
            lead.messages.clear()
        agent.run(lead, "Note it.")
        notes = [*folder.glob(".memory/**/limit.md")]
        if not notes:
            return "no folder", ""
        return str(notes[0].parent.relative_to(folder)), notes[0].read_text("utf-8")


def _stranger(name: str, *groups: str) -> Any:
    def ask(agent: Any) -> str:
        """Ask a stranger."""
        return "Closed on Thursday."

    ask.__name__, ask.groups = name, {*groups}  # type: ignore[attr-defined]
    return ask


_GROUPS = {"fetch": ("lead", "web"), "mcp__harbour__sea": ("mcp",)}
_STRANGERS = {name: _stranger(name, *groups) for name, groups in _GROUPS.items()}
_LATER, _FORGOTTEN = ", and read_file a round later", ", a summary and read_file"


@REPAIRS.add("What a stranger had a part in is kept apart, summary or not.")
def check_heard(agent: Any) -> Verdict:
    """Note something after reading a file, a page, another server's answer."""
    file, (page, server) = lk.use("read_file", path="README.md"), map(lk.use, _STRANGERS)
    cases = (
        ("after read_file", file, "", ".memory"),
        ("after fetch", page, "", ".memory/outside"),
        ("after an MCP server's answer", server, "", ".memory/outside"),
        ("after read_file and fetch in one round", lk.reply(file, page), "", ".memory/outside"),
        ("after fetch", page, _LATER, ".memory/outside"),
        ("after fetch", page, _FORGOTTEN, ".memory/outside"),
        ("after a call of a tool that doesn't exist", lk.use("look"), "", ".memory"),
        ("after such a call, and fetch", lk.reply(lk.use("look"), page), "", ".memory/outside"),
    )
    for what, first, then, right in cases:
        shelf, text = _shelf(agent, first, then)
        if shelf != right:
            return f"{what}{then}, a note goes to {shelf}; it belongs in {right}"
        called = [block["name"] for block in first.content if block["name"] in _STRANGERS]
        if right != ".memory" and f"after {called[0]})" not in text:
            return f"{what}, the note should say 'after {called[0]}'; it says {short(text[:40])}"
    return None

"""Open the session of an agent, whichever wrote it, as a log; and list those on this machine."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.events.loop import ModelReplied
from learnkit.events.sessions import SessionOpened
from learnkit.events.vocabulary import read
from learnkit.sessions import atif, claude_code, codex, mini_swe_agent, saved_log
from learnkit.sessions.source import Reading, opened, parsed

#: Bytes and lines that a format is told by.
_HEAD, _FIRST = 1_000_000, 50
#: Format -> its reader: of files whose lines are JSON, and of files that are one JSON object.
_LINES = {"claude-code": claude_code, "codex": codex, "learnkit": saved_log}
_DOCUMENTS = {"atif": atif, "mini-swe-agent": mini_swe_agent}


def open_session(session: str | Path) -> EventLog:
    """Open the session of an agent as a log, for every view.

    The content tells the format: Claude Code, Codex, ATIF, mini-swe-agent or learnkit. The first
    event is ``session.opened``, with what the file says beside its messages, and what could not be
    read. Turns are numbered through the whole session; times are seconds since its first line.

    Args:
        session: the path of a file; or the id of a session on this machine, or at least the first
            four characters of one.

    Returns:
        A log in which the main agent's lane is ``lead``. A subagent's is the lane and the id of
        the call that it works for.

    Raises:
        UsageError: if there is no such file, it cannot be opened, or no format is known for it.
    """
    path = Path(session)
    with contextlib.suppress(RuntimeError):  # there is no such user
        path = path.expanduser()
    if re.fullmatch(r"[\w-]{4,80}", str(session)) and not path.exists():
        path = next((one for _, one in _found() if _id(one).startswith(str(session))), path)
    reading = Reading(path)
    with opened(path) as file:
        format, reader = _recognised(path, file.read(_HEAD))
    told = reader.read(path, reading)
    began = reading.started
    if began is None:
        began = next((time for time, _, _ in told if time), 0.0)
    log = EventLog()
    log.append(reading.opened(format, began))
    for time, lane, event in told:
        kind, data = event if isinstance(event, tuple) else (event, {})
        log.add(kind, data, lane, max(0.0, time - began))
    return log


def _id(path: Path) -> str:
    """The id that a file is named by, perhaps after ``rollout-<time>-``."""
    return re.sub(r"^rollout-[\dT:-]{19}-", "", path.stem)


def _recognised(path: Path, head: bytes) -> tuple[str, Any]:
    for line in head.split(b"\n", _FIRST)[:_FIRST]:
        with contextlib.suppress(ValueError):
            entry = parsed(line)
            for name, reader in _LINES.items():
                if reader.claims(entry):
                    return name, reader
    for name, reader in _DOCUMENTS.items():
        if reader.HEAD.search(head):
            return name, reader
    what = "is no session of a known format" if head.strip() else "is empty"
    raise UsageError(f"{path} {what}; docs/sessions.md lists the formats")


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session on this machine.

    Attributes:
        path: of its file.
        id: what :func:`open_session` knows it by, as far as it begins.
        modified: seconds since 1970 when it was last written.
        opened: what the file says of it.
        turns: replies, those of subagents included.
        tokens: of all requests and replies, by the server's count.
    """

    path: Path
    id: str
    modified: float
    opened: SessionOpened
    turns: int
    tokens: int


def list_sessions(limit: int = 20) -> Iterator[SessionFile]:
    """Yield the sessions on this machine that were written last, the newest first.

    They are those of Claude Code and Codex, where these keep them, and those of ``learnkit chat``
    in the present folder. A file that cannot be read is left out.

    Args:
        limit: how many they are at most.
    """
    for modified, path in _found():
        if limit == 0:
            return
        try:
            log = open_session(path)
        except UsageError:
            continue
        limit -= 1
        about, *events = map(read, log)
        usages = [one.usage for one in events if isinstance(one, ModelReplied)]
        tokens = sum(usage.sent + (usage.output_tokens or 0) for usage in usages)
        assert isinstance(about, SessionOpened)
        yield SessionFile(path, _id(path), modified, about, len(usages), tokens)


def _found() -> list[tuple[float, Path]]:
    """The files, each with when it was last written, the newest first; no links."""
    home, environment, found = Path.home(), os.environ, []
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    codex = Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"
    own = Path(".learnkit/sessions").glob("*.jsonl")
    for path in [*claude.glob("*/*.jsonl"), *codex.glob("**/rollout-*.jsonl"), *own]:
        with contextlib.suppress(OSError):  # it may be gone
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and not path.name.startswith("agent-"):
                found.append((about.st_mtime, path))
    return sorted(found, reverse=True)

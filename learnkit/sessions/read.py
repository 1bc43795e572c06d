"""Open the session of an agent, whichever wrote it, as a log; and list those on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.events.sessions import SessionOpened
from learnkit.sessions import claude_code
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, opened, parsed

_HEAD = 1_000_000
Reader = Callable[[Path, Reading], list[Lane]]
#: Format of a file whose lines are JSON -> whether a line is one of its own, and its reader.
_LINES: dict[str, tuple[Callable[[dict[str, Any]], bool], Reader]] = {
    "claude-code": (claude_code.claims, claude_code.read),
}


def open_session(session: str | Path) -> EventLog:
    """Open the session of an agent as a log, for every view.

    The format is told by the content. The first event is ``session.opened``, with what the file
    says beside its messages, and with what could not be read. Turns are numbered through the
    session, and times are seconds since its first line.

    Args:
        session: the path of a file.

    Returns:
        A log in which the main agent's lane is ``lead``, and a subagent's the lane and the id of
        the call that it works for.

    Raises:
        UsageError: if there is no such file, it cannot be opened, or no format is known for it.
    """
    path = Path(session).expanduser()
    reading = Reading(path=str(path))
    reading.format, reader = _recognised(path)
    lanes = reader(path, reading)
    return _log(lanes, reading)


def _recognised(path: Path) -> tuple[str, Reader]:
    """The format of a file, and its reader."""
    with opened(path) as file:
        head = file.read(_HEAD)
    for line in head.split(b"\n")[:50]:
        try:
            entry = parsed(line)
        except ValueError:
            continue
        for name, (claims, reader) in _LINES.items():
            if isinstance(entry, dict) and claims(entry):
                return name, reader
    what = "is empty" if not head.strip() else "is no session of a format that is known"
    raise UsageError(f"{path} {what}; docs/sessions.md lists the formats")


def _log(lanes: list[Lane], reading: Reading) -> EventLog:
    began = min((lane.events[0][0] for lane in lanes if lane.events), default=0.0)
    opened = SessionOpened(
        format=reading.format,
        path=reading.path,
        id=reading.id,
        title=reading.title,
        cwd=reading.cwd,
        branch=reading.branch,
        versions=tuple(reading.versions),
        models=tuple(reading.models),
        started=began,
        lines=dict(reading.lines),
        unknown=dict(reading.unknown),
        left_out=dict(reading.left_out),
        warnings=tuple(reading.warnings),
        hidden_tokens=lanes[0].hidden,
    )
    log = EventLog()
    log.append(opened)
    merged(lanes, log, began)
    return log

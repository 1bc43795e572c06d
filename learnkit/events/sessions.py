"""The events of a session that was read from a file, of this package or of another agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from learnkit.events.declaration import detail, event, record
from learnkit.events.text import count, quoted


@record
class SessionWarning:
    """Something in a file that could not be read; ``line`` counts from 1."""

    line: int = 0
    text: str = ""
    file: str = detail(default="", sometimes=True)


def _opened(session: SessionOpened) -> str:
    title = f" {quoted(session.title)}" if session.title else ""
    lines = count(sum(session.lines.values()), "line")
    warnings = f", {count(len(session.warnings), 'warning')}" if session.warnings else ""
    return f"A session of {session.format}{title} is read: {lines}{warnings}."


@event("session.opened", lesson="s12", sentence=_opened)
class SessionOpened:
    """A session has been read from a file: what the file says beside its messages.

    Attributes:
        format: ``claude-code``, ``codex``, ``atif``, ``mini-swe-agent`` or ``learnkit``.
        title: the first words of the first prompt.
        versions: of the program that wrote it; several where it was updated in between.
        started: seconds since 1970 of the log's time 0; 0 where the file has no times.
        lines: how many there are, by type; of a format without lines, its steps or messages.
        unknown: what no reader knows, and how often it came: ``line <type>``, and
            ``field <type>.<name>``.
        left_out: what the log lacks to stay in bounds, in ``lines``, ``characters`` and
            ``warnings``.
    """

    format: str
    path: str = ""
    id: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    versions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    started: float = 0.0
    lines: Mapping[str, int]
    unknown: Mapping[str, int]
    left_out: Mapping[str, int]
    warnings: tuple[SessionWarning, ...] = ()


@event("session.line", lesson="s12", sentence="Line {line} has a {kind}, which no reader knows.")
class SessionLine:
    """The file has a line of a type, or a field, that no reader knows; it is kept as it is."""

    line: int = 0
    kind: str = ""
    data: dict[str, Any]

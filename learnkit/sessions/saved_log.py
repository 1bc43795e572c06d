"""A log that learnkit has saved: the events as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnkit.events.log import VERSION
from learnkit.events.text import content_text, one_line
from learnkit.sessions.source import LATEST, Reading, Told, entries, table, text

OPENED = "session.opened"
_KEYS = {"seq", "time", "lane", "type", "data"}


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of a saved log: its version, or an event."""
    return entry.keys() in ({"version"}, _KEYS)


def read(path: Path, reading: Reading) -> tuple[list[Told], int | None]:
    """Read the events, which stay in their order; a line that is none is a warning."""
    told: list[Told] = []
    reading.started = 0.0
    for line, entry in entries(path, reading):
        if (found := event(entry, text(entry.get("lane")), reading)) is not None:
            told.append(found)
        elif entry.get("version") not in range(VERSION + 1):
            reading.warn(line, f"no event, and no version up to {VERSION}", path)
    return [one for one in told if one[2][0] != OPENED], None


def event(entry: dict[str, Any], lane: str, reading: Reading) -> Told | None:
    """An event as it was saved, if it is one."""
    kind, time = text(entry.get("type")), entry.get("time")
    if not kind or not isinstance(time, int | float) or abs(time) >= LATEST:
        return None
    reading.lines[kind[:80]] += 1
    data = table(reading.kept(entry.get("data")))
    reading.note(models=data.get("model"))
    if kind == "run.started":
        reading.note(title=one_line(content_text(data.get("prompt")), 200))
    if kind == OPENED:  # it is said anew
        reading.note(**data)
    return float(time), lane, (kind, data)

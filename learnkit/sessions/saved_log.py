"""A log that learnkit has saved: the events as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnkit.events.log import VERSION
from learnkit.events.text import content_text
from learnkit.sessions.source import LATEST, Reading, Told, entries, table, text

_KEYS = {"seq", "time", "lane", "type", "data"}


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of a saved log: its version, or an event."""
    return entry.keys() in ({"version"}, _KEYS)


def read(path: Path, reading: Reading) -> list[Told]:
    """Read the events, which stay in their order; a line that is none is a warning."""
    told: list[Told] = []
    for line, entry in entries(path, reading):
        if not take(entry, told, reading) and entry.get("version") not in range(VERSION + 1):
            reading.warn(line, f"no event, and no version up to {VERSION}", path)
    return told


def take(entry: dict[str, Any], told: list[Told], reading: Reading) -> bool:
    """Read an event as it was saved; returns whether it is one."""
    kind, time = text(entry.get("type")), entry.get("time")
    if not kind or not isinstance(time, int | float) or abs(time) >= LATEST:
        return False
    reading.started = 0.0
    reading.lines[kind[:80]] += 1
    data = table(reading.kept(entry.get("data")))
    reading.note(models=data.get("model"))
    if kind == "run.started":
        reading.note(title=content_text(data.get("prompt")))
    if kind == "session.opened":  # it is said anew
        reading.note(**{name: data.get(name) for name in ("id", "title", "cwd", "branch")})
    else:
        told.append((float(time), text(entry.get("lane")), (kind, data)))
    return True

"""A log that learnkit has saved: the events as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnkit.events.log import VERSION
from learnkit.events.text import content_text, one_line
from learnkit.sessions.source import LATEST, Reading, Told, entries, table

_KEYS = {"seq", "time", "lane", "type", "data"}


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of a saved log: its version, or an event."""
    return entry.keys() in ({"version"}, _KEYS)


def read(path: Path, reading: Reading) -> tuple[list[Told], int | None]:
    """Read the events, which stay in their order; a line that is none is a warning."""
    told: list[Told] = []
    reading.started = 0.0
    for line, entry in entries(path, reading):
        match entry:
            case {"version": version}:
                if version not in range(VERSION + 1):
                    reading.warn(line, f"this learnkit reads logs up to version {VERSION}", path)
            case {"time": int() | float() as time, "lane": str(lane), "type": str(kind)} if (
                abs(time) < LATEST
            ):
                data = table(reading.kept(entry.get("data")))
                reading.lines[kind[:80]] += 1
                reading.note(models=data.get("model"))
                if kind == "run.started":
                    reading.note(title=one_line(content_text(data.get("prompt")), 200))
                if kind == "session.opened":
                    reading.note(**data)
                else:
                    told.append((float(time), lane, (kind, data)))
            case _:
                reading.warn(line, "no event", path)
    return told, None

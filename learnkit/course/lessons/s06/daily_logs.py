"""Lesson 6's sixty daily logs: too long for the context, and not all in one unit."""

from __future__ import annotations

import random
from pathlib import Path

#: Stations of a log, and their usual temperature in °C.
STATIONS = {"beijing": 27.0, "cairo": 32.0, "oslo": 15.0, "lima": 21.0}

#: Days whose logger was set to °F.
FAHRENHEIT = (3, 4, 17, 38, 39, 55)

_HOURS = ("02:00", "05:00", "08:00", "11:00", "14:00", "17:00", "20:00", "23:00")
_WARMTH = (-5.0, -6.0, -2.0, 3.0, 6.0, 4.0, 0.0, -3.0)


def celsius(day: int) -> dict[str, float]:
    """Return the highest temperature of each station on a day, in °C with one decimal."""
    return {name: max(values) for name, values in _readings(day).items()}


def log(day: int) -> str:
    """Return the log of a day, as the logger wrote it."""
    hot = day in FAHRENHEIT
    lines = [f"day {day:02}, unit {'F' if hot else 'C'}, logger 2"]
    for name, values in _readings(day).items():
        for hour, value in zip(_HOURS, values, strict=True):
            shown = round(value * 1.8 + 32, 1) if hot else value
            lines.append(f"{hour} {name:8} {shown:6.1f} battery ok signal ok")
    return "\n".join(lines) + "\n"


def write_logs(workspace: Path, days: int = 60) -> Path:
    """Write the logs of the first days."""
    folder = workspace / "logs"
    folder.mkdir()
    for day in range(1, days + 1):
        (folder / f"day_{day:02}.txt").write_text(log(day), encoding="utf-8")
    return folder


def _readings(day: int) -> dict[str, list[float]]:
    dice = random.Random(f"day {day}")
    weather = {name: usual + dice.gauss(0, 3) for name, usual in STATIONS.items()}
    return {
        name: [round(base + warmth + dice.gauss(0, 0.6), 1) for warmth in _WARMTH]
        for name, base in weather.items()
    }

"""Lesson 6's logs: sixty short ones, not all in one unit, and a summer with a line a minute."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path

#: Stations of a log, and their usual temperature in °C.
STATIONS = {"beijing": 27.0, "cairo": 32.0, "oslo": 15.0, "lima": 21.0}

#: Days whose logger was set to °F.
FAHRENHEIT = (3, 4, 17, 38, 39, 55)

#: The days and minutes on which a sensor of the archive measured something else, and who says so.
GRILLED, GRILL = (31, 76), range(1110, 1190)
REMARKS = {1110: "Charlie has his grill below the sensor", 1190: "grill is out"}

_HOURS = ("02:00", "05:00", "08:00", "11:00", "14:00", "17:00", "20:00", "23:00")
_WARMTH = (-5.0, -6.0, -2.0, 3.0, 6.0, 4.0, 0.0, -3.0)


def celsius(day: int) -> dict[str, float]:
    """Return the highest temperature of each station on a day, in °C with one decimal."""
    return {name: max(values) for name, values in _readings(day).items()}


@cache
def minutes(day: int) -> str:
    """Return a day of the summer's archive: 1,440 lines, and on some days a remark."""
    dice = random.Random(f"summer {day}")
    noon, warm = dice.randrange(780, 960), dice.uniform(30, 43)
    lines = [f"cairo: day {day:02}, a line a minute"]
    for minute in range(1440):
        value = warm - abs(minute - noon) / 60 + dice.gauss(0, 0.3)
        if day in GRILLED and minute in GRILL:
            value += 20
        lines += [REMARKS[minute]] if day in GRILLED and minute in REMARKS else []
        lines.append(f"{minute // 60:02}:{minute % 60:02} {value:5.1f} battery ok signal ok")
    return "\n".join(lines) + "\n"


def hottest(days: Iterable[int]) -> str:
    """Note the hottest minute of some days, as somebody does who also reads the remarks."""
    found = []
    for day in days:
        grilling = False
        for line in minutes(day).splitlines()[1:]:
            if "grill" in line:
                grilling = not grilling
            elif not grilling:
                found.append((float(line.split()[1]), f"day {day:02} at {line[:5]}"))
    celsius, when = max(found)
    return f"{celsius} °C on {when}"


def write_archive(folder: Path) -> None:
    """Write the summer: thirteen weeks, a file a day."""
    folder.mkdir()
    for day in range(1, 92):
        (folder / f"day_{day:02}.log").write_text(minutes(day), encoding="utf-8")


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

"""Reading station files."""

import csv
from dataclasses import dataclass
from pathlib import Path

STATIONS = Path("stations")


@dataclass(frozen=True)
class Reading:
    """One measurement: when, degrees Celsius, relative humidity in percent."""

    time: str
    celsius: float
    humidity: int


def read_station(path):
    """All readings of a station file, in order."""
    with Path(path).open(encoding="utf-8", newline="") as lines:
        return [
            Reading(row["time"], float(row["celsius"]), int(row["humidity"]))
            for row in csv.DictReader(lines)
        ]


def latest(station):
    """The last reading of a station."""
    return read_station(STATIONS / f"{station}.csv")[-1]


def names():
    """The stations there are, sorted."""
    return sorted(path.stem for path in STATIONS.glob("*.csv"))

"""Lesson 4's parsers: what the generator says of each is what its code does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from learnkit.course.lessons.s04.station_parsers import WAYS, source, way, write_parsers


def parser(number: int) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source(number), names)
    return names


def text(names: dict[str, Any], value: str, humidity: int = 50) -> str:
    line = ["08:00", "20.0", "20.0", str(humidity)]
    line[names["COLUMN"]] = value
    return "\n".join([*["head"] * names["HEADER"], names["SEPARATOR"].join(line)])


@pytest.mark.parametrize("number", range(1, 41))
def test_a_parser_does_what_is_said_of_it(number: int) -> None:
    names = parser(number)
    parse = names["parse"]
    assert parse(text(names, "20.0")) == [("08:00", 20.0 + names["OFFSET"])]
    gaps = {"-9999": ("-9999", 50), "NA": ("NA", 50), "empty": ("", 50)}
    gaps["negative humidity"] = ("20.0", -1)
    for kind, (value, humidity) in gaps.items():
        if kind == way(number):
            assert parse(text(names, value, humidity)) == []
        elif kind in ("NA", "empty"):
            with pytest.raises(ValueError, match="could not convert"):
                parse(text(names, value, humidity))
        else:
            assert parse(text(names, value, humidity)) != []


def test_each_way_occurs_among_forty_and_they_differ() -> None:
    assert {way(number) for number in range(1, 41)} == set(WAYS)
    assert len({source(number) for number in range(1, 41)}) == 40
    assert source(7) == source(7)


def test_they_are_written_as_files(tmp_path: Path) -> None:
    folder = write_parsers(tmp_path, 12)
    assert [path.name for path in sorted(folder.iterdir())][-1] == "station_12.py"
    assert (folder / "station_03.py").read_text(encoding="utf-8") == source(3)

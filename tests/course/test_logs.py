"""Lesson 6's logs: what is said of a day is what its log shows, in whichever unit."""

from __future__ import annotations

import pytest

from learnkit.course.lessons.s06.daily_logs import FAHRENHEIT, STATIONS, celsius, log


@pytest.mark.parametrize("day", [1, *FAHRENHEIT, 60])
def test_the_highest_values_are_those_of_the_log(day: int) -> None:
    head, *lines = log(day).splitlines()
    hot = day in FAHRENHEIT
    assert ("unit F" in head) == hot
    for name in STATIONS:
        values = [float(line.split()[2]) for line in lines if line.split()[1] == name]
        highest = (max(values) - 32) / 1.8 if hot else max(values)
        assert len(values) == 8
        assert highest == pytest.approx(celsius(day)[name], abs=0.06)

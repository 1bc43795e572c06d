"""All explorables there are: at most one a lesson."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from itertools import product

from project import ROOT

from learnkit.course import files
from learnkit.widget.explore import Explorable


def explorable(lesson: str) -> Explorable:
    """The explorable of a lesson, such as ``s06``."""
    made: Explorable = import_module(f"learnkit.course.lessons.{lesson}.explorable").explorable()
    return made


#: The names of the lessons that have an explorable.
NAMES = [
    name
    for name in files.named(ROOT / "notebooks")
    if find_spec(f"learnkit.course.lessons.{name}.explorable")
]


def all_places(shown: Explorable) -> list[dict[str, int]]:
    """Every state of an explorable, as numbers of values by control."""
    names = list(shown.controls)
    numbers = (range(len(control.values)) for control in shown.controls.values())
    return [dict(zip(names, places, strict=True)) for places in product(*numbers)]

"""The house is as docs/architecture.md describes it, and nothing goes round in a circle."""

from __future__ import annotations

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from xml.etree import ElementTree

import grimp
import pytest
from project import ROOT, pyproject, tracked_files

PACKAGE = ROOT / "learnkit"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
FILES = [path.relative_to(PACKAGE) for path in tracked_files() if PACKAGE in path.parents]
ROOMS = {path.parts[0].removesuffix(".py") for path in FILES} - {
    *("__init__", "__init__.pyi", "__main__", "py.typed")
}
#: Imports inside of functions and for types only count like all others.
GRAPH = grimp.build_graph("learnkit", cache_dir=None)


def layers() -> list[list[str]]:
    """The rooms as the linter has them, the highest layer first."""
    (contract,) = (
        one for one in pyproject()["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    return [re.split(r"\s*\|\s*", layer) for layer in contract["layers"]]


def test_the_page_describes_every_room_from_the_top_down() -> None:
    described = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(described) == sorted(ROOMS)
    floor = {room: number for number, rooms in enumerate(layers()) for room in rooms}
    assert set(floor) == {*ROOMS, "__main__"}  # which only starts the terminal
    assert described == sorted(described, key=lambda room: floor[room])


@pytest.mark.parametrize("name", ["architecture.svg", "architecture-narrow.svg"])
def test_the_picture_has_every_room_in_the_order_of_imports(name: str) -> None:
    drawn: dict[str, list[str]] = {"room": [], "log": []}
    for text in ElementTree.parse(ROOT / "docs" / name).iter("{http://www.w3.org/2000/svg}text"):
        if (kind := text.get("class")) in drawn:
            drawn[kind] += "".join(text.itertext()).split("·")
    stations, row = drawn["room"][: -len(ROOMS)], drawn["room"][-len(ROOMS) :]
    floor = {room: number for number, rooms in enumerate(layers()) for room in rooms}
    assert sorted(row) == sorted(ROOMS)
    assert set(stations) < ROOMS
    assert row == sorted(row, key=lambda room: floor[room])
    events = (ROOT / "docs" / "events.md").read_text("utf-8")
    assert drawn["log"]
    assert [one for one in drawn["log"] if f"| `{one}` |" not in events] == []


def test_the_paths_on_the_page_exist() -> None:
    paths = re.findall(r"`([a-z]+/(?:[a-z_]+(?:\.py|/))?)`", PAGE)
    assert len(paths) >= 8
    places = (PACKAGE, ROOT)
    assert [one for one in paths if not any((place / one).exists() for place in places)] == []


def test_no_file_imports_itself_by_way_of_others() -> None:
    imports = {
        module: GRAPH.find_modules_directly_imported_by(module)
        for module in GRAPH.modules - {"learnkit"}
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_a_room_can_be_taken_in_at_a_glance() -> None:
    assert len(ROOMS) <= 14
    modules = Counter(path.parent for path in FILES if path.suffix == ".py")
    assert {str(folder): count for folder, count in modules.items() if count > 26} == {}

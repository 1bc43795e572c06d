"""Lesson 2's explorable: its tools reach what real ones reach, on real files."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.course.lessons.s02.explorable import (
    ABSENT,
    BASH,
    ESCAPES,
    FILE_TOOLS,
    HOME,
    INSIDE,
    LINKS,
    PATHS,
    REACHES,
    REFUSED,
    ROOT,
    SECRET,
    WITH,
    WITHOUT,
    draw,
    outcomes,
    way,
)
from learnkit.views.drawing.display import WIDE

FILES = [SECRET, *(f"{ROOT}/{name}" for name in INSIDE if not name.endswith("/"))]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The files of the picture; each says where it is."""
    for name in FILES:
        place = real(tmp_path, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if name in LINKS:
            place.symlink_to(LINKS[name])
        else:
            place.write_text(f"this is {name}")
    return tmp_path


def real(home: Path, path: str) -> Path:
    return Path(path.replace(HOME, str(home)))


def called(tools: lk.CodingTools, tool: str, path: str, place: Path) -> bool:
    """Whether a call of a tool has reached a file."""
    before, changed = place.read_text(), "changed"
    quoted = shlex.quote(path)
    calls = {
        "read_file": [{"path": path}],
        "write_file": [{"path": path, "content": changed}],
        "edit_file": [{"path": path, "old_text": before, "new_text": changed}],
        BASH: [{"command": f"cat {quoted}"}, {"command": f"printf {changed} > {quoted}"}],
    }[tool]
    try:
        output = [getattr(tools, tool).run(None, arguments) for arguments in calls]
    except lk.ToolError as error:
        if "outside the workspace" not in str(error):
            raise
        assert place.read_text() == before
        return False
    assert tool not in ("read_file", BASH) or output[0] == before
    assert (place.read_text() == changed) == (tool != "read_file")
    place.write_text(before)
    return True


@pytest.mark.parametrize("path", PATHS)
def test_real_tools_reach_the_file_that_the_picture_marks(home: Path, path: str) -> None:
    tools = lk.CodingTools(real(home, ROOT))
    place = real(home, way(path).end)
    typed = str(real(home, path))
    for tool, outcome in outcomes(path, WITH).items():
        assert called(tools, tool, typed, place) == (outcome in (REACHES, ESCAPES)), tool


def test_the_tools_of_the_picture_are_those_of_the_package(tmp_path: Path) -> None:
    names = {tool.name for tool in lk.CodingTools(tmp_path).tools}
    assert names == {*FILE_TOOLS, BASH}


def test_what_leads_out_is_refused_by_file_tools_and_only_bash_gets_there() -> None:
    outside = [path for path in PATHS if not way(path).is_inside]
    assert outside == ["../secret.txt", "docs/../../secret.txt", SECRET, "link"]
    for path in PATHS:
        files = REFUSED if path in outside else REACHES
        bash = ESCAPES if path in outside else REACHES
        assert outcomes(path, WITH) == {**dict.fromkeys(FILE_TOOLS, files), BASH: bash}
        assert outcomes(path, WITHOUT)[BASH] == ABSENT


@pytest.mark.parametrize("tools", [WITH, WITHOUT])
@pytest.mark.parametrize("path", PATHS)
def test_the_finding_and_the_arrows_say_who_gets_there(path: str, tools: str) -> None:
    answer, led = draw(WIDE, path, tools), way(path)
    assert ("leads out" in answer.finding) == (not led.is_inside)
    assert ("through" in answer.canvas) == led.is_inside
    assert ("past" in answer.canvas) == (tools == WITH)
    assert ("bash reaches" in answer.finding) == (tools == WITH and not led.is_inside)
    marked = {one.key for one in answer.canvas.shapes if one.key.startswith("bar ")}
    assert marked == {f"bar {one}" for one in (led.end, led.link) if one}
    for said in (ROOT, "/workspace", *LINKS.values(), "in no sandbox"):
        assert said in answer.assumes

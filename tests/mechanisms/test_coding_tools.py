"""The coding tools, on real files and processes."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from threads import beside, once

import learnkit as lk
from learnkit.core.agent import Agent
from learnkit.errors import ToolError
from learnkit.mechanisms.coding import CodingTools
from learnkit.runtime.truncate import OUTPUT_LIMIT


class Tools:
    """The four tools of a workspace, called as the loop calls them."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.made = CodingTools(folder, **options)
        self.folder = self.made.workspace.root
        self._tools = {tool.name: tool for tool in self.made.tools}

    def call(self, name: str, agent: Agent | None = None, /, **arguments: Any) -> str:
        result = self._tools[name].run(agent, arguments)
        assert isinstance(result, str)
        return result

    def bash(self, command: str) -> str:
        return self.call("bash", command=command)

    def read(self, path: str, **arguments: int) -> str:
        return self.call("read_file", path=path, **arguments)

    def write(self, path: str, content: str) -> str:
        return self.call("write_file", path=path, content=content)

    def edit(self, path: str, old_text: str, new_text: str) -> str:
        return self.call("edit_file", path=path, old_text=old_text, new_text=new_text)

    def every(self, path: str) -> list[Callable[[], str]]:
        """Each of the file tools on a path."""
        return [
            lambda: self.read(path),
            lambda: self.write(path, "changed"),
            lambda: self.edit(path, "secret", "changed"),
        ]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path / "workspace")


def file_of(tools: Tools, text: str | bytes, name: str = "f") -> Path:
    path = tools.folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# bash


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("echo hi", "hi"),
        ("echo; echo ' hi'; echo", "\n hi"),
        ("true", "(no output)"),
        ("echo hi; exit 3", "hi\n[exit code 3]"),
        ("exit 1", "[exit code 1]"),
        ("pwd", "/workspace"),
        ("echo $PWD/a:$PWD2 $PWD.", "/workspace/a: /workspace."),
        ("cd / && ls -d $OLDPWD", "/workspace"),
        ("mkdir -p /workspace/sub && cd /workspace/sub && pwd", "/workspace/sub"),
        ("echo a >/workspace/x && cat '/workspace/x' && ls", "a\nsub\nx"),
        (
            "echo not/workspace /workspaces /workspace.bak",
            "not/workspace /workspaces /workspace.bak",
        ),
    ],
)
def test_bash(tools: Tools, command: str, result: str) -> None:
    (tools.folder / "sub").mkdir()
    if "ls" not in command:
        (tools.folder / "sub").rmdir()
    assert tools.bash(command) == result


def test_bash_hides_the_real_path_whichever_way_it_is_written(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    tools = Tools(link)
    assert tools.bash(f"echo {link}/a {real}/b {real}2 {link}-3") == (
        f"/workspace/a /workspace/b {real}2 {link}-3"
    )


@pytest.mark.slow
def test_at_the_limit_bash_is_an_error_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^begun\n\[timed out after 2 s; split"):
        Tools(tmp_path, timeout=2).bash("echo begun; sleep 300")
    with pytest.raises(ToolError, match=r"^\[timed out after 0\.1 s"):
        Tools(tmp_path, timeout=0.1).bash("sleep 300")


def test_the_stop_signal_of_the_agent_reaches_bash(tools: Tools) -> None:
    agent = Agent(lk.scripted([], lk.SystemClock()), [tools.made])
    cancelled = pytest.raises(ToolError, match=r"^hi\n\[cancelled: the run was stopped\]")
    with beside(once((tools.folder / "begun").exists, agent.stop.set)), cancelled:
        tools.call("bash", agent, command="echo hi; touch begun; sleep 300")


def test_bash_in_a_workspace_that_is_gone_hides_the_real_path(tools: Tools) -> None:
    shutil.rmtree(tools.folder)
    with pytest.raises(ToolError, match="'/workspace': there is no such folder"):
        tools.bash("true")


# read_file


def test_read_file_returns_the_text_as_it_is(tools: Tools) -> None:
    text = "a\r\n\tü 漢字\u2028still the second\n\n  end"
    file_of(tools, text)
    assert tools.read("f") == text
    assert tools.read("/workspace/f") == text
    assert tools.read(str(tools.folder / "f")) == text


TEN = "".join(f"line {number}\n" for number in range(10))


@pytest.mark.parametrize(
    ("window", "result"),
    [
        ({}, TEN),
        ({"limit": 10}, TEN),
        ({"limit": 2}, "line 0\nline 1\n[… 8 more lines; continue with offset=2 …]"),
        ({"limit": 2, "offset": 3}, "line 3\nline 4\n[… 5 more lines; continue with offset=5 …]"),
        ({"offset": 8}, "line 8\nline 9\n"),
        ({"limit": 99, "offset": 9}, "line 9\n"),
    ],
)
def test_read_file_can_read_a_part(tools: Tools, window: dict[str, int], result: str) -> None:
    file_of(tools, TEN)
    assert tools.read("f", **window) == result


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"offset": 10}, "past the end: the file has 10 lines"),
        ({"offset": -1}, "offset -1; limit must be at least 1, offset at least 0"),
        ({"limit": 0}, "limit is 0 .*limit must be at least 1"),
    ],
)
def test_a_part_that_is_none_is_an_error(
    tools: Tools, window: dict[str, int], message: str
) -> None:
    file_of(tools, TEN)
    with pytest.raises(ToolError, match=message):
        tools.read("f", **window)


def test_a_long_file_is_cut_and_says_so(tools: Tools) -> None:
    file_of(tools, "".join(f"{number}\n" for number in range(100_000)))
    result = tools.read("f")
    assert len(result) < OUTPUT_LIMIT + 100
    assert result.startswith("0\n1\n2\n")
    assert "characters left out" in result
    assert result.endswith("99999\n\n[… read it in parts with limit and offset …]")
    assert tools.read("f", limit=1, offset=50_000).startswith("50000\n[… 49,999 more lines")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"text\0more", b"\x89PNG\r\n\x1a\n\0"])
def test_a_binary_file_is_an_error(tools: Tools, data: bytes) -> None:
    path = file_of(tools, data)
    with pytest.raises(ToolError, match=rf"/workspace/f is a binary file \({len(data)} bytes\)"):
        tools.read("f")
    with pytest.raises(ToolError, match="binary file"):
        tools.edit("f", "text", "other")
    assert path.read_bytes() == data


def test_a_missing_file_is_an_error_that_names_a_similar_one(tools: Tools) -> None:
    file_of(tools, "", "hello.py")
    with pytest.raises(ToolError, match=r"no file /workspace/helo\.py\. Did you mean 'hello\.py'"):
        tools.read("helo.py")
    with pytest.raises(ToolError, match=r"no file /workspace/none/a\.py\.$"):
        tools.read("none/a.py")


# write_file


def test_write_file_creates_and_replaces(tools: Tools) -> None:
    assert tools.write("a.py", "one\ntwo") == "Created /workspace/a.py (2 lines)."
    assert tools.write("/workspace/a.py", "1\n") == "Replaced /workspace/a.py (1 line)."
    assert (tools.folder / "a.py").read_text() == "1\n"
    assert tools.write("empty", "") == "Created /workspace/empty (0 lines)."


def test_permissions_are_kept_and_new_files_have_the_usual_ones(tools: Tools) -> None:
    script = file_of(tools, "#!/bin/sh\n", "run")
    script.chmod(0o750)
    tools.write("run", "#!/bin/sh\necho hi\n")
    tools.edit("run", "hi", "there")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    tools.write("new", "")
    (tools.folder / "usual").touch()
    assert (tools.folder / "new").stat().st_mode == (tools.folder / "usual").stat().st_mode


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tools: Tools) -> None:
    path = file_of(tools, "old")
    with pytest.raises(ToolError, match="not valid Unicode"):
        tools.write("f", "new \ud800")
    with pytest.raises(ToolError, match="File name too long"):
        tools.write("x" * 300, "new")
    assert path.read_text() == "old"
    assert list(tools.folder.iterdir()) == [path]


# edit_file


def test_edit_file_replaces_the_first_place(tools: Tools) -> None:
    path = file_of(tools, "a = 1\nb = 2\nc = 3\n")
    assert tools.edit("f", "b = 2", "b = 5") == "Edited /workspace/f at line 2."
    assert path.read_text() == "a = 1\nb = 5\nc = 3\n"


def test_edit_file_says_when_there_are_several(tools: Tools) -> None:
    path = file_of(tools, "30\nx\n30\n30\n")
    report = tools.edit("f", "30", "31")
    assert path.read_text() == "31\nx\n30\n30\n"
    assert "3 times (lines 1, 3, 4) and only the first was replaced" in report


def test_edit_file_names_the_lines_of_a_text_of_several_lines(tools: Tools) -> None:
    tools.write("a.txt", "x\none\ntwo\n\none\ntwo\none\ntwo\n")
    assert "(lines 2, 5, 7)" in tools.edit("a.txt", "one\ntwo\n", "three\n")


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("return totl", "line 3: 'return total'"),
        ("x!", "line 4: 'x'"),
        ("retrun total", "line 3: 'return total'"),
        ("nothing alike", "Read the file again"),
        ("x" * 300, "Read the file again"),
        ("\n\n\n\n", "Read the file again"),
    ],
)
def test_the_hint_names_the_first_line_that_is_nearest(
    tools: Tools, wanted: str, hint: str
) -> None:
    tools.write("a.txt", "def add(total):\n\n    return total\nx\nreturn total\nreturns total\n")
    with pytest.raises(ToolError, match=re.escape(hint)):
        tools.edit("a.txt", wanted, "")


def test_text_that_is_not_there_is_an_error_with_the_nearest_line(tools: Tools) -> None:
    path = file_of(tools, "import os\n\n    def greet(name):\n        pass\n")
    with pytest.raises(
        ToolError, match=r"closest match is line 3: 'def greet\(name\):'\. White space"
    ):
        tools.edit("f", "\ndef gret(name):\n    pass", "x")
    with pytest.raises(ToolError, match=r"was not found in /workspace/f\. Read"):
        tools.edit("f", "$$$$$$$$", "x")
    assert path.read_text().startswith("import os\n\n    def greet")


def test_an_edit_that_cannot_mean_anything_is_an_error(tools: Tools) -> None:
    file_of(tools, "a")
    with pytest.raises(ToolError, match="old_text is empty; use write_file"):
        tools.edit("f", "", "b")
    with pytest.raises(ToolError, match="nothing would change"):
        tools.edit("f", "a", "a")
    with pytest.raises(ToolError, match="no file /workspace/g"):
        tools.edit("g", "a", "b")


def test_line_ends_stay_as_they_are(tools: Tools) -> None:
    path = file_of(tools, b"one\r\ntwo\r\nthree\r\n")
    tools.edit("f", "one\ntwo", "1\n2\n2.5")
    assert path.read_bytes() == b"1\r\n2\r\n2.5\r\nthree\r\n"
    mixed = file_of(tools, b"one\r\ntwo\nthree", "mixed")
    tools.edit("mixed", "two\n", "2\n")
    assert mixed.read_bytes() == b"one\r\n2\nthree"


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(before=TEXT, old=TEXT.filter(bool), after=TEXT, new=TEXT)
@example(before="\r\n", old="a", after="", new="\n")
def test_edit_is_replace_and_read_gives_it_back(
    tmp_path_factory: pytest.TempPathFactory, before: str, old: str, after: str, new: str
) -> None:
    tools = Tools(tmp_path_factory.mktemp("edit"))
    text = before + old + after
    tools.write("f", text)
    assert tools.read("f") == (text if text.strip() else "(no output)")
    if old == new:
        return
    tools.edit("f", old, new)
    expected = text.replace(old, new, 1)
    path = tools.folder / "f"
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        assert path.read_bytes().replace(b"\r\n", b"\n").decode() == expected.replace("\r\n", "\n")
    else:
        assert path.read_bytes().decode() == expected


# Confinement


@pytest.fixture
def traps(tools: Tools, tmp_path: Path) -> Tools:
    """A workspace with links that lead out, and a neighbour whose name begins the same."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    neighbour = tmp_path / "workspace2"
    neighbour.mkdir()
    (neighbour / "secret").write_text("secret")
    (tools.folder / "file").symlink_to(outside / "secret")
    (tools.folder / "folder").symlink_to(outside)
    (tools.folder / "dangling").symlink_to(outside / "new")
    (tools.folder / "relative").symlink_to("../outside/secret")
    (tools.folder / "twice").symlink_to("folder")
    return tools


OUTSIDE = [
    "../outside/secret",
    "a/../../outside/secret",
    "..",
    "/etc/passwd",
    "/workspace/../outside/secret",
    "../workspace2/secret",
    "file",
    "relative",
    "folder",
    "folder/secret",
    "folder/new",
    "twice/secret",
    "folder/../outside/secret",
    "dangling",
    "/",
    "//etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/workspacex/file",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out(traps: Tools, tmp_path: Path, path: str) -> None:
    for attempt in traps.every(path):
        with pytest.raises(ToolError, match="outside the workspace; use a relative path"):
            attempt()
    assert (tmp_path / "outside" / "secret").read_text() == "secret"
    assert [one.name for one in (tmp_path / "outside").iterdir()] == ["secret"]


def test_the_error_does_not_show_the_real_path(traps: Tools) -> None:
    with pytest.raises(ToolError, match=r"^'/workspace/\.\./x' is outside"):
        traps.read(f"{traps.folder}/../x")


@pytest.mark.parametrize("path", ["", " ", "a\0b", "\0", "a\ud800"])
def test_what_cannot_be_a_path_is_an_error(tools: Tools, path: str) -> None:
    for attempt in tools.every(path):
        with pytest.raises(ToolError, match="is not a valid path"):
            attempt()
    assert list(tools.folder.iterdir()) == []


def test_links_that_stay_inside_work_and_stay_links(tools: Tools) -> None:
    target = file_of(tools, "one", "target")
    link = tools.folder / "link"
    link.symlink_to("target")
    (tools.folder / "later").symlink_to("made-later")
    assert tools.read("link") == "one"
    tools.write("link", "two")
    tools.edit("link", "two", "three")
    assert target.read_text() == "three"
    assert link.is_symlink()
    tools.write("later", "new")
    assert (tools.folder / "made-later").read_text() == "new"


@pytest.mark.parametrize("path", ["loop", "loop/x", "loop/../folder/secret", "folder/../loop"])
def test_a_link_to_itself_is_an_error_and_no_way_out(traps: Tools, path: str) -> None:
    (traps.folder / "loop").symlink_to("loop")
    (traps.folder.parent / "loop").symlink_to("loop")
    for attempt in traps.every(path):
        with pytest.raises(ToolError):
            attempt()
    assert (traps.folder / "loop").is_symlink()
    assert (traps.folder.parent / "outside" / "secret").read_text() == "secret"


def test_a_hard_link_out_is_cut_and_not_written_through(tools: Tools, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("old")
    os.link(outside, tools.folder / "link")
    tools.write("link", "new")
    assert outside.read_text() == "old"


PARTS = [
    "..",
    ".",
    "",
    "/",
    "a",
    "folder",
    "file",
    "dangling",
    "twice",
    "loop",
    "workspace",
    "~",
    "\0",
]


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=6), st.booleans())
def test_whatever_the_path_nothing_outside_changes(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], absolute: bool
) -> None:
    base = tmp_path_factory.mktemp("confine")
    outside = base / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    tools = Tools(base / "workspace")
    (tools.folder / "folder").symlink_to(outside)
    (tools.folder / "file").symlink_to(outside / "secret")
    (tools.folder / "dangling").symlink_to(outside / "new")
    (tools.folder / "twice").symlink_to("folder")
    (tools.folder / "loop").symlink_to("loop")
    path = ("/" if absolute else "") + "/".join(parts)
    try:
        tools.write(path, "written")
    except ToolError as error:
        assert str(base) not in str(error)  # noqa: PT017 (both ways are right)
    else:
        written = tools.made.workspace.locate(path)
        assert written.is_relative_to(tools.folder)
        assert tools.read(path) == "written"
    assert sorted(one.name for one in base.iterdir()) == ["outside", "workspace"]
    assert [one.name for one in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "secret"


def test_under_its_true_name_a_command_runs_as_it_was_written(tmp_path: Path) -> None:
    agent = lk.full_agent(lk.scripted([lk.say("ok")]), tmp_path, daily=True, without=["worktrees"])
    agent.run("hello")
    line = "echo WORKDIR /workspace > Dockerfile; pwd; cat Dockerfile"
    said = str(agent.tools["bash"].run(agent, {"command": line}))
    assert said.splitlines() == [str(tmp_path.resolve()), "WORKDIR /workspace"]
    assert (tmp_path / "Dockerfile").read_text() == "WORKDIR /workspace\n"
    edit = {"path": "Dockerfile", "old_text": "/workspace", "new_text": "/app"}
    assert str(tmp_path.resolve()) in str(agent.tools["edit_file"].run(agent, edit))
    assert (tmp_path / "Dockerfile").read_text() == "WORKDIR /app\n"
    with pytest.raises(ToolError, match="outside"):
        agent.tools["read_file"].run(agent, {"path": "/workspace/Dockerfile"})
    with pytest.raises(
        ToolError, match=r"^a\n\[timed out after 1 s; give a longer timeout, or use b"
    ):
        agent.tools["bash"].run(agent, {"command": "echo a; sleep 300", "timeout": 1})
    with pytest.raises(ToolError, match="give 1 to 3600"):
        agent.tools["bash"].run(agent, {"command": "ls", "timeout": 3601})

"""The examples run as they stand, offline; docs/scripts.md names each of them, and every tool."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from project import ROOT

import learnkit as lk

PAGE = (ROOT / "docs/scripts.md").read_text("utf-8")
PRINTED = {
    "one_mechanism": ["One of two is done.", "'status': 'completed'", "'status': 'in_progress'"],
    "own_tool": ["its English name", "31.4 °C in Beijing", "It is hot in Beijing."],
    "own_mechanism": ["ran | looking", "ran | looking", "refused | the budget is spent", "I stop"],
    "own_view": ["calls: bash 2×, write_file 1×", "True"],
    "several_machines": [
        "they ended with [0, 0]",
        "['completed', 'completed', 'completed', 'completed']",
        "['blue.txt', 'green.txt', 'red.txt', 'white.txt']",
        "[('alice', 'shutdown'), ('bob', 'shutdown')]",
    ],
    "whole_harness": ["tools; True", "[('second', 'active')]", "completed"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_is_to_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process; in one of its own they run from the wheel: see tests/wheel."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    shown = capfd.readouterr()
    assert shown.err == ""
    lines = shown.out.splitlines()
    assert len(lines) == len(PRINTED[name])
    for line, said in zip(lines, PRINTED[name], strict=True):
        assert said in line


def test_every_example_is_tried_here_and_named_on_the_page() -> None:
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    # Those two are compared, and run, in tests/course.
    assert names == {*PRINTED, "agent", "agent_beyond"}
    assert names == set(re.findall(r"\]\(\.\./examples/(\w+)\.py\)", PAGE))


def test_the_page_lists_the_tools_that_each_lesson_adds(tmp_path: Path) -> None:
    assert lk.LocalShell().run("git init -q", tmp_path).code == 0
    agent = lk.full_agent(lk.scripted([]), tmp_path, skills=ROOT / "skills")
    rows = re.findall(r"^\| (\d+) \| (`\w+`(?:, `\w+`)*) \|$", PAGE, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 13))
    listed = [name for _, names in rows for name in re.findall(r"`(\w+)`", names)]
    assert sorted(listed) == sorted(agent.tools)
    assert len(listed) == len(set(listed))
    of = {type(one).__name__: {tool.name for tool in one.tools} for one in agent.mechanisms}
    homes = ["Todo", "Subagents", "Skills", "Compaction", "Tasks", "Background", "Team"]
    homes += ["Protocols", "Autonomy", "Worktrees"]
    for (_, names), home in zip(rows[2:], homes, strict=True):
        assert set(re.findall(r"`(\w+)`", names)) == of[home]

"""Lesson b1's sandbox, and the table in which it stands beside the other gates."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from cells import agent, cells, code
from gates import DELETE, at_work, harm

import learnkit as lk
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.lessons.b1.explorable import PASSES, STEPS
from learnkit.course.lessons.b1.sandbox import works

BOX = {"SANDBOX": True, "KEEP": ["stations"]}


def table(monkeypatch: pytest.MonkeyPatch, capsys: Any, module: ModuleType) -> dict[str, list[str]]:
    """The lesson's table, as its cells print it with this module: a gate's column, by its name."""
    monkeypatch.setitem(sys.modules, "agent", module)
    names: dict[str, Any] = {"lab": lk.lesson("b1"), "lk": lk}
    cells = [source for source in code("b1") if "%%agent" not in source]
    first = next(n for n, source in enumerate(cells) if "def obedient" in source)
    for source in cells[first:]:
        if "lab." not in source or "def morning" in source or "ALICES =" in source:
            exec(source, names)
        if "def table" in source:
            break
    names["lab"].remove()
    printed = capsys.readouterr().out
    heads, *rows = printed[printed.index(f"{'':10} rules") :].splitlines()
    starts = [heads.index(gate) for gate in names["GATES"]]
    assert printed.endswith("\n".join([heads, *rows, ""]))
    return {
        gate: [row[at:].split()[0] for row in rows]
        for gate, at in zip(names["GATES"], starts, strict=True)
    }


def test_the_table_is_as_committed_and_the_repairs_change_two_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bobs = AgentCells("b1", None)
    for source in code("b1"):
        if source.startswith("%%agent\n"):
            bobs.run("", source.removeprefix("%%agent\n"))
    naive = table(monkeypatch, capsys, bobs.module)
    (shown,) = (c.outputs[0].text for c in cells("b1") if "def table" in c.source)
    for gate, ends in naive.items():
        at = shown.index(gate)
        assert [row[at:].split()[0] for row in shown.splitlines()[1:]] == ends, gate
    repaired = table(monkeypatch, capsys, agent("b1"))
    assert [gate for gate in naive if naive[gate] != repaired[gate]] == ["rules", "typo"]
    assert set(repaired["typo"]) == {"stopped"}
    for gate in {*naive} - {"typo"}:  # no column is all the same
        assert len({*repaired[gate]}) == 2, gate


def test_each_command_of_the_picture_ends_as_it_says() -> None:
    module = agent("b1")
    assert works(module)
    for step in STEPS:
        if step.tool == "bash":
            with at_work(module, **BOX) as folder:
                (folder / "tests" / "conftest.py").write_text(DELETE)
                module.bash(module.Agent(), step.about)
                assert bool(harm(folder)) == bool(step.end), step
            with at_work(module) as folder:  # and without it
                (folder / "tests" / "conftest.py").write_text(DELETE)
                module.bash(module.Agent(), step.about)
                assert bool(harm(folder)) == bool(step.end or step.sandbox[0] != PASSES), step


def test_nothing_runs_without_bubblewrap() -> None:
    module = agent("b1")
    call = {"id": "toolu_1", "name": "bash", "input": {"command": "touch stations/made"}}
    with at_work(module, RULES={"allow": ["bash"]}, BWRAP="no-such-bwrap", **BOX) as folder:
        assert module.run_call(module.Agent(), call)["is_error"]
        assert not harm(folder)

"""Lesson b1's sandbox, and the table in which it stands beside the other gates."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest
from cells import agent, cell, cells, code
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
    for start in ("def obedient", "def morning(", "ATTACKS", "def tried", "ALICES", "GATES = "):
        exec(cell("b1", start), names)
    capsys.readouterr()
    exec(cell("b1", "def table"), names)
    names["lab"].remove()
    heads, *rows = capsys.readouterr().out.splitlines()
    return columns(names["GATES"], heads, rows)


def columns(gates: Iterable[str], heads: str, rows: list[str]) -> dict[str, list[str]]:
    return {gate: [row[heads.index(gate) :].split()[0] for row in rows] for gate in gates}


def test_the_table_is_as_committed_and_a_repair_changes_one_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bobs = AgentCells("b1", None)
    for source in code("b1"):
        if source.startswith("%%agent\n"):
            bobs.run("", source.removeprefix("%%agent\n"))
    naive = table(monkeypatch, capsys, bobs.module)
    (shown,) = (c.outputs[0].text for c in cells("b1") if "def table" in c.source)
    heads, *rows = shown.splitlines()
    assert columns(naive, heads, rows) == naive
    repaired = table(monkeypatch, capsys, agent("b1"))
    assert [gate for gate in naive if naive[gate] != repaired[gate]] == ["rules"]
    work = {gate for gate, (first, *_) in repaired.items() if first == "done"}
    assert {*naive} - work == {"plan mode"}
    for gate in naive:  # no gate stops every attack, and none lets all pass
        assert len({*repaired[gate][1:]}) == 2, gate


def test_each_command_of_the_picture_ends_as_it_says() -> None:
    module = agent("b1")
    assert works(module)
    for step in STEPS:
        if step.tool == "bash":
            with at_work(module, **BOX) as folder:
                (folder / "tests" / "conftest.py").write_text(DELETE)
                module.bash(module.Agent(), step.about)
                assert bool(harm(folder)) == step.harm, step
            with at_work(module) as folder:  # and without it
                (folder / "tests" / "conftest.py").write_text(DELETE)
                module.bash(module.Agent(), step.about)
                assert bool(harm(folder)) == (step.harm or step.sandbox[0] != PASSES), step


def test_nothing_runs_without_bubblewrap() -> None:
    module = agent("b1")
    call = {"id": "toolu_1", "name": "bash", "input": {"command": "touch stations/made"}}
    with at_work(module, RULES={"allow": ["bash"]}, BWRAP="no-such-bwrap", **BOX) as folder:
        assert module.run_call(module.Agent(), call)["is_error"]
        assert not harm(folder)

"""Each listed semantic fault can be planted in the code as it is, and names a test."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.tools import semantic_faults
from tests.tools.tree_copy import ROOT


@cache
def source_of(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def test_a_fault_can_be_planted_and_names_its_test() -> None:
    wrong = []
    for fault in semantic_faults.read_faults():
        source = source_of(fault.file)
        if source.count(fault.old) != 1:
            wrong.append(f"{fault.file} has {source.count(fault.old)} times: {fault.old}")
            continue
        if not (fault.found_by or fault.why):
            wrong.append(f"{fault.file}: {fault.slip}: neither found_by nor why")
        if " " in fault.found_by.replace(" -k ", ""):
            wrong.append(f"{fault.found_by} has a blank, which ends an argument of pytest")
        file, *names = fault.found_by.partition("[")[0].split("::")
        tests = source_of(file) if names else ""
        wrong += [f"{file} has no {name}" for name in names if f" {name}" not in tests]
        if fault.room != fault.file.removeprefix("learnkit/").partition("/")[0].removesuffix(".py"):
            wrong.append(f"{fault.file} is in the list of {fault.room}")
    assert wrong == []


def test_a_fault_survives_the_tests_that_do_not_assert_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)  # the gate's, which this tree has not
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to load
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    (tmp_path / "shop.py").write_text("def total(prices):\n    return sum(prices)\n")
    (tmp_path / "test_total.py").write_text(
        "from shop import total\n\ndef test_three():\n    assert total([1, 2]) == 3\n"
    )
    (tmp_path / "test_type.py").write_text(
        "from shop import total\n\ndef test_type():\n    assert type(total([1, 2])) is int\n"
    )
    found, lost = (
        semantic_faults.SemanticFault(
            room="shop",
            slip="only the dearest is paid",
            file="shop.py",
            old="sum(prices)",
            new="max(prices)",
            by=by,
            found_by=tests,
        )
        for by, tests in (("author", "test_total.py"), ("stranger", "test_type.py"))
    )
    survived = semantic_faults.survivors([found, lost], root=tmp_path, warm=())
    assert survived == [lost]
    assert (
        semantic_faults.table([found, lost], survived).splitlines()[-1] == "| all | 1 | 0 | 1 | 1 |"
    )
    assert capsys.readouterr().out.splitlines() == [
        "found     shop.py: only the dearest is paid",
        "SURVIVED  shop.py: only the dearest is paid",
    ]

"""Every notebook present satisfies every rule, and every rule bites."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import executed
import nbformat
import pytest
from project import ROOT

from learnkit.course import files

from .broken import AGAIN, BREAKERS, FAILING, FOUND, Breaker, careless
from .rules import RULES, pasted
from .subject import Subject

NOTEBOOKS = files.named(ROOT / "notebooks")
#: The notebook that the broken copies are made from.
SAMPLE = "s01"


@cache
def subject(name: str) -> Subject:
    return Subject.read(NOTEBOOKS[name])


def copied(name: str) -> Subject:
    """A notebook that may be changed; its links start where the original's do."""
    original = subject(name)
    return replace(original, book=deepcopy(original.book))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_form(name: str) -> None:
    assert [finding for rule in RULES.values() for finding in rule(subject(name))] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_scenarios_are_rehearsed(name: str) -> None:
    found = executed.scenarios(subject(name).book)
    assert len(found) >= 3
    assert len(subject(name).code) - 1 not in found  # the last cell closes the lab


def test_no_function_is_pasted_from_lesson_to_lesson() -> None:
    assert pasted(subject(name) for name in NOTEBOOKS) == []


# The gate bites.


@pytest.mark.parametrize(("rule", "says", "breaker"), BREAKERS)
def test_a_broken_copy_is_found_out(rule: str, says: str, breaker: Breaker) -> None:
    check = RULES[rule]
    before = check(subject(SAMPLE))
    broken = copied(SAMPLE)
    broken = breaker(broken) or broken
    new = [finding for finding in check(broken) if finding not in before]
    assert any(says in finding for finding in new), new


@pytest.mark.slow
def test_a_careless_copy_is_found_out_where_it_is_executed(tmp_path: Path) -> None:
    """By the cells' repetitions and the rules that ``pytest --nbval`` adds to a notebook."""
    careless_copy = careless(copied(SAMPLE)).book
    for count, cell in enumerate(careless_copy.cells, start=1):
        cell.execution_count = count
    book = tmp_path / "notebooks" / f"{SAMPLE}_careless.ipynb"
    shutil.copytree(NOTEBOOKS[SAMPLE].parent / "recordings", book.parent / "recordings")
    nbformat.write(careless_copy, book)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    command = [sys.executable, "-m", "pytest", "--nbval", "--rehearse", "-n=0", "-rf", "notebooks"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    failed = re.findall(r"^FAILED [^:]+::(.+?)(?: - .*)?$", run.stdout, re.MULTILINE)
    assert {name for name in failed if name.endswith((" again", " after later ones"))} == AGAIN
    assert set(failed) >= {*executed.RULES, FAILING}
    for words in FOUND:
        assert words in run.stdout, words


def test_every_rule_has_a_copy_that_breaks_it() -> None:
    assert {rule for rule, _, _ in BREAKERS} == set(RULES)


def test_a_copy_pasted_into_another_lesson_is_found() -> None:
    one, other = copied("s04"), copied("s04")
    other = replace(other, path=Path("s99_copy.ipynb"))
    assert any("s99" in finding for finding in pasted([one, other]))

"""What must never be in the repository, and what must hold for each of its files."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from project import ROOT, pins, pyproject, requirements, tracked_files

import learnkit

TEXT = {".py", ".ipynb", ".md", ".toml", ".txt", ".yaml", ".yml", ".js", ".css", ".sh", ""}
FILE_BYTES = 500_000

HERE = re.escape(str(ROOT))

FORBIDDEN = {
    # The pattern is put together so that this file does not match itself.
    "a path of one machine": rf"{HERE}/|/(?:home|Users)/\w|/tmp/(?:lk-|pytest-|tmp\w)",
    "a package registry's host": r"(?i)https?://[^\s\")]*(?:" + "pypi|pythonhosted|npm" + "js)",
    "a check that cannot fail": r"\|\| tr" + "ue",
    "an error passed over": r"except(?: Exception)?:\s*pas" + "s",
    "unfinished work": r"\b(?:TO" + "DO|FIX" + r"ME)\b|NotImpl" + "ementedError",
    "a test that does not run": r"mark\.ski" + "p",
    "a key": r"sk-" + "ant-[A-Za-z0-9]",
}
MODEL_ID = re.compile(r"claude-" + r"[a-z]+-\d|claude-\d")


def texts(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Name and content of the repository's text files, of all kinds or of these suffixes."""
    for path in tracked_files():
        if path.suffix in (suffixes or TEXT):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_has(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts()
        if not name.startswith("notebooks/recordings/model/")  # what a model wrote stays as it is
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_model_ids_stand_in_the_catalog_only() -> None:
    catalog, trial = "learnkit/core/catalog.py", "docs/compared.md"  # one is dated, and stays so
    users = {name for name, text in texts(".py", ".ipynb", ".js", ".md") if MODEL_ID.search(text)}
    assert users == {catalog, trial}


def test_files_are_small() -> None:
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in tracked_files()}
    assert {name: size for name, size in sizes.items() if size > FILE_BYTES} == {}
    assert sum(sizes.values()) < 15_000_000


def test_nothing_that_a_tool_leaves_behind_is_in_the_repository() -> None:
    left = re.compile(r"__pycache__|\.(?:ipynb_checkpoints|venv|\w+_cache)/|\.pyc$|\.orig$")
    names = [path.relative_to(ROOT).as_posix() for path in tracked_files()]
    assert [name for name in names if left.search(name)] == []


def test_scripts_of_bash_stop_at_errors_and_can_be_run() -> None:
    scripts = [path for path in tracked_files() if first_line(path) == "#!/usr/bin/env bash"]
    assert ROOT / ".ci/run" in scripts
    for path in scripts:
        assert path.stat().st_mode & 0o111, f"{path} is not executable"
        assert "\nset -euo pipefail\n" in path.read_text("utf-8"), path


def first_line(path: Path) -> str:
    with path.open("rb") as file:
        return file.readline().decode("utf-8", "replace").rstrip("\n")


def test_every_requirement_has_a_pin_that_it_accepts() -> None:
    known_good = pins()
    for requirement in requirements("lab", "local", "mcp", "sql", "postgres", "test", "dev"):
        version = known_good[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} against {version}"


def test_every_pinned_version_runs_on_the_oldest_python_that_is_promised() -> None:
    needs = {}
    for name in pins():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # of another platform
            needs[name] = importlib.metadata.metadata(name).get("Requires-Python", "")
    assert len(needs) > 50
    too_new = {n: need for n, need in needs.items() if not SpecifierSet(need).contains("3.11.0")}
    assert too_new == {}


def test_the_citation_is_complete_and_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors", "version"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert all("name" in author or "family-names" in author for author in citation["authors"])
    assert citation["version"] == learnkit.__version__
    assert citation["license"] == pyproject()["project"]["license"]
    assert f"## {citation['version'].partition('.dev')[0]}" in (ROOT / "CHANGELOG.md").read_text(
        "utf-8"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ignored", "one"),
    [
        # A script that starts the tests with "&" makes them ignore interrupts.
        ("INT", "tests/mechanisms/test_team.py::test_an_interrupt_stops_the_team"),
        # nohup makes them ignore the end of the terminal.
        (
            "HUP",
            "tests/terminal/test_screen.py::"
            "test_a_signal_ends_it_and_leaves_nothing_behind[idle-HUP]",
        ),
    ],
)
def test_the_tests_can_run_where_a_signal_is_ignored(ignored: str, one: str) -> None:
    run = f"trap '' {ignored}; exec '{sys.executable}' -m pytest -q -n 0 -m '' '{one}'"
    done = subprocess.run(["bash", "-c", run], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_thread_loses_its_turn_wherever_it_has_woken_or_begun_something() -> None:
    """Else the stage of .ci/run that lets threads be overtaken would test nothing."""
    script = """
import subprocess, sys, threading, overtaken

lost = []
overtaken._sleep = lambda seconds: lost.append(seconds)
overtaken.begin("1")

from learnkit.events.log import EventLog

def wake():
    with condition:
        condition.notify_all()

log, condition, nobody = EventLog(), threading.Condition(), threading.Thread
acts = {
    "notify": wake,
    "set": lambda: threading.Event().set(),
    "start": lambda: nobody(target=int).start(),
    "process": lambda: subprocess.Popen([sys.executable, "-c", ""]).wait(),
    "event": lambda: log.append("x.happened"),
}
for name, act in acts.items():
    lost.clear()
    for _ in range(8 if name == "process" else 200):
        act()
    print(name, bool(lost), all(0 < one < overtaken.LONG for one in lost))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    names = ["notify", "set", "start", "process", "event"]
    assert ran.stdout.splitlines() == [f"{name} True True" for name in names], ran.stderr


# Imports and requirements


#: The extras under whose name a module may import, and how its text says so.
UNDER = {f'extra("{name}")': name for name in ("local", "mcp", "sql", "postgres", "test")}
UNDER["lab_extra()"] = "lab"


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Each package that a module imports, and the extra under which it does so; empty for none.

    What only a type checker imports may be of any extra.
    """

    def walk(node: ast.AST, extra: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.Import):
            yield from ((one.name.partition(".")[0], extra) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0], extra
        elif isinstance(node, ast.With):
            found = [UNDER.get(ast.unparse(one).replace("'", '"'), "") for one in node.items]
            extra = extra or "".join(found)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            extra = "any"
        for child in ast.iter_child_nodes(node):
            yield from walk(child, extra)

    yield from walk(ast.parse(path.read_text("utf-8")), "")


def modules() -> list[Path]:
    example = ROOT / "learnkit" / "lessons" / "heatwatch"
    found = (ROOT / "learnkit").rglob("*.py")
    return [path for path in found if not path.is_relative_to(example)]


@functools.cache
def declared_for(extra: str) -> set[str]:
    """The packages that learnkit requires with an extra; without one, if it is empty."""
    extras = (
        ["lab", "local", "mcp", "sql", "postgres"] if extra == "any" else [extra] if extra else []
    )
    return {canonicalize_name(one.name) for one in requirements(*extras)}


@functools.cache
def distributions() -> Mapping[str, Sequence[str]]:
    """Name of a module -> the packages that it comes with."""
    return importlib.metadata.packages_distributions()


def undeclared(path: Path) -> list[str]:
    """What a module imports, and neither the standard library nor a requirement provides."""
    brings = distributions()
    ours = {*sys.stdlib_module_names, "learnkit", "heatwatch", "annotationlib"}
    comes_with = {"pydantic-core": "pydantic"}  # of which it is the half that is compiled
    return [
        name
        for name, extra in imported(path)
        if name not in ours
        and not declared_for(extra)
        & {comes_with.get(one, one) for one in map(canonicalize_name, brings.get(name, (name,)))}
    ]


@pytest.mark.slow
def test_what_a_module_imports_is_declared() -> None:
    found = {path.relative_to(ROOT).as_posix(): undeclared(path) for path in modules()}
    assert {name: packages for name, packages in found.items() if packages} == {}


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["", "lab", "sql", "postgres"])
def test_what_is_declared_is_imported_or_started(extra: str) -> None:
    started = {"jupyterlab"} if extra == "lab" else set()
    brings = distributions()
    names = {name for path in modules() for name, under in imported(path) if under == extra}
    used = {canonicalize_name(one) for name in names for one in brings.get(name, ())} | started
    wanted = declared_for(extra) - (declared_for("") if extra else set())
    assert wanted <= used


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import nbformat.v4", ["nbformat"]),
        ("def f():\n    from IPython.display import display", ["IPython"]),
        ("with lab_extra():\n    import nbformat.v4", []),
        ("if TYPE_CHECKING:\n    from nbformat.v4 import Figure", []),
        ("with lab_extra():\n    import pytest", ["pytest"]),
        ("with extra('sql'):\n    import sqlalchemy.exc, psycopg", ["psycopg"]),
        ("import sqlalchemy", ["sqlalchemy"]),
        ("import jiter", ["jiter"]),
        ("import pydantic_core, yaml, anthropic.types\nfrom . import x", []),
    ],
)
def test_an_import_that_is_not_declared_is_found(
    source: str, found: list[str], tmp_path: Path
) -> None:
    (tmp_path / "m.py").write_text(source)
    assert undeclared(tmp_path / "m.py") == found

"""Errors in front of a learner: which cell to run first, and what was refused, in a few lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel
from project import ROOT

from learnkit.course.jupyter import errors as explain
from learnkit.course.workbook.start_page import book

LESSON = ROOT / "notebooks" / "s01_agent_loop.ipynb"


def notebook(folder: Path, *cells: str) -> Path:
    path = folder / "x.ipynb"
    kinds = [("markdown", one[3:]) if one.startswith("md:") else ("code", one) for one in cells]
    path.write_text(book(*[{"cell_type": kind, "source": text} for kind, text in kinds]))
    return path


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("import a.b, c as d\nfrom e import f as g, h", {"a", "d", "g", "h"}),
        ("x = y = 1\nu, (v, *w) = 1, (2, 3)", {"x", "y", "u", "v", "w"}),
        ("def f(a):\n    inner = a\nclass C:\n    field = 1", {"f", "C"}),
        ("with open('p') as file:\n    for n in file:\n        total = n", {"file", "n", "total"}),
        ("if (m := 1):\n    k: int = 2", {"m", "k"}),
        ("w = lambda a: a", {"w"}),
        ("%matplotlib inline", set()),
        ("def broken(", set()),
    ],
)
def test_what_a_cell_defines(tmp_path: Path, cell: str, names: set[str]) -> None:
    path = notebook(tmp_path, "md:## Here", cell)
    every = ("a", "c", "d", "e", "f", "g", "h", "x", "y", "u", "v", "w", "C", "field", "inner")
    for name in {*every, "file", "n", "total", "m", "k", "one", "broken", *names}:
        found = explain.where(name, path)
        assert ("under “Here”" in found) == (name in names), name


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[str], str]]:
    """Runs code in a kernel as `learnkit lab` starts it; gives the error's traceback."""
    live = {key: value for key, value in os.environ.items() if key != "LEARNKIT_STATIC"}
    live["PYTHONSTARTUP"] = str(ROOT / "learnkit" / "course" / "jupyter" / "startup.py")
    live["JPY_SESSION_NAME"] = str(LESSON)
    manager, client = start_new_kernel(kernel_name="python3", env=live)

    def failing(code: str) -> str:
        reply: dict[str, Any] = client.execute_interactive(
            code, output_hook=lambda _: None, timeout=60
        )
        failing.last = reply["content"]  # type: ignore[attr-defined]
        return "\n".join(reply["content"].get("traceback", []))

    try:
        yield failing
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_a_lesson_begun_in_its_middle_says_what_to_run_first(run: Callable[[str], str]) -> None:
    assert "'lab' is made by a cell under “1 · The agent loop”" in run('lab.predict("p1")')
    assert run("%%agent\nX = 1").startswith(
        "UsageError: 'lab' is made by a cell under “1 · The agent loop”"
    )
    said = run("TASK")
    assert "Run All Above Selected Cell" in said
    assert "\n" not in said, "one sentence, and no frames"
    run("from learnkit.course.agent_file.cells import register\ncells = register('s01', None)")
    assert "'run' is not in agent: run the cells above with %%agent" in run(
        "import agent\nagent.run"
    )
    for lesson in ("s01", "b1"):
        run(f"cells = register({lesson!r}, None)\nimport agent")
        run("%%agent\ndef f(agent):\n    return lead")
        said = run("lead = 1\nagent.f(lead)")
        assert said.startswith("NameError: agent has no 'lead'"), said
        assert "Parameters of f: agent." in said
    plain = run("never_heard_of_it")
    assert "NameError" in plain
    assert "is made by" not in plain
    assert run("explain_errors").count("NameError"), "the start leaves no names behind"


@pytest.mark.slow
def test_what_learnkit_and_the_api_refuse_comes_without_frames(run: Callable[[str], str]) -> None:
    assert run('from learnkit import lesson\nlab = lesson("s02")') == ""
    said = run('lab.predict("p9")')
    assert said == "UsageError: there is no prediction 'p9'; there are: p1, p2"
    said = run(
        'import learnkit as lk\nclient = lk.scripted(["x"])\n'
        "client.messages.create(model=client.model, max_tokens=0, messages=[])"
    )
    assert said.startswith("BadRequestError: the API refused the request (400, invalid_request")
    assert "site-packages" not in said
    assert run("lab.close()") == ""


@pytest.mark.slow
def test_an_interrupt_and_a_missing_key_are_a_sentence_each(run: Callable[[str], str]) -> None:
    assert run("raise KeyboardInterrupt") == explain.INTERRUPTED
    said = run(
        'from learnkit import lesson\nlab = lesson("s02", mode="live")\n'
        'with lab.scenario("limit") as run:\n    pass'
    )
    assert said.startswith("UsageError: mode 'live' needs a key: set ANTHROPIC_API_KEY")
    assert "Traceback" not in said
    assert "\n" not in said


@pytest.mark.slow
def test_a_miss_ends_its_cell_without_an_error_to_see(run: Callable[[str], str]) -> None:
    edited = (
        'import learnkit as lk\nfrom learnkit import lesson\nlab = lesson("s02")\n'
        'with lab.scenario("limit") as run:\n'
        '    run.agent([lk.CodingTools(run.workspace)]).run("Say hello.")'
    )
    assert run(edited) == "", "no traceback, although the cell has failed"
    assert run.last["status"] == "error", "so Run All stops"  # type: ignore[attr-defined]
    assert run.last["ename"] == "Miss"  # type: ignore[attr-defined]
    assert run("lab.close()") == ""

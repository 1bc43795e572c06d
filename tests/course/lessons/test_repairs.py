"""What ``lab.repaired`` says to naive, right and wrong code; each lesson's file in the terminal.

``repairs/`` holds what else a learner may type: a ``source``, or the repair with one text replaced,
``was`` and ``now``. With ``says`` it is wrong, and without it right by another way.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from anthropic import BadRequestError
from project import ROOT

import learnkit as lk
from learnkit.course import files
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.agent_file.own import write_reference
from learnkit.course.content.sources import MAGIC, agent_cells
from learnkit.course.exercise_checks import judge

ANSWERS = Path(__file__).resolve().parent / "repairs"
BOOKS = {
    name: nbformat.read(path, as_version=4)
    for name, path in files.named(ROOT / "notebooks").items()
}
#: These start processes, or wait.
LONG = {"s07 save", "s07 locked", "s09 deliver_mail", "s11 claim", "b3 answer_to", "b4 reach_goal"}
#: The first of each lesson is fast.
REPAIRS = [
    pytest.param(lesson, name, marks=[pytest.mark.slow] * (n > 0 or f"{lesson} {name}" in LONG))
    for lesson in BOOKS
    for n, name in enumerate(
        importlib.import_module(f"learnkit.course.lessons.{lesson}.repairs").REPAIRS
    )
]


def repair(lesson: str, name: str) -> str:
    """The solution that the lesson folds: the first one for what it tries first, and so on."""
    cells = BOOKS[lesson].cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    tried = list(dict.fromkeys(re.findall(r'lab\.repaired\("(.+?)"\)', code)))
    folded = [cell for cell in cells if "repair" in cell.metadata.get("tags", ())]
    return dict(zip(tried, agent_cells({"cells": folded}), strict=True))[name]


def naive(lesson: str, name: str) -> AgentCells:
    """The file as it is where a repair is first tried, with nothing repaired."""
    cells = AgentCells(lesson, None)
    for cell in BOOKS[lesson].cells:
        if cell.cell_type == "code" and f'lab.repaired("{name}")' in cell.source:
            return cells
        if cell.cell_type == "code" and cell.source.startswith(MAGIC):
            cells.run("", cell.source.removeprefix(f"{MAGIC}\n"))
    raise AssertionError(f"{lesson} never tries the repair {name!r}")


def verdict(lesson: str, name: str, cells: AgentCells) -> str | None:
    module = importlib.import_module(f"learnkit.course.lessons.{lesson}.repairs")
    return judge(module.REPAIRS[name].check, cells.module)


@pytest.mark.parametrize(("lesson", "name"), REPAIRS)
def test_what_the_lesson_has_is_naive_and_its_repair_is_right(lesson: str, name: str) -> None:
    cells = naive(lesson, name)
    assert verdict(lesson, name, cells) is not None
    cells.run("", repair(lesson, name))
    assert verdict(lesson, name, cells) is None


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "name"), REPAIRS)
def test_what_else_may_be_typed_gets_a_sentence_or_is_right(lesson: str, name: str) -> None:
    rows = yaml.load((ANSWERS / f"{lesson}.yaml").read_text("utf-8"), yaml.CSafeLoader)[name]
    assert sum("says" in row for row in rows) >= 3
    assert any("says" not in row for row in rows)
    for row in rows:
        cells = naive(lesson, name)
        source = row.get("source") or repair(lesson, name)
        assert source.count(row.get("was", source)) == 1, row
        cells.run("", source.replace(row["was"], row["now"]) if "was" in row else source)
        said = verdict(lesson, name, cells)
        assert (said or "").startswith(row.get("says", "")), row
        assert bool(said) == ("says" in row), row


def test_s08_a_job_is_lost_before_one_line_and_with_the_repair_before_none() -> None:
    fates = importlib.import_module("learnkit.course.lessons.s08.repairs").fates
    cells = naive("s08", "deliver")
    found = fates(cells.module)
    assert [line for line, fate in found.items() if fate == "lost"] == ["agent.ended.clear()"]
    cells.run("", repair("s08", "deliver"))
    found = fates(cells.module)
    assert len(found) == 4  # each line once, though the loop runs them again
    assert {*found.values()} == {"delivered"}


def test_s09_puts_in_our_repairs_where_the_learners_have_not_passed() -> None:
    cells, lab = naive("s09", "wait_for_team"), lk.lesson("s09")
    lab._cells = cells
    lab._repaired.add("take")
    assert "take: yours · wait_for_team: ours" in repr(lab.catch_up())
    assert verdict("s09", "wait_for_team", cells) is None
    assert verdict("s09", "take", cells) is not None  # what is there is the learner's
    with (
        lab.scenario("locked", script=[]) as run,
        run.serves(cells.module),
        cells.module.locked(".team"),
        pytest.raises(RuntimeError, match="wait for ever"),
    ):
        cells.module.send("bob", "lead", "Good morning.")
    lab.remove()


@pytest.mark.slow
def test_the_request_that_lesson_3_has_refused_is_answered_with_the_repair(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = [cell.source for cell in BOOKS["s03"].cells if cell.cell_type == "code"]
    (source,) = (one for one in sources if 'lab.scenario("early"' in one)
    cells, lab = naive("s03", "user_message"), lk.lesson("s03")
    names = {"lab": lab, "lk": lk, "agent": cells.module}
    with pytest.raises(BadRequestError, match="`tool_result` blocks immediately after"):
        exec(source, dict(names))
    cells.run("", repair("s03", "user_message"))
    capsys.readouterr()
    exec(source, dict(names))
    assert capsys.readouterr().out == "tool_result, then text\nOne file, and your reminder.\n"
    lab.remove()


def commands(book: Any) -> list[str]:
    """The lines for the terminal that need nobody at the keyboard."""
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    text = text.replace("\\\n", "")  # a line that goes on in the next one
    lines = re.findall(r"^learnkit serve .*python agent.*\.py.*$", text, re.MULTILINE)
    return [line for line in lines if "--me" not in line]


def served(line: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a lesson's terminal part, and return how it ended."""
    _, *words = shlex.split(line)
    program = [sys.executable, "-m", "learnkit", *words]
    return subprocess.run(
        [sys.executable if word == "python" else word for word in program],
        cwd=folder,
        env={**os.environ, "AGENT_WRITE": "allow", **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.parametrize("lesson", BOOKS)
def test_the_file_runs_in_the_terminal_as_the_lesson_says(lesson: str, tmp_path: Path) -> None:
    write_reference(lesson, tmp_path)
    lines = commands(BOOKS[lesson])
    assert lines or lesson.startswith("b")  # there, you are the model
    for line in lines:
        done = served(line, tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("_again", range(5))
def test_the_team_of_the_last_lesson_claims_merges_and_repairs(_again: int, tmp_path: Path) -> None:
    write_reference("s12", tmp_path)
    line = commands(BOOKS["s12"])[-1]
    texts = "\n".join(cell.source for cell in BOOKS["s12"].cells)
    (tests,) = re.findall("AGENT_TESTS='(.*)'", texts)
    done = served(line, tmp_path, AGENT_TESTS=tests)
    assert done.stdout.startswith("Both branches are merged. At first: "), done
    assert "AttributeError" in done.stdout
    (name,) = re.findall("The command works in (.*), which is kept", done.stderr)
    folder = Path(name)
    tasks = [json.loads(path.read_text()) for path in sorted(folder.glob(".tasks/task_*.json"))]
    assert [(task["owner"], task["status"]) for task in tasks] == [
        ("alice", "completed"),
        ("bob", "completed"),
    ]
    assert "your test fails" in (folder / ".team/inbox-bob.jsonl").read_text()
    log = subprocess.check_output(["git", "log", "--format=%s"], cwd=folder, text=True)
    assert [log.count(f"Work of {name}") for name in ("alice", "bob")] == [1, 2]
    shutil.rmtree(folder.parent)

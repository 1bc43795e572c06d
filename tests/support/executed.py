"""A lesson's one execution serves every rule that reads it.

``pytest --nbval`` runs the cells of a notebook and compares their outputs. After the last cell, in
the same kernel, the rules below look at what that run showed and what it left. They are tests of
the notebook's own, so they run on the worker that has its kernel and need no other execution.
With ``--rehearse`` each cell that runs a scenario is run twice in a row,
and all of them once more before the last cell, the last one first: they must show the same.
"""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from learnkit.course.publish import execute

#: How a lesson's notebook is called.
LESSON = re.compile(r"s\d\d_\w+\.ipynb")
#: Runs first: what was there before; from now on every turn that is asked for is noted.
BEFORE = """
import threading as _t
from learnkit.clients.recordings.replay import Replay as _Replay
_threads = {one.ident for one in _t.enumerate()}
_asked, _answer_to = set(), _Replay.answer_to
def _noting(self, *request):
    answer = _answer_to(self, *request)
    _asked.update(self.used)
    return answer
_Replay.answer_to = _noting
"""
#: Runs last, after lab.close(): what is there that was not. A large output makes pyzmq start a
#: thread of its own.
AFTER = """
import json as _json, os as _os, psutil as _psutil, tempfile as _tempfile
from learnkit.clients.recordings.recording import Recording as _Recording
print(_json.dumps({
    "threads": [
        one.name for one in _t.enumerate()
        if one.ident not in _threads and not type(one).__module__.startswith("zmq.")
    ],
    "processes": [one.name() for one in _psutil.Process().children(recursive=True)],
    "temporary files": sorted(_os.listdir(_tempfile.gettempdir())),
    "unused": [
        one.id
        for one in _Recording.load(lab._recording).turns
        if not one.invited and one.id not in _asked
    ],
}))
"""


@dataclass(slots=True)
class Run:
    """What came of running a notebook.

    Attributes:
        committed: the text of the file.
        refreshed: the text that ``learnkit refresh`` would have written.
        left: what the probe found at the end: kind -> names.
        stray: files in the notebook's folder that were not there before.
    """

    committed: str = ""
    refreshed: str = ""
    left: dict[str, list[str]] = field(default_factory=dict)
    stray: list[str] = field(default_factory=list)


def refreshing_changes_nothing(run: Run) -> list[str]:
    """The committed bytes are those that `learnkit refresh` writes."""
    same = run.refreshed == run.committed
    return [] if same else ["refreshing it changes the file: run it and read the diff"]


def nothing_left(run: Run) -> list[str]:
    """After the last cell there is no thread, process or temporary file of the lesson's."""
    return [
        f"{kind} left: {', '.join(found)}"
        for kind, found in run.left.items()
        if kind != "unused" and found
    ]


def all_turns_used(run: Run) -> list[str]:
    """Every recorded turn is asked for."""
    return [f"turn {turn} of the recording is never used" for turn in run.left.get("unused", [])]


def no_file_left(run: Run) -> list[str]:
    """The notebook's folder has no file that was not there before."""
    return [f"a file is left: {name}" for name in run.stray]


#: Name -> rule: each returns what it finds wrong, a line each.
RULES: dict[str, Callable[[Run], list[str]]] = {
    rule.__name__: rule
    for rule in (refreshing_changes_nothing, nothing_left, all_turns_used, no_file_left)
}


class LessonFile(IPyNbFile):  # type: ignore[misc]
    """A notebook as nbval runs it; of a lesson, the rules are run after its cells."""

    cells: list[IPyNbCell]
    _run: Run | None = None

    @classmethod
    def of(cls, found: Any, path: Path, parent: pytest.Collector) -> Any:
        """What was collected at a path, with the rules if it is a notebook of nbval's."""
        return cls.from_parent(parent, path=path) if type(found) is IPyNbFile else found

    def collect(self) -> Iterator[pytest.Item]:
        self.cells = list(super().collect())
        again = scenarios(self.nb) if self.config.getoption("--rehearse") else []
        *cells, last = self.cells
        for one in cells:
            yield one
            if one.cell_num in again:
                yield Again.of(one, f"{one.name} again")
        # What runs above a part of agent.py would call what that part defines.
        parts = [one.cell_num for one in cells if one.cell.source.startswith("%%agent")]
        for number in reversed([n for n in again if n > max(parts, default=-1)]):
            yield Again.of(cells[number], f"Cell {number} after later ones")
        yield last
        if LESSON.fullmatch(self.path.name):
            for name in RULES:
                yield LessonRule.from_parent(self, name=name)

    def setup(self) -> None:
        self.seen = files(self.path.parent)
        # The kernel inherits the environment of this moment: its temporary files are its own.
        self.folder = tempfile.TemporaryDirectory(prefix="lk-", ignore_cleanup_errors=True)
        # A lesson's own pytest needs no plugin of ours, and loading them takes most of its time.
        own = {"TMPDIR": self.folder.name, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        with mock.patch.dict(os.environ, own):
            super().setup()
        self.ask(BEFORE)

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()

    @property
    def run(self) -> Run:
        """What the run came to, once every cell has run."""
        if self._run is None:
            missing = [cell.name for cell in self.cells if cell.test_outputs is None]
            if missing:
                pytest.fail(f"{', '.join(missing)} did not run: run the whole notebook", False)
            committed = self.path.read_text("utf-8")
            book = self.executed()
            stray = sorted(files(self.path.parent) - self.seen)
            refreshed = nbformat.writes(execute.normalise(book)) + "\n"
            self._run = Run(committed, refreshed, json.loads(self.ask(AFTER)), stray)
        return self._run

    def executed(self) -> Any:
        """The notebook with the outputs of this run."""
        book = deepcopy(self.nb)
        code = (cell for cell in book.cells if cell.cell_type == "code")
        for cell, item in zip(code, self.cells, strict=True):
            cell.outputs = deepcopy(item.test_outputs)
        return book

    def ask(self, source: str) -> str:
        """Run a source in the kernel that is no cell, and return what it prints."""
        id = self.kernel.kc.execute(source, store_history=False, allow_stdin=False)
        printed = ""
        while True:
            message = self.get_kernel_message(timeout=60)
            if message["parent_header"].get("msg_id") != id:
                continue
            if message["msg_type"] == "stream":
                printed += message["content"]["text"]
            elif message["msg_type"] == "error":
                pytest.fail("\n".join(message["content"]["traceback"]), pytrace=False)
            elif message["content"].get("execution_state") == "idle":
                return printed


class Again(IPyNbCell):  # type: ignore[misc]
    """A cell once more: it is compared with what it has shown, not with the notebook."""

    before: IPyNbCell

    @classmethod
    def of(cls, before: IPyNbCell, name: str) -> Again:
        """The repetition of a cell that runs before."""
        again: Again = cls.from_parent(
            before.parent,
            name=name,
            cell_num=before.cell_num,
            cell=deepcopy(before.cell),
            options=before.options,
        )
        again.before = before
        return again

    def runtest(self) -> None:
        if self.before.test_outputs is None:
            pytest.fail(f"{self.before.name} did not run: run the whole notebook", False)
        self.cell.outputs = deepcopy(self.before.test_outputs)
        super().runtest()


class LessonRule(pytest.Item):
    """One of the rules, for one notebook's run."""

    def runtest(self) -> None:
        assert isinstance(self.parent, LessonFile)
        if found := RULES[self.name](self.parent.run):
            pytest.fail("\n".join(found), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}: {self.name}"


def scenarios(book: Any) -> list[int]:
    """The code cells, counted from 0, that run a scenario, by themselves or through a function."""
    runs = r"\blab\.scenario\("
    sources = [cell.source for cell in book.cells if cell.cell_type == "code"]
    functions = {
        node.name
        for source in sources
        for node in _statements(source)
        if isinstance(node, ast.FunctionDef) and re.search(runs, ast.unparse(node))
    }
    pattern = "|".join([runs, *(rf"\b{name}\(" for name in sorted(functions))])
    return [number for number, source in enumerate(sources) if re.search(pattern, source)]


def _statements(source: str) -> list[ast.stmt]:
    """A cell's statements; of one that does not parse, none: running it says what is wrong."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def files(folder: Path) -> set[str]:
    """The files below a folder, but for what Python and Jupyter keep for themselves."""
    own = {"__pycache__", ".ipynb_checkpoints"}
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not own & set(path.parts)}

"""Edits that the recordings invite: each is found there, and played from the notebook's own cells.

An invited edit is a turn with ``instead``; its ``leaves`` says which files the edited run changes.
Whatever is typed, the workspace then holds just that, or the learner gets the panel.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import linecache
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.utils.capture import capture_output

from learnkit.clients.recordings.holes import bind, fill, holes
from learnkit.clients.recordings.recording import Recording, Turn
from learnkit.clients.recordings.replay import Miss
from learnkit.course import files as course_files
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.content.sources import MAGIC, agent_cells

LESSONS = [path.stem for path in sorted(course_files.recordings().glob("s[0-9][0-9].yaml"))]
RECORDINGS = {name: Recording.load(course_files.recordings() / f"{name}.yaml") for name in LESSONS}
INVITED = [
    (lesson, turn.id) for lesson in LESSONS for turn in RECORDINGS[lesson].turns if turn.instead
]
#: All cells up to the edited one run: this takes long.
PLAYED = [
    pytest.param(*edit, marks=[pytest.mark.slow] * (n > 0), id="-".join(edit))
    for n, edit in enumerate(INVITED)
]

WITH_HOLES = [(lesson, id) for lesson, id in INVITED if RECORDINGS[lesson].turn(id).match]

#: What somebody might type: for a shell, for Python, for a pattern, or for nobody.
ODD = (
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "'; touch ../escaped; rm -rf *; '",
    "$(touch ../escaped) `touch ../escaped` $HOME ${HOME}",
    "back\\slash \\n %s \\",
    "Grüße, 世界 🎉",
    "-n",
    "-rf",
    "~",
    "*",
    "../escaped",
    "/etc/passwd",
    "a, b and c that prints x.",
    "${text} ${file|sh} {text}",
    '#"""\' + \'',
    "x" * 2000,
    "x" * 2001,
    "42",
    "hello.py",
    "übung.py",
    "two words.py",
    "-n.py",
    "a;b.py",
    "tab\there",
    "end\n[exit code 1]",
    " spaces ",
    "nul\0",
    "⟦slot 1⟧",
    "2026-01-01 10:00:00",
    "/tmp/somewhere",
)


class Notebook:
    """A lesson's cells, and the names after they have run once."""

    def __init__(self, lesson: str) -> None:
        cells = nbformat.read(course_files.notebook(lesson), 4).cells
        self.recording = RECORDINGS[lesson]
        self.text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        code = [cell for cell in cells if cell.cell_type == "code" and is_played(cell)]
        self.cells = [ast.parse(played(cell, cells)) for cell in code]
        self._fails = ["raises-exception" in cell.metadata.get("tags", ()) for cell in code]
        self.names: dict[str, Any] = {"__name__": "__main__", "__cells__": AgentCells(lesson, None)}
        self._done = 0
        self.run_until(1)
        self.lab = self.names["lab"]

    def shows(self, scenario: str) -> list[int]:
        """The cells that name a scenario, and those after the last of them that show its run."""
        named = [n for n, cell in enumerate(self.cells) if scenario in texts(cell)]
        assert named, f"no cell names the scenario {scenario!r}"
        last = named[-1]
        for n in range(last + 1, len(self.cells)):
            others = {*self.recording.scenarios} & texts(self.cells[n])
            shown = re.search(r"lab\.(?!show|reveal)\w", ast.unparse(self.cells[n])) is None
            if others or not shown or self._fails[n]:
                break
            named.append(n)
        return named

    def run_until(self, end: int) -> None:
        """Run the cells as they are, up to one; each only once."""
        for n in range(self._done, end):
            with contextlib.suppress(Exception) if self._fails[n] else contextlib.nullcontext():
                run(self.cells[n], self.names)
        self._done = max(self._done, end)

    def edited(self, turn: Turn, prompt: str) -> tuple[Miss | None, list[dict[str, str]]]:
        """Run the cells of a scenario with another prompt.

        Returns:
            The miss, if any, and what each run of the scenario has left of files.
        """
        before = self.prompt(turn)
        typed = [n for n, cell in enumerate(self.cells) if before in texts(cell)]
        assert typed, f"no cell has the prompt {before!r} as one literal"
        places = sorted({typed[0], *self.shows(turn.scenario)})
        self.run_until(places[-1] + 1)
        names, left = dict(self.names), list[dict[str, str]]()
        with watched(self.lab, turn.scenario, left):
            for n in places:
                cell = _Replaced(before, prompt).visit(ast.parse(ast.unparse(self.cells[n])))
                try:
                    run(cell, names)
                except Miss as error:
                    if error.scenario == turn.scenario:
                        return error, left
        return None, left

    def prompt(self, turn: Turn) -> str:
        """The recorded prompt that an edit is made to."""
        text = self.recording.turn(str(turn.instead)).said[-1]["content"]
        assert isinstance(text, str), f"{turn.instead} has no prompt"
        return text

    def examples(self, turn: Turn) -> Iterator[dict[str, str]]:
        """The values of the edited prompts that the lesson's texts quote."""
        for text in re.findall("(?<!`)`([^`\n]+)`(?!`)", self.text):
            values = bind(turn.said[-1], {"role": "user", "content": text}, turn.match, {})
            if values and text != self.prompt(turn):
                yield values

    def binds(self, turn: Turn, values: dict[str, str]) -> bool:
        """Whether the first pattern fits; what it does not fit is refused at once."""
        return bind(turn.said[-1], fill(turn.said[-1], values), turn.match, {}) is not None


def is_played(cell: Any) -> bool:
    """Whether it is no part of an exercise, and not the end."""
    exercise = any(tag.startswith("exercise") for tag in cell.metadata.get("tags", ()))
    return not exercise and not re.search(r"check_\d|lab\.close", cell.source)


def played(cell: Any, cells: list[Any]) -> str:
    """The code of a cell; a part of ``agent.py`` gets the repairs that are folded below it."""
    if not cell.source.startswith(MAGIC):
        return str(cell.source)
    below = cells[cells.index(cell) + 1 :]
    end = next((n for n, one in enumerate(below) if one.source.startswith(MAGIC)), None)
    return "".join(
        f"__cells__.run('', {text!r})\n" for text in agent_cells({"cells": [cell, *below[:end]]})
    )


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(self._new) if node.value == self._old else node


def texts(cell: ast.AST) -> set[str]:
    constants = (node.value for node in ast.walk(cell) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def run(cell: ast.Module, names: dict[str, Any]) -> None:
    """Run a cell as a kernel does: its text can be found, for processes that define it again."""
    text = ast.unparse(cell)
    name = f"<cell {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with capture_output(), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, name, "exec", dont_inherit=True), names)


@contextlib.contextmanager
def watched(lab: Any, scenario: str, left: list[dict[str, str]]) -> Iterator[None]:
    """Note what the runs of a scenario add to files, before their workspaces go."""
    opened = type(lab).scenario

    @contextlib.contextmanager
    def scene(name: str, **options: Any) -> Iterator[Any]:
        with opened(lab, name, **options) as run:
            fresh, beside = contents(run.workspace), set(run.workspace.parent.iterdir())
            try:
                yield run
            finally:
                assert set(run.workspace.parent.iterdir()) == beside
                if name == scenario:
                    left.append(added(fresh, contents(run.workspace)))

    lab.scenario = scene
    try:
        yield
    finally:
        del lab.scenario


def contents(folder: Path) -> dict[str, str]:
    every = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): path.read_bytes().decode(errors="replace")
        for name, path in every.items()
        if not {".git", "__pycache__", ".pytest_cache"} & {*name.parts}
    }


def added(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """The changed files, each with its new lines; ``gone`` for one that is not there any more."""
    changed = {name: "gone" for name in before.keys() - after.keys()}
    for name, text in after.items():
        if name not in before:
            changed[name] = text
        elif text != before[name]:
            both = before[name].split("\n"), text.split("\n")
            lines = [line[2:] for line in difflib.ndiff(*both) if line.startswith("+ ")]
            changed[name] = "\n".join(lines)
    return changed


def is_named(name: str, leaves: Mapping[str, object]) -> bool:
    return any(name == key or fnmatchcase(name, key) for key in leaves)


def is_just(files: dict[str, str], leaves: dict[str, str | None]) -> bool:
    """Whether files are those of ``leaves``, by name or pattern, and hold what it says."""

    def holds(name: str, text: str) -> bool:
        keys = [name] if name in leaves else [key for key in leaves if fnmatchcase(name, key)]
        wanted = [leaves[key] for key in keys]
        return any(told is None or told.strip("\n") == text.strip("\n") for told in wanted)

    found = all(is_named(key, files) or any(fnmatchcase(f, key) for f in files) for key in leaves)
    return found and all(holds(name, text) for name, text in files.items())


@pytest.fixture(scope="module")
def notebook() -> Iterator[Callable[[str], Notebook]]:
    opened: dict[str, Notebook] = {}

    def opens(lesson: str) -> Notebook:
        if lesson not in opened:
            opened[lesson] = Notebook(lesson)
        return opened[lesson]

    yield opens
    for one in opened.values():
        one.lab.remove()


@pytest.mark.parametrize(("lesson", "id"), PLAYED)
def test_an_edit_that_a_lesson_invites_leaves_what_it_says(
    lesson: str, id: str, notebook: Callable[[str], Notebook]
) -> None:
    book, turn = notebook(lesson), RECORDINGS[lesson].turn(id)
    assert turn.leaves is not None, f"say in `leaves` of {id} which files it changes"
    if turn.match:
        examples = list(book.examples(turn))
        assert examples, f"quote an edit that fits {id} in the lesson: `{turn.said[-1]['content']}`"
    else:
        examples = [{}]
        new = set(turn.said[-1]["content"].split()) - set(book.prompt(turn).split())
        missing = [word for word in new if word.strip(".,?!:") not in book.text]
        assert not missing, f"the lesson does not name {missing} of {id}"
    for values in examples:
        miss, left = book.edited(turn, fill(turn.said[-1]["content"], values))
        assert miss is None, str(miss)
        assert is_just(left[-1], fill_keys(turn.leaves, values)), left[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "id"), WITH_HOLES)
def test_whatever_is_typed_is_done_or_refused(
    lesson: str, id: str, notebook: Callable[[str], Notebook]
) -> None:
    book, turn = notebook(lesson), RECORDINGS[lesson].turn(id)
    example, leaves = next(book.examples(turn)), turn.leaves or {}
    for hole in sorted({name for name, _ in holes(turn.said[-1])}):
        typed = [example | {hole: value} for value in ODD]
        fits = [values for values in typed if book.binds(turn, values)]
        assert fits, f"{hole} fits none of the values that are tried"
        others = [values for values in typed if values not in fits]
        for values in [*fits, *others[:: len(others) // 3 + 1]]:
            miss, left = book.edited(turn, fill(turn.said[-1]["content"], values))
            wanted = fill_keys(leaves, values)
            if miss is None:
                assert is_just(left[-1], wanted), (values, left[-1])
            else:  # some of it may be done, but nothing else
                named = wanted | fill_keys(leaves, example)
                touched = {name for files in left for name in files}
                assert all(is_named(name, named) for name in touched), (values, left)


def fill_keys(leaves: dict[str, str | None], values: dict[str, str]) -> dict[str, str | None]:
    return {fill(name, values): fill(text, values) for name, text in leaves.items()}

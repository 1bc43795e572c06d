"""The cell magic ``%%agent``: a cell's definitions become part of the module ``agent``.

They are executed in that module, so that its other functions call the new ones. It starts as the
reference is after the lesson before, whatever the learner's own file says: recordings fit it.
"""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from learnkit.course.agent_file.own import BELOW, OwnFile, before_lesson, file_name
from learnkit.course.agent_file.source import Source, parsed
from learnkit.course.exercise_checks import EARLIER


class AgentCells:
    """The module ``agent`` of a lesson, and the file that grows beside it.

    Args:
        lesson: for example ``s03``.
        folder: of the learner's file; None if nothing is to be written.

    Attributes:
        module: what ``import agent`` finds.
        source: its text, which holds no change that the learner made in the file. The module has it
            as ``__source__``.
        failed: whether the last cell has raised an error.
    """

    def __init__(self, lesson: str, folder: Path | None) -> None:
        self._file = OwnFile(lesson, folder)
        self._lesson, self._cells, self.failed = lesson, 0, False
        self.module = ModuleType("agent")
        sys.modules["agent"] = self.module
        before = before_lesson(lesson)
        self.source = Source.reference(before)
        vars(self.module)["__source__"] = self.source
        if before:
            code = _compiled(str(self.source), f"{EARLIER}{before}")
            exec(code, self.module.__dict__)

    def run(self, line: str, cell: str) -> None:
        """Execute a cell, and put it into the file; a cell that fails changes no file.

        Raises:
            SyntaxError: if it is not Python.
            UsageError: if it holds something else than imports, constants, def and class.
        """
        self._cells, self.failed = self._cells + 1, True
        # One line down, because the first line of the cell is the magic.
        code = _compiled(
            f"\n{cell}", f"{file_name(self._lesson)}, {self._lesson}, cell {self._cells}"
        )
        parsed(cell)
        exec(code, self.module.__dict__)
        self.source.add(self._lesson, cell)
        self.failed = False
        before = self._file.text
        kept = self._file.add(cell)
        print(f"{self._file.name} {_growth(before, self._file.text)}")
        for part in kept:
            print(
                f"You have changed the part “{part}” of your {self._file.name}, and it is kept. "
                f"What this lesson wrote is below it, after “# %% {part}{BELOW}”: delete the one "
                "that you don't want. Python takes the lower one."
            )


def register(lesson: str, folder: Path | None) -> AgentCells | None:
    """Make ``%%agent`` known to this notebook; None outside of one."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if shell is None:
        return None
    cells = AgentCells(lesson, folder)
    shell.register_magic_function(cells.run, "cell", "agent")
    return cells


def left_outside(agent: ModuleType) -> list[str]:
    """The names of functions of ``agent.py`` that a cell has defined in the notebook instead."""
    notebook = vars(sys.modules["__main__"])
    return [
        name
        for name, value in vars(agent).items()
        if isinstance(value, FunctionType)
        and isinstance(other := notebook.get(name), FunctionType)
        and other is not value
    ]


def _compiled(text: str, name: str) -> CodeType:
    """Compile a text; an error in it, of syntax too, then shows its line."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec", dont_inherit=True)


def _growth(before: str, after: str) -> str:
    """How a file has changed, in lines."""
    old, new = len(before.splitlines()), len(after.splitlines())
    if old != new:
        return f"{old} → {new} lines"
    return f"{new} lines, {'as before' if before == after else 'changed'}"

"""Lesson b1's calls, made in the lesson's own file."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from cells import cell

import learnkit as lk
from learnkit.course.lessons.b1.explorable import ALLOWED, Step
from learnkit.course.lessons.verdicts import with_settings
from learnkit.course.scenario import workspace

CELL: dict[str, Any] = {}
exec(cell("b1", "ATTACKS"), CELL)
ATTACKS, DELETE, WORK = CELL["ATTACKS"], CELL["DELETE"], CELL["WORK"]


def call_of(step: Step) -> dict[str, Any]:
    """The call of one of the picture's steps."""
    given = {"command": step.about} if step.tool == "bash" else {"path": step.about}
    if step.tool == "write_file":
        given["content"] = DELETE
    return {"id": "toolu_1", "name": step.tool, "input": given}


@contextmanager
def at_work(agent: ModuleType, **settings: Any) -> Iterator[Path]:
    """Let the module work in a fresh *heatwatch* with a note, under these settings."""
    with ExitStack() as stack:
        folder = stack.enter_context(workspace())
        (folder / "notes").mkdir()
        (folder / "notes" / "oslo.md").write_text("Calm.\n")
        client = stack.enter_context(closing(lk.scripted(["."])))
        own = {"ROOT": folder, "client": client, "RULES": {"allow": [*ALLOWED]}, **settings}
        stack.enter_context(with_settings(agent, POLICY={"write": "ask"}, **own))
        yield folder


def guard(folder: Path) -> str:
    """Alice's guard, mended, as a command."""
    source = cell("b1", "ALICES").partition('"""\\\n')[2].partition('"""')[0]
    program = folder / "guard.py"
    program.write_text(source.replace('call["tool_input"]["command"]', "str(call)"))
    return shlex.join([sys.executable, str(program)])


def harm(folder: Path) -> str:
    """What has changed of the stations, in the outbox, and outside of the folder."""
    command = ["git", "status", "--short", "--ignored", "stations", "outbox"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout + "".join(one.name for one in folder.parent.iterdir() if one != folder)

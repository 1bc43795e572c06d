"""Errors as a learner should see them: what was wrong, and what to do, without a library's frames.

A missing name usually means that a cell has not run; then the error says which one.
"""

from __future__ import annotations

import json
import os
import symtable
import sys
from pathlib import Path
from typing import Any

from learnkit.course.jupyter.edited_cells import RAN

#: How the file names of code in cells of ``%%agent`` begin.
FILES = ("agent.py, ", "agent_beyond.py, ")
#: What a cell says that the learner has interrupted.
INTERRUPTED = "Interrupted: this cell has ended, and its agents with it. Run it again to go on."


def explain_errors() -> None:
    """Explain missing names and refusals in this notebook."""
    from learnkit.errors import LearnkitError

    def shown(shell: Any, kind: type, error: Any, *rest: Any, **options: Any) -> None:
        if (offer := getattr(error, "offer", None)) is not None:
            shell._last_traceback = []  # the cell has failed, and Run All stops, without red
            offer()
            return
        if isinstance(error, KeyboardInterrupt):
            _shown_as(error, INTERRUPTED)
        elif (sdk := sys.modules.get("anthropic")) and isinstance(error, sdk.APIStatusError):
            _shown_as(error, *_refusal(kind, error))
        elif isinstance(error, LearnkitError):
            _shown_as(error, f"{kind.__name__}: {error}")
        elif isinstance(error, NameError):
            if hint := unknown(error) or where(error.name or "", notebook()):
                _shown_as(error, f"{kind.__name__}: {hint}")
        elif isinstance(error, AttributeError) and error.obj is sys.modules.get("agent", shell):
            missing = f"{error.name!r} is not in agent: run the cells above with %%agent."
            _shown_as(error, f"{kind.__name__}: {missing}")
        shell.showtraceback((kind, error, error.__traceback__))

    shell = sys.modules["IPython"].get_ipython()
    shell.set_custom_exc((Exception, KeyboardInterrupt), shown)
    if "agent" not in shell.magics_manager.magics["cell"]:
        shell.register_magic_function(_not_yet, "cell", "agent")
    RAN.watch(shell)


def _shown_as(error: Any, *lines: str) -> None:
    """Let IPython show these lines in the place of a traceback."""
    error._render_traceback_ = lambda: lines


def _not_yet(line: str, cell: str) -> None:
    """Say which cell makes ``%%agent`` known, in the place of IPython's bare “not found”."""
    from learnkit.errors import UsageError

    raise UsageError(where("lab", notebook()) or "%%agent is known once a lesson has begun")


def notebook() -> Path | None:
    """Return the file of this kernel's notebook, if the server has set it."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    return path if path.suffix == ".ipynb" and path.is_file() else None


def unknown(error: NameError) -> str:
    """Return what a function of agent.py knows, if it asks for another name; else nothing."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    if frame is None or not (code := frame.tb_frame.f_code).co_filename.startswith(FILES):
        return ""
    if advice := where(error.name or "", notebook(), agents=True):
        return advice
    own = ", ".join(code.co_varnames[: code.co_argcount]) or "none"
    return (
        f"agent has no {error.name!r}; a variable of the notebook isn't known there. Parameters "
        f"of {code.co_name}: {own}."
    )


def where(name: str, notebook: Path | None, *, agents: bool = False) -> str:
    """Return which cell of a notebook defines a name, in a sentence; empty if none does.

    Args:
        name: the name.
        notebook: the notebook's file, if there is one.
        agents: only cells of agent.py count.
    """
    heading = ""
    for cell in _cells(notebook):
        source = "".join(cell.get("source", ""))
        if cell.get("cell_type") == "markdown":
            titles = [line.lstrip("# ") for line in source.splitlines() if line.startswith("#")]
            heading = titles[-1] if titles else heading
        elif agents and not source.startswith("%%agent"):
            continue
        elif cell.get("cell_type") == "code" and name in _defined(source):
            place = f" under “{heading}”" if heading else ""
            return (
                f"{name!r} is made by a cell{place} that has not run. Run it first, or all of them "
                "up to here: Run → Run All Above Selected Cell."
            )
    return ""


def code_cells(notebook: Path | None) -> dict[str, str]:
    """Return the text of each code cell of a notebook, by its id."""
    return {
        str(one.get("id", "")): "".join(one.get("source", ""))
        for one in _cells(notebook)
        if one.get("cell_type") == "code"
    }


def _cells(notebook: Path | None) -> list[dict[str, Any]]:
    try:
        return list(json.loads(notebook.read_text("utf-8"))["cells"]) if notebook else []
    except (OSError, ValueError, KeyError, TypeError):  # gone, or no notebook
        return []


def _defined(source: str) -> set[str]:
    """The names that a cell defines for the cells below it."""
    try:
        table = symtable.symtable(source.removeprefix("%%agent"), "a cell", "exec")
    except SyntaxError:  # a magic, or an unfinished cell
        return set()
    return {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}


def _refusal(kind: type, error: Any) -> list[str]:
    body = error.body.get("error", {}) if isinstance(error.body, dict) else {}
    what, why = body.get("type", "error"), body.get("message", str(error))
    return [f"{kind.__name__}: the API refused the request ({error.status_code}, {what})", "", why]

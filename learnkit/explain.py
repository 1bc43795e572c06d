"""Errors as a learner should see them: what was wrong, and what to do, without a library's frames.

A name that is not defined is most often a cell that was not run: then the error says which one.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def explain_errors() -> None:
    """In this notebook, explain a missing name, and what learnkit or the API refused.

    What the API refuses is explained once anthropic is imported; call it again then.
    """
    from learnkit.errors import LearnkitError

    anthropic = sys.modules.get("anthropic")
    refused = (anthropic.APIStatusError,) if anthropic else ()

    def shown(shell: Any, kind: type, error: Any, *rest: Any, **options: Any) -> None:
        if isinstance(error, NameError):
            if hint := where(error.name or "", notebook()):
                error.add_note(hint)
        else:
            said = _refusal(error) if isinstance(error, refused) else [str(error)]
            lines = [f"{kind.__name__}: {said[0]}", *said[1:]]
            error._render_traceback_ = lambda: lines
        shell.showtraceback((kind, error, error.__traceback__))

    shell = sys.modules["IPython"].get_ipython()
    shell.set_custom_exc((*refused, LearnkitError, NameError), shown)


def notebook() -> Path | None:
    """The file of the notebook that this kernel belongs to, if the server has told."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))
    return path if path.suffix == ".ipynb" and path.is_file() else None


def where(name: str, notebook: Path | None) -> str:
    """Which cell of a notebook defines a name, in a sentence; empty if none does.

    Args:
        name: the one that is missing.
        notebook: its file.
    """
    try:
        cells = json.loads(notebook.read_text("utf-8"))["cells"] if notebook else []
    except (OSError, ValueError, KeyError):
        return ""
    heading = ""
    for cell in cells:
        source = "".join(cell.get("source", ""))
        if cell.get("cell_type") == "markdown":
            titles = [line.lstrip("# ") for line in source.splitlines() if line.startswith("#")]
            heading = titles[-1] if titles else heading
        elif cell.get("cell_type") == "code" and name in _defined(source):
            place = f" under “{heading}”" if heading else ""
            return (
                f"{name!r} is made by a cell{place} that has not run. Run it first, or all of them "
                "up to here: Run → Run All Above Selected Cell."
            )
    return ""


def _defined(source: str) -> set[str]:
    """The names that a cell defines for the cells below it."""
    try:
        return set(_bound(ast.parse(source)))
    except SyntaxError:  # a magic, or not finished
        return set()


_OWN = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _bound(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child.name
            continue  # what it binds inside is its own
        if isinstance(
            child, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            continue
        if isinstance(child, ast.alias):
            yield (child.asname or child.name).partition(".")[0]
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        yield from _bound(child)


def _refusal(error: Any) -> list[str]:
    body = error.body.get("error", {}) if isinstance(error.body, dict) else {}
    what, why = body.get("type", "error"), body.get("message", str(error))
    return [f"the API refused the request ({error.status_code}, {what})", "", why]

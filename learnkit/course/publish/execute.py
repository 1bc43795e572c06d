"""Running the course: execute notebooks as CI does, compare their outputs, write them anew.

A notebook is executed in its static form, and what is kept of its outputs does not depend on the
machine: no tracebacks, no timings, no versions. So refreshing twice changes no byte.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from learnkit.errors import lab_extra
from learnkit.runtime import atomic_write as files

with lab_extra():
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

#: Seconds a cell may take.
CELL_TIMEOUT = 60
#: How a notebook can fail.
FAILURES = (CellExecutionError, CellTimeoutError, DeadKernelError)
#: What stays of a notebook's metadata.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

#: Settings that a learner may have made for their own runs.
_OWN = ("LEARNKIT_MODE", "LEARNKIT_RECORDINGS")


def execute(path: Path, env: Mapping[str, str] | None = None) -> Any:
    """Run a notebook from a fresh kernel, in static form.

    Args:
        path: the notebook; it is not changed.
        env: more environment variables for the kernel.

    Returns:
        The executed notebook, normalised.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell fails that is not meant to; see
            :data:`FAILURES` for what else a cell can do.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # An asynchronous manager: with the other one, waiting for a kernel that has died never ends.
    # Socket files instead of TCP ports: ports can be taken between their choice and their use.
    with tempfile.TemporaryDirectory(prefix="lk-") as folder, _environment(env or {}):
        manager = AsyncKernelManager(
            kernel_name="python3",
            transport="ipc",
            connection_file=str(Path(folder) / "k.json"),
        )
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=CELL_TIMEOUT,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(path.parent)}},
        )
        try:
            client.execute()
        finally:  # a manager of our own is ours to shut down, and so are its sockets
            if client.kc is not None:
                client.kc.stop_channels()
            if manager.has_kernel:
                run_sync(manager.shutdown_kernel)(now=True)
    return normalise(notebook)


def refresh(path: Path) -> bool:
    """Run a notebook and write its outputs; returns whether the file changed."""
    text = nbformat.writes(execute(path)) + "\n"
    if text == path.read_text(encoding="utf-8"):
        return False
    files.replace(path, text)
    return True


def differences(path: Path) -> list[str]:
    """What a fresh run of the notebook shows that the file does not, a line a cell."""
    committed, fresh = normalise(nbformat.read(path, as_version=4)), execute(path)
    found = []
    pairs = zip(committed.cells, fresh.cells, strict=True)
    for number, (old, new) in enumerate(pairs, start=1):
        if old.cell_type == "code" and old.outputs != new.outputs:
            first = (new.source.strip().splitlines() or ["(empty)"])[0]
            found.append(f"{path.name}, cell {number} ({first}): its output is another one")
    return found


def told(error: Exception) -> str:
    """One of :data:`FAILURES`, for somebody who has to find the cell."""
    if isinstance(error, CellExecutionError):
        cell = str(error).partition("\n------------------\n")[2]
        source = cell.partition("\n------------------\n")[0]
        return f"a cell failed with {error.ename}: {error.evalue}\n\n{source}"
    if isinstance(error, CellTimeoutError):
        return f"a cell was not done after {CELL_TIMEOUT} s\n\n{str(error).strip()}"
    return f"the kernel died: {str(error).strip()}"


def normalise(notebook: Any) -> Any:
    """Take out of a notebook what differs from machine to machine; changes and returns it."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(_code(notebook), start=1):
        cell.execution_count = number
        cell.metadata = nbformat.from_dict(
            {key: value for key, value in cell.metadata.items() if key == "tags"}
        )
        for output in cell.outputs:
            if output.output_type == "error":
                output.traceback = [f"{output.ename}: {output.evalue}"]
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def _code(notebook: Any) -> Iterator[Any]:
    return (cell for cell in notebook.cells if cell.cell_type == "code")


@contextlib.contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    """Set variables that the kernel inherits: static form, and ``env``.

    One's own settings stay out, or the outputs would depend on them; only who asks the API
    (mode ``record``) needs the key, the server and the model.
    """
    before = dict(os.environ)
    for name in before:
        asks = name.startswith("ANTHROPIC_") or name == "LEARNKIT_MODEL"
        if name in _OWN or (asks and env.get("LEARNKIT_MODE") != "record"):
            del os.environ[name]
    os.environ.update({"LEARNKIT_STATIC": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", **env})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)

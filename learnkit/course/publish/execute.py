"""Running the course: execute notebooks as CI does, and write their outputs again.

A notebook is executed in its static form, and the outputs that are kept do not depend on the
machine: no tracebacks, no timings, no versions. So refreshing twice changes no byte.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learnkit.course import files as course_files
from learnkit.errors import lab_extra

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
#: Settings that learners make for their own runs.
_OWN = ("LEARNKIT_MODE", "LEARNKIT_RECORDINGS")


def execute(path: Path, env: Mapping[str, str] | None = None) -> Any:
    """Run a notebook from a fresh kernel, in static form."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # An asynchronous manager, because the other one waits forever for a kernel that has died.
    # Socket files, because another process can take a TCP port between its choice and its use.
    with tempfile.TemporaryDirectory(prefix="lk-") as folder:
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
            client.execute(env=_environment(env or {}))
        finally:  # the client leaves a manager that it was given to us, with its sockets
            if client.kc is not None:
                client.kc.stop_channels()
            if manager.has_kernel:
                run_sync(manager.shutdown_kernel)(now=True)
    return normalise(notebook)


def refresh(path: Path) -> bool:
    """Run a notebook and write its outputs into its file."""
    return course_files.put(path, nbformat.writes(execute(path)) + "\n")


def failure(error: Exception) -> str:
    """Return what went wrong, with the source of the cell."""
    if isinstance(error, CellExecutionError):
        cell = str(error).partition("\n------------------\n")[2]
        source = cell.partition("\n------------------\n")[0]
        return f"a cell failed with {error.ename}: {error.evalue}\n\n{source}"
    if isinstance(error, CellTimeoutError):
        return f"a cell was not done after {CELL_TIMEOUT} s\n\n{str(error).strip()}"
    return f"the kernel died: {str(error).strip()}"


def normalise(notebook: Any) -> Any:
    """Remove from a notebook what differs from machine to machine."""
    notebook.metadata = nbformat.from_dict(course_files.METADATA)
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    for number, cell in enumerate(code, start=1):
        cell.execution_count = number
        cell.metadata = nbformat.from_dict(
            {key: value for key, value in cell.metadata.items() if key in ("tags", "jupyter")}
        )
        for output in cell.outputs:
            if output.output_type == "error":
                output.traceback = [f"{output.ename}: {output.evalue}"]
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of the kernel: for the static form, and ``env``.

    The user's own settings are left out, because the outputs would depend on them. Only mode
    ``record``, which asks the API, needs the key, the server and the model.
    """
    asks = ("ANTHROPIC_", "LEARNKIT_MODEL") if env.get("LEARNKIT_MODE") != "record" else ()
    own = {k: v for k, v in os.environ.items() if k not in _OWN and not k.startswith(asks)}
    quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**own, "LEARNKIT_STATIC": "1", **quiet, **env}

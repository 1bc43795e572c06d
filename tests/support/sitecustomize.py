"""Python imports this by itself at its start: the socket block for kernels and their children.

The root ``conftest.py`` puts this folder on PYTHONPATH. A ``sitecustomize`` that the machine has
elsewhere is hidden by that, so it is run from here.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import netblock


def run_hidden() -> None:
    """Run the ``sitecustomize`` that would have been found without this folder, if any."""
    here = Path(__file__).resolve().parent
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if os.environ.get(netblock.SWITCH) == "1":
    netblock.block()
    # A sixth of the time that importing the SDK takes is the collector's, in each process.
    gc.set_threshold(50_000)
    # jsonschema's optional check of IRIs, which nobody here asks for, builds a grammar when it is
    # imported: eight tenths of a second in every process that imports nbformat.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
run_hidden()

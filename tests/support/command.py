"""``learnkit`` as a command, in this process: starting one takes seconds."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys

import pytest

from learnkit.terminal.cli import main


def learnkit(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """What the command prints and returns."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["learnkit", *arguments])
        for name, value in env.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                code = int(end.code or 0)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

"""Scratch copies of the tree, in which faults are planted and tests are run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: What a scratch copy does without.
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", "venv", ".hypothesis", "*_cache", "__pycache__", "site", "learnkit-course"),
    *("artifacts", "build", "dist"),
)

#: What takes long to import, and is the same for each run.
WARM = ("anthropic.types", "hypothesis.stateful", "nbval.kernel", "nbval.plugin", "xdist.plugin")
#: Runs in a process of its own, which has imported what takes long and forks for every pytest:
#: reads its arguments and a time limit as a line of JSON, and answers with its exit code.
_SERVER = """
import contextlib, json, os, resource, signal, sys, time
import pytest
for name in sys.argv[1:]:
    __import__(name)
for line in sys.stdin:
    arguments, limit, output = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # a loop may fill the memory
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, target in ((0, os.open(os.devnull, os.O_RDONLY)), (1, file), (2, file)):
            os.dup2(target, number)
        code = 99
        try:
            code = int(pytest.main(arguments))
            sys.stdout.flush()
        finally:
            os._exit(code)
    end, done = time.monotonic() + limit, (0, 0)
    while not done[0] and time.monotonic() < end:
        time.sleep(0.02)
        done = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and what a test has left running
    if not done[0]:
        os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(done[1]) if done[0] else "late", flush=True)
"""


class Copy:
    """A scratch copy of the tree, in which tests are run on one changed file at a time."""

    def __init__(self, root: Path, folder: Path, warm: Sequence[str]) -> None:
        self.root = folder
        shutil.copytree(root, folder, ignore=LEFT_OUT, symlinks=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            # Python takes a compiled file by its time in seconds and its size, and so an old one.
            "PYTHONDONTWRITEBYTECODE": "1",
            "CI": "1",  # the same examples each time
        }
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, *warm],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def passes(self, file: str, change: Callable[[str], str], tests: str, limit: float) -> bool:
        """Whether the tests pass with a file changed; those that do not end do not."""
        path = self.root / file
        source = path.read_text("utf-8")
        path.write_text(change(source), "utf-8")
        try:
            return self._passes(tests, limit)
        finally:
            path.write_text(source, "utf-8")

    def _passes(self, tests: str, limit: float) -> bool:
        output = self.root / ".pytest_output"
        # What the server has imported cannot be rewritten, which is no matter here.
        options = ["-x", "-q", "-n0", "-m", "", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        options += ["-o", f"cache_dir={self.root / '.pytest_cache'}"]
        shutil.rmtree(self.root / ".hypothesis", ignore_errors=True)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(
            json.dumps([[*options, *tests.split()], limit, str(output)]) + "\n"
        )
        self._server.stdin.flush()
        code = self._server.stdout.readline().strip()
        if code in ("", "3", "4", "5"):
            told = output.read_text("utf-8", "replace") if output.exists() else ""
            if "Error while loading conftest" not in told:
                raise RuntimeError(f"pytest {tests} ended with {code!r}:\n{told[-2000:]}")
        return code == "0"

    def close(self) -> None:
        """End its process."""
        with self._server:
            self._server.terminate()

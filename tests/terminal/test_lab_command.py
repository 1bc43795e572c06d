"""``learnkit lab``: its JupyterLab ends with it, and has the port that it was given."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

LAB = (sys.executable, "-c", "from learnkit.terminal.cli import main; main()", "lab")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--port", "{}"], ["s03", "--ServerApp.port={}"]])
def test_a_port_that_is_taken_is_an_error_and_not_another_port(
    words: list[str], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        options = [word.format(taken.getsockname()[1]) for word in words]
        done = subprocess.run(
            [*LAB, "--folder", str(tmp_path / "work"), *options, "--no-browser"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode
    assert "is not available" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_a_signal_ends_jupyterlab_too(number: signal.Signals, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=the-token"]
    started = subprocess.Popen(
        [*LAB, "--folder", str(tmp_path / "work"), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup's children ignore SIGHUP
    )
    try:
        end = time.monotonic() + 120
        while not answers(port):
            assert started.poll() is None
            assert time.monotonic() < end
            time.sleep(0.2)
        assert [answers(port, f"terminals{token}") for token in ("", "?token=the-token")] == [
            403,
            200,
        ]
        opened = [one for one in psutil.Process(started.pid).net_connections() if not one.raddr]
        assert {one.laddr.ip for one in opened if one.status == "LISTEN"} <= {"127.0.0.1", "::1"}
        started.send_signal(number)
        started.wait(timeout=60)
        # JupyterLab begins with a look at node's version, which may take a moment to end.
        end = time.monotonic() + 60
        while left := [one for one in psutil.process_iter() if group(one) == started.pid]:
            assert time.monotonic() < end, left
            time.sleep(0.2)
        assert not answers(port)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def answers(port: int, what: str = "") -> int:
    """The status of an answer of its API, 0 if there is none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{what}", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def group(process: psutil.Process) -> int | None:
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        return os.getpgid(process.pid)
    return None

"""``agent.py`` as processes: started, killed, and made to meet.

What the processes do is real. Only the moment is arranged, because a race that happens once in a
thousand runs teaches nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from learnkit.clients.connect import model_setting
from learnkit.clients.scripted import Failure, Reply, Request, Script, Scripted, Source
from learnkit.clients.server import MessagesServer
from learnkit.course.agent_file import forks
from learnkit.errors import UsageError
from learnkit.runtime.shell_environment import REPRODUCIBLE, SWITCH

#: Seconds that a process may take.
PATIENCE = 60.0
#: By which what a killed ``agent.py`` has started is found.
_MARK = "LEARNKIT_TERMINAL"
_LOOPBACK = "127.0.0.1,localhost"


class Process:
    """A process of ``agent.py``.

    Attributes:
        pid: its id.
        code: its exit code, negative for a signal; None until it has been waited for.
        out, err: what it printed.
    """

    def __init__(self, reports: Path) -> None:
        self._reports = reports
        self.pid = int(_until(reports / "pid", PATIENCE))
        self.code: int | None = None
        self.out = self.err = ""

    @property
    def last(self) -> str:
        """The last line of its stderr, which of a traceback says what was wrong."""
        return (self.err.strip().splitlines() or ["it said nothing"])[-1]

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal, as ``kill -9`` does, if it still runs."""
        if not (self._reports / "code").exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self, seconds: float = PATIENCE) -> int:
        """Wait for its end, and return its exit code.

        Raises:
            UsageError: if it goes on for longer; it is killed.
        """
        if self.code is None:
            try:
                self.code = int(_until(self._reports / "code", seconds))
            except TimeoutError:
                self.kill()
                raise UsageError(f"agent.py has not ended in {seconds:g} s") from None
            self.out, self.err = ((self._reports / name).read_text() for name in ("out", "err"))
        return self.code


class Terminal:
    """Runs ``agent.py`` in a folder; what it asks is answered here. No process outlives its block.

    Args:
        text: of ``agent.py``.
        model: what answers: a source of replies, or a script as for :func:`learnkit.scripted`.
        folder: to work in.
        name: of the model.

    Attributes:
        requests: all that was asked.
    """

    def __init__(
        self, text: str, model: Source | Script, folder: Path, name: str | None = None
    ) -> None:
        self.folder, self.requests, self._text = folder, list[Request](), text
        self._source = model if isinstance(model, Source) else Scripted(model)
        self._name, self._mark = name or model_setting(), secrets.token_hex(8)
        self._started: list[Process] = []
        self._killed_at = 0
        self._barrier: threading.Barrier | None = None

    def __enter__(self) -> Self:
        self._reports = Path(tempfile.mkdtemp(prefix="learnkit-"))
        self._server = MessagesServer(self)
        self._server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._started:
            process.kill()
            process.wait()
        _kill_marked(self._mark)
        self._server.__exit__(*error)
        shutil.rmtree(self._reports, ignore_errors=True)

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """Answer a request, unless its process is to die."""
        self.requests.append(request)
        if len(self.requests) == self._killed_at:
            self._started[-1].kill()
            return Failure(500, "api_error", "nobody hears this")
        if self._barrier and len(request["messages"]) == 1:
            with contextlib.suppress(threading.BrokenBarrierError):
                self._barrier.wait(PATIENCE)
        return self._source.answer(request, lane)

    def start(
        self,
        prompt: str,
        *,
        dies_at: int | None = None,
        hold: str = "",
        meet: tuple[Path, int] | None = None,
        program: str = "agent.main()",
        env: Mapping[str, str] | None = None,
    ) -> Process:
        """Start ``agent.py`` with a prompt.

        Args:
            prompt: as it is typed.
            dies_at: the operating system kills it when a file that it writes has so many bytes.
            hold: a function of it that waits, at its first call, until the others call it as well.
            meet: the folder in which they meet, and their number.
            program: what runs, instead of the whole; ``agent`` is the module.
            env: more variables of its environment.
        """
        reports = Path(tempfile.mkdtemp(dir=self._reports))
        (reports / "agent.py").write_text(self._text, "utf-8")
        for name in ("out", "err"):
            (reports / name).touch()
        meeting, many = meet or (reports, 1)
        job = {
            "argv": ["agent.py", prompt],
            "folder": str(self.folder),
            "reports": str(reports),
            "env": {**self._environment(), **(env or {})},
            "dies_at": dies_at,
            "hold": hold,
            "meeting": str(meeting),
            "many": many,
            "program": program,
        }
        forks.start(job)
        self._started.append(Process(reports))
        return self._started[-1]

    def run(self, prompt: str, *, killed_at_request: int = 0, **options: Any) -> str:
        """Run it to its end, and return what it printed.

        Args:
            prompt: as it is typed.
            killed_at_request: it is killed (``kill -9``) when it has sent so many requests.
            options: as for :meth:`start`.

        Raises:
            UsageError: if it ends with an error.
        """
        self._killed_at = killed_at_request and len(self.requests) + killed_at_request
        return self._ended(self.start(prompt, **options))

    def race(
        self, *prompts: str, hold: str, seconds: float = PATIENCE, **options: Any
    ) -> list[str]:
        """Run one process for each prompt, side by side, and return what they printed.

        They get their first replies at the same time.

        Args:
            prompts: as they are typed.
            hold: the function at which each waits for the others, for at most half a second.
            seconds: that they may take.
            options: as for :meth:`start`.

        Raises:
            UsageError: if one ends with an error, or not in time.
        """
        self._barrier = threading.Barrier(len(prompts))
        meeting = Path(tempfile.mkdtemp(dir=self._reports))
        meet = meeting, len(prompts)
        started = [self.start(prompt, hold=hold, meet=meet, **options) for prompt in prompts]
        printed = [self._ended(one, seconds) for one in started]
        self._barrier = None
        return printed

    def _ended(self, process: Process, seconds: float = PATIENCE) -> str:
        if process.wait(seconds) > 0:
            raise UsageError(f"agent.py has failed: {process.last}")
        return process.out

    def _environment(self) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if "ANTHROPIC" not in name}
        path = os.pathsep.join((str(Path(sys.executable).parent), env.get("PATH", os.defpath)))
        return {
            **env,
            **REPRODUCIBLE,
            SWITCH: "1",
            _MARK: self._mark,
            "PATH": path,
            "ANTHROPIC_BASE_URL": self._server.url,
            "ANTHROPIC_API_KEY": "offline",
            "ANTHROPIC_MODEL": self._name,
            "AGENT_WRITE": "allow",  # nobody can be asked
            "NO_PROXY": _LOOPBACK,
            "no_proxy": _LOOPBACK,
        }


def _until(path: Path, seconds: float) -> str:
    ends = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > ends:
            raise TimeoutError
        time.sleep(0.005)
    return path.read_text()


def _kill_marked(mark: str) -> None:
    """Kill the commands of a process that was killed: nobody else does."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{_MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)

"""The one place that starts processes: a command goes in, its output and exit code come out.

A command cannot hang the agent, flood it, see its keys, or leave processes behind: it has a time
limit and a stop signal, bounded output, an environment made from an allow-list, and everything
it started ends with it. ``LocalShell`` runs it as the user; ``BwrapShell`` in a sandbox.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Protocol

from learnkit.errors import ToolError, UsageError
from learnkit.runtime.process_tree import Family
from learnkit.runtime.sandbox import BASE, Sandbox
from learnkit.runtime.shell_environment import environment
from learnkit.runtime.truncate import decoded, head_and_tail

#: Bytes a command may print before it is stopped, so that ``yes`` cannot fill the disk.
DISK_LIMIT = 64_000_000
#: Seconds between two looks at what a command prints.
HEARD = 0.25
#: Seconds between SIGTERM and SIGKILL.
GRACE = 0.5

_FLOODED = f"\n[stopped: it printed more than {DISK_LIMIT // 1_000_000} MB; the rest is dropped]"

_MARK = "LEARNKIT_RUN"


class Stop(Protocol):
    """What a stop signal must offer: a clock's ``Signal``, or a ``threading.Event``."""

    def is_set(self) -> bool:
        """Whether the command is to be ended."""


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What came of a command.

    Attributes:
        output: standard output and standard error as they came, at most 50,000
            characters; when some were left out of the middle, it says how many.
        code: the exit code, 128 + n for a command that signal n ended; None when the shell
            ended it or never started it: at the time limit, on stop, for too much output.
        timed_out: the time limit was reached.
        truncated: the output is not whole.
        stopped: the stop signal was set.
    """

    output: str
    code: int | None
    timed_out: bool = False
    truncated: bool = False
    stopped: bool = False


class Shell(Protocol):
    """Runs commands; the tools need no more than this."""

    def run(
        self,
        command: str,
        cwd: str | Path,
        timeout: float = 120.0,
        stop: Stop | None = None,
        started: Callable[[], object] | None = None,
        stdin: str | None = None,
        heard: Callable[[str], object] | None = None,
    ) -> ShellResult:
        """Run a command to its end, its time limit or the stop signal.

        A KeyboardInterrupt ends it, too, and has what it had printed as a note.

        Args:
            command: for bash.
            cwd: the folder that it runs in.
            timeout: seconds.
            stop: ends it when it is set.
            started: called once it runs.
            stdin: its standard input.
            heard: called with what it has printed since the last call, a few times a second, from
                any thread; of much at once only the end.
        """
        ...


class AnyOf:
    """A stop signal that is set when one of several is."""

    def __init__(self, *stops: Stop | None) -> None:
        self._stops = [stop for stop in stops if stop is not None]

    def is_set(self) -> bool:
        return any(stop.is_set() for stop in self._stops)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a shell is asked to do: the arguments of :meth:`Shell.run`, with the folder resolved."""

    command: str
    folder: Path
    timeout: float
    stop: AnyOf
    started: Callable[[], object] | None
    stdin: str | None
    heard: Callable[[str], object] | None


class _Shell(ABC):
    def run(
        self,
        command: str,
        cwd: str | Path,
        timeout: float = 120.0,
        stop: Stop | None = None,
        started: Callable[[], object] | None = None,
        stdin: str | None = None,
        heard: Callable[[str], object] | None = None,
    ) -> ShellResult:
        """See :meth:`Shell.run`."""
        folder = _folder(cwd)
        return self._run(_Asked(command, folder, timeout, AnyOf(stop), started, stdin, heard))

    @abstractmethod
    def _run(self, asked: _Asked) -> ShellResult: ...


class LocalShell(_Shell):
    """Runs commands as the current user, with nothing between them and the machine.

    The environment holds the names of an allow-list, such as PATH, proxies and git's settings,
    never a key. That is no wall: what runs as the same user can read the user's files, and the
    kernel's own environment. For a wall take :class:`BwrapShell`.

    When the command's main process ends, whatever it left running (``sleep 100 &``, ``setsid``)
    is ended too. On Linux only a process that left both the session and the environment behind
    (``env -i setsid …``, a system service) gets away; elsewhere, one that left its process group.

    A command that opens ``/dev/stdout`` or ``/dev/stderr`` by name with ``>`` empties the output
    so far, as it does whenever output goes to a file; ``>&2`` does not.

    Args:
        env: more environment variables, or other values; this is how a command gets a secret.
    """

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = environment(env or {})

    def _run(self, asked: _Asked) -> ShellResult:
        return _run(["bash", "-c", asked.command], self._env, asked)


class BwrapShell(_Shell):
    """Runs commands in a bubblewrap sandbox (Linux).

    The command sees the machine read-only, a private ``/tmp`` and ``/run``, no network and no
    other processes, has no privileges, and can write only to the folder it runs in. It can read
    what the user can read, so this guards against damage, not against prying.

    In a git repository it can commit, in a worktree too, but not change git's configuration and
    hooks, which would run code outside of the sandbox. See :mod:`learnkit.runtime.sandbox`.

    Args:
        env: as for :class:`LocalShell`.
        writable: folders that may be written besides ``cwd``, such as a cache.

    Raises:
        UsageError: if bubblewrap is missing or may not make sandboxes here.
    """

    def __init__(
        self, env: Mapping[str, str] | None = None, *, writable: Sequence[str | Path] = ()
    ) -> None:
        if problem := _bwrap_problem():
            raise UsageError(f"BwrapShell cannot work here: {problem}. LocalShell needs neither.")
        self._env = environment({"TMPDIR": "/tmp", **(env or {})})
        for path in writable:
            if not Path(path).is_dir():
                raise UsageError(f"writable: there is no folder {str(path)!r}; create it first")
        self._writable = [Path(path).resolve() for path in writable]
        self._for_git = False

    def for_git(self) -> BwrapShell:
        """The same sandbox for git commands of the harness, which may add and remove worktrees."""
        made = copy(self)
        made._for_git = True
        return made

    @staticmethod
    def available() -> bool:
        """Whether sandboxes can be made on this machine."""
        return _bwrap_problem() is None

    def _run(self, asked: _Asked) -> ShellResult:
        folder = asked.folder
        if folder == Path("/"):
            raise UsageError("the sandbox cannot run in '/': the whole machine would be writable")
        sandbox = Sandbox.of(folder, self._writable, for_git=self._for_git)
        bwrap = _bwrap(sandbox.writable)
        if bwrap is None:
            raise ToolError(f"cannot run: {_MISSING}")
        argv = [bwrap, *BASE, *sandbox.mounts(), "--chdir", str(folder)]
        argv += ["--", "bash", "-c", asked.command]
        try:
            stop = AnyOf(sandbox, asked.stop)
            result = _run(argv, self._env, replace(asked, stop=stop))
        finally:
            made = sandbox.clear()
        if made:
            names = ", ".join(map(str, made))
            raise ToolError(f"the command made {names}, and git would run code from it: removed")
        if replaced := sandbox.replaced():
            names = ", ".join(map(str, replaced))
            raise ToolError(
                f"{names} was replaced by another program while the command ran, and a sandbox "
                "cannot protect it then. The command was ended; run it again"
            )
        return result


_MISSING = "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap)"


def _bwrap(writable: Sequence[Path] = ()) -> str | None:
    """The path of bubblewrap; what a command could have put there is passed over."""
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("bwrap", path=entry) if Path(entry).is_absolute() else None
        if found and not any(Path(found).resolve().is_relative_to(one) for one in writable):
            return found
    return None


def _bwrap_problem() -> str | None:
    if (bwrap := _bwrap()) is None:
        return _MISSING
    probe = subprocess.run([bwrap, *BASE, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return f"bubblewrap may not make sandboxes ({probe.stderr.strip()})"
    return None


def _folder(path: str | Path) -> Path:
    folder = Path(path)
    if not folder.is_dir():
        raise ToolError(f"cannot run in {str(path)!r}: there is no such folder. Create it first.")
    return folder.resolve()


def _run(argv: list[str], env: dict[str, str], asked: _Asked) -> ShellResult:
    """Check, and supervise the command from a thread that no interrupt can strike.

    Python raises KeyboardInterrupt in the main thread, wherever that is: also after a process
    has been started and before anybody knows of it.
    """
    if not asked.timeout > 0:
        raise UsageError(f"the time limit is {asked.timeout} s; it must be above 0")
    if threading.current_thread() is not threading.main_thread():
        return _supervise(argv, env, asked)
    interrupted, done = threading.Event(), threading.Event()
    asked = replace(asked, stop=AnyOf(interrupted, asked.stop))
    outcome: list[ShellResult | Exception] = []

    def work() -> None:
        try:
            outcome.append(_supervise(argv, env, asked))
        except Exception as error:
            outcome.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=work, name="learnkit-shell")
    try:
        thread.start()
        while not done.wait(0.05):  # not for ever: an interrupt need not come as a signal
            pass
    except BaseException as error:
        interrupted.set()
        if thread.ident is not None:  # else it will see, when it starts, that it need not
            done.wait()  # Python 3.11 takes a thread for ended once its join was interrupted
        if outcome and isinstance(outcome[0], ShellResult) and outcome[0].output:
            error.add_note(outcome[0].output)
        raise
    thread.join()
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def _supervise(argv: list[str], env: dict[str, str], asked: _Asked) -> ShellResult:
    if asked.stop.is_set():
        return ShellResult("", None, stopped=True)
    mark = os.urandom(8).hex()
    # To a file, not a pipe: a grandchild that holds a pipe open would keep its reader waiting.
    with tempfile.TemporaryFile("a+b") as file, tempfile.TemporaryFile() as given:
        if asked.stdin is not None:  # also a file, so that nobody has to feed a pipe
            given.write(asked.stdin.encode("utf-8", "replace"))
            given.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                cwd=asked.folder,
                env={**env, _MARK: mark},
                stdin=subprocess.DEVNULL if asked.stdin is None else given,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # too long, a NUL in it, no bash
            length = len(argv[-1])
            raise ToolError(f"a command of {length:,} characters cannot start: {error}") from None
        family = Family(process, f"{_MARK}={mark}".encode())
        grace, why = GRACE, ""
        try:
            if asked.started is not None:
                asked.started()
            why = _wait(process, file, asked)
            if why == "flooded":
                grace = 0.0  # in half a second it could write another gigabyte
        finally:
            family.end(grace)
        flooded = os.fstat(file.fileno()).st_size > DISK_LIMIT
        if flooded:
            os.ftruncate(file.fileno(), DISK_LIMIT)
        text, truncated = head_and_tail(chain(decoded(file), [_FLOODED] if flooded else []))
    code = process.returncode
    if why or flooded:
        code = None
    elif code < 0:
        code = 128 - code
    return ShellResult(
        output=text,
        code=code,
        timed_out=why == "timed_out",
        truncated=truncated,
        stopped=why == "stopped",
    )


def _wait(process: subprocess.Popen[bytes], file: IO[bytes], asked: _Asked) -> str:
    """Wait for the main process; return why it has to be ended, or "" when it has ended."""
    began = time.monotonic()
    deadline, told, size = began + asked.timeout, began, 0
    pause = 0.0005  # short at first, so that a quick command is not made slow
    while process.poll() is None:
        if asked.stop.is_set():
            return "stopped"
        if time.monotonic() >= deadline:
            return "timed_out"
        printed = os.fstat(file.fileno()).st_size
        if printed > DISK_LIMIT:
            return "flooded"
        if asked.heard is not None and printed > size and time.monotonic() - told >= HEARD:
            begin = max(size, printed - 4_000)
            printed_since = os.pread(file.fileno(), printed - begin, begin)
            asked.heard(printed_since.decode("utf-8", "replace"))
            told, size = time.monotonic(), printed
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, 0.02)
    return ""

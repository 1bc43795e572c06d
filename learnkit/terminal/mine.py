"""``learnkit mine``: the learner's own agent at work on a copy of a repository of theirs.

Their file is imported and run in a child process (:mod:`learnkit.terminal.mine_run`), which this
one limits and ends. The copy shares nothing with the original: no hard links, no remote.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from learnkit.core.mechanism import Mechanism
from learnkit.core.text import clean, count
from learnkit.course.display.loop import HOOKS
from learnkit.errors import ToolError, UsageError
from learnkit.runtime.git import Git
from learnkit.runtime.process_tree import Family

#: What the stand-in understands in any repository.
PROMPT = "List the files. Create my_agent.md that says hello. Read my_agent.md."
#: Seconds that the child may take to start, to import the file, and to run with the stand-in.
START, IMPORT, RUN = 60.0, 10.0, 120.0
#: The variable that marks the child's processes.
MARK = "LEARNKIT_MINE"
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Order:
    """What to run.

    Attributes:
        file: the learner's ``my_agent.py``.
        prompt: for the agent.
        without: names of classes that it does not get.
        live: ask the API, and not the stand-in.
        ask: with ``live``, about the cost and about calls that change something.
    """

    file: str
    prompt: str = PROMPT
    without: tuple[str, ...] = ()
    live: bool = False
    ask: bool = True


def run(repository: Path, order: Order, width: int) -> Iterator[str]:
    """Let the agent work on a copy of a repository; it prints what happens by itself.

    Args:
        repository: the learner's; it is only read.
        order: what to run.
        width: of the terminal, in columns.

    Yields:
        Lines to print before and after the run.

    Raises:
        UsageError: if there is no such repository or file, or the file does not work.
    """
    file = Path(order.file)
    if not file.is_file():
        raise UsageError(
            f"there is no {file}; it is made when the check of an exercise passes in a lesson. "
            "For a file elsewhere give --agent PATH"
        )
    git = Git(repository)
    left = len(git.changes(git.root))
    with _ended(), tempfile.TemporaryDirectory(prefix="learnkit-") as folder:
        copy = Path(folder).resolve() / (git.root.name or "copy")
        base = _clone(git.root, copy)
        yield f"A copy of {git.root}; the original is not touched."
        if left:
            yield f"{count(left, 'change')} that you have not committed: not in the copy."
        sys.stdout.flush()
        told: dict[str, Any] = {}
        failure = _supervise(copy, order, told)
        if "classes" in told:
            yield from _part(told["classes"], width)
            yield from _changes(copy, base, width)
            yield from _left_out(told["left_out"], told["others"], width)
        if failure:
            raise UsageError(failure)


@contextlib.contextmanager
def _ended() -> Iterator[None]:
    """Clean up also when this process is asked to end."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _clone(root: Path, copy: Path) -> str:
    """Copy a repository, and return what the changes are counted from."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_NO_LAZY_FETCH": "1", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_TERMINAL_PROMPT": "0"}
    # Files in .git that both have would be written in both; a hook of the user's is not for this.
    options = ("--quiet", "--local", "--no-hardlinks", "--config", "core.hooksPath=/dev/null")
    made = subprocess.run(
        ["git", "clone", *options, "--", str(root), str(copy)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if made.returncode != 0:
        raise UsageError(f"{root} could not be copied: {clean(made.stderr).strip()}")
    git = Git(copy)
    git.run("config", "--unset-all", "core.hooksPath")
    git.run("remote", "remove", "origin")  # a push would reach the original
    empty = git.run("hash-object", "-t", "tree", "/dev/null").strip()
    return git.commit_of("HEAD") if git.succeeds("rev-parse", "-q", "--verify", "HEAD") else empty


def _supervise(copy: Path, order: Order, told: dict[str, Any]) -> str:
    """Run the child with its limits; return what went wrong, and fill in what it has told."""
    heard, speaks = os.pipe()
    mark = os.urandom(8).hex()
    file = Path(order.file).resolve()
    said = json.dumps(asdict(replace(order, file=str(file))))
    command = [sys.executable, "-P", "-m", "learnkit.terminal.mine_run", str(speaks)]
    late = ""
    with _Report(heard, told) as report:
        try:
            child = subprocess.Popen(
                [*command, said],
                cwd=copy,
                env={**os.environ, MARK: mark},
                pass_fds=[speaks],
                start_new_session=True,
            )
        finally:
            os.close(speaks)
        family = Family(child, f"{MARK}={mark}".encode())
        try:
            if not report.hear("started", START):
                late = f"Python did not start within {START:.0f} s"
            elif not report.hear("classes", IMPORT):
                late = f"{file.name} could not be imported within {IMPORT:.0f} s"
            elif not report.hear("over", None if order.live else RUN):
                late = f"your agent did not come to an end within {RUN:.0f} s"
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_GRACE)  # a thread of theirs may go on
        finally:
            family.end(_GRACE)
        report.hear("", 0)
    if late:
        return f"{late}, and was stopped{told.get('stopped', '')}"
    if "over" not in told:
        return f"{file.name} ended its process, with exit code {child.returncode}"
    return str(told["over"])


class _Report:
    """What the child tells, a JSON object a line.

    Args:
        pipe: the end to read from; it is closed at the end of the block.
        told: gets what is told.
    """

    def __init__(self, pipe: int, told: dict[str, Any]) -> None:
        self._pipe, self._told, self._text = pipe, told, b""

    def __enter__(self) -> _Report:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)

    def hear(self, wanted: str, seconds: float | None) -> bool:
        """Return once something is told, or nothing more can be; False if the time is up."""
        end = None if seconds is None else time.monotonic() + seconds
        while wanted not in self._told:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not select.select([self._pipe], [], [], left)[0]:
                return False
            data = os.read(self._pipe, 1 << 16)
            if not data:
                return True
            *lines, self._text = (self._text + data).split(b"\n")
            for line in lines:
                self._told |= json.loads(line)
        return True


# What came of it


def _part(classes: Mapping[str, Sequence[str]], width: int) -> Iterator[str]:
    """The hooks of the loop, with the learner's classes at those that they use."""
    yield "\nYour part of the loop:"
    if not classes:
        yield "  none yet: no class of yours is a mechanism that can be used here"
    for hook in dict.fromkeys([*HOOKS, *Mechanism.HOOKS]):
        own = [name for name, hooks in classes.items() if hook in hooks]
        if own:
            said = f": {HOOKS[hook]}" if hook in HOOKS else ""
            yield from _wrapped(f"● {hook}{said} ← {', '.join(own)}", width)
        elif hook in HOOKS:
            yield from _wrapped(f"○ {hook}: {HOOKS[hook]}", width)


def _changes(copy: Path, base: str, width: int) -> Iterator[str]:
    """The files that are not as they were, committed or not."""
    try:
        git = Git(copy)
        git.run("add", "--all", "--intent-to-add")
        wide = f"--stat={max(30, min(width, 100)) - 2}"
        lines = git.run("diff", wide, "--no-ext-diff", "--no-textconv", "--no-color", base)
    except (ToolError, UsageError) as error:
        lines = f"not known, because git does not work in the copy any more: {error}"
    yield "\nChanged in the copy:"
    yield textwrap.indent(clean(lines).strip("\n"), "  ") or "  nothing"


def _left_out(left_out: Mapping[str, str], others: Sequence[str], width: int) -> Iterator[str]:
    if left_out:
        yield "\nLeft out:"
    for name, why in left_out.items():
        yield from _wrapped(f"{name}: {clean(why)}", width)
    if others:
        yield from ("", *_wrapped(f"Not mechanisms: {', '.join(others)}", width, first=""))


def _wrapped(text: str, width: int, first: str = "  ") -> list[str]:
    wide = max(30, min(width, 100))
    more = first + "  "
    return textwrap.wrap(text, wide, initial_indent=first, subsequent_indent=more)

"""One run of a scenario: a fresh workspace, client, clock and log, and what can be seen of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core.agent import Agent
from learnkit.core.events import EventLog
from learnkit.core.mechanism import Mechanism
from learnkit.core.usage import Meter
from learnkit.course.lessons import EXAMPLE
from learnkit.errors import UsageError
from learnkit.runtime.clock import Clock
from learnkit.runtime.shell import LocalShell, Shell

if TYPE_CHECKING:
    from learnkit.clients.transport import Client
    from learnkit.views import Messages


class Run:
    """One run of a scenario.

    Attributes:
        workspace: a fresh copy of the running example, a real git repository.
        client: an ``anthropic.Anthropic`` at the start of the scenario.
        clock: at 0.
        events: an empty log.
        shell: runs commands.
    """

    def __init__(self, workspace: Path, client: Client, events: EventLog, shell: Shell) -> None:
        self.workspace, self.client, self.events, self.shell = workspace, client, events, shell
        self.clock: Clock = client.clock

    def agent(self, mechanisms: Sequence[Mechanism] = (), **options: Any) -> Agent:
        """An agent on this run's client and log; ``options`` as for :class:`learnkit.Agent`."""
        return Agent(self.client, mechanisms, **{"events": self.events, **options})

    def show(self, messages: Sequence[dict[str, Any]]) -> Messages:
        """The message array view of a plain list of messages, as a hand-written loop has it."""
        return show(messages)

    def meter(self) -> Meter:
        """Turns, tokens and time of everything in this run's log."""
        return Meter.of(self.events)


def show(messages: Sequence[Any]) -> Messages:
    """The message array view of a list of messages; SDK objects in it become plain dicts."""
    from learnkit.views import Messages

    log = EventLog()
    for index, message in enumerate(messages):
        log.append("message.added", index=index, message=_plain(message))
    return Messages(log)


def _plain(value: Any) -> Any:
    """SDK objects, at any depth, as plain dicts."""
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(mode="json", exclude_unset=True))
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


class Example:
    """Fresh workspaces: copies of the running example, each a git repository with one commit.

    Everything stands in one temporary folder, made when it is first needed.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._copies = 0
        self._removed = False

    def copy(self) -> Path:
        """A new workspace; the folder above it is its own too.

        Raises:
            UsageError: after :meth:`remove`, or if git does not work.
        """
        folder = self._made()
        self._copies += 1
        workspace = folder / f"run-{self._copies}" / EXAMPLE.name
        shutil.copytree(folder / "pristine", workspace, symlinks=True)
        return workspace

    def empty(self, name: str) -> Path:
        """A folder without anything in it, emptied if it is there already.

        Raises:
            UsageError: after :meth:`remove`, or if git does not work.
        """
        folder = self._made() / "own" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _made(self) -> Path:
        if self._removed:
            raise UsageError("this lab is closed; run the set-up cell again to go on")
        if self._folder is None:
            folder = Path(tempfile.mkdtemp(prefix="learnkit-"))
            try:
                _commit(folder / "pristine")
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._folder = folder
        return self._folder

    def clear(self) -> None:
        """Remove the workspaces that runs have left behind."""
        if self._folder is not None:
            for left in self._folder.glob("run-*"):
                shutil.rmtree(left, ignore_errors=True)

    def remove(self) -> None:
        """Remove everything; no more workspaces."""
        self._removed = True
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _commit(folder: Path) -> None:
    """The example as a repository; author and date are the shell's, so the hash repeats."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    made = LocalShell().run("git init -q && git add -A && git commit -q -m heatwatch", folder)
    if made.code != 0:
        raise UsageError(f"the example's git repository could not be made: {made.output}")

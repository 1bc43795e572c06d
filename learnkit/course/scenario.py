"""One run of a scenario: a fresh workspace, client, clock and log."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Failure, Reply, Request, Scripted, Source
from learnkit.clients.transport import Client
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.usage import Meter
from learnkit.course.agent_file.process import Terminal
from learnkit.course.agent_file.settings import working_in
from learnkit.course.files import EXAMPLE
from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.runtime.clock import Clock, SystemClock
from learnkit.runtime.shell import LocalShell
from learnkit.runtime.shell_environment import REPRODUCIBLE


class Run:
    """One run of a scenario.

    Args:
        workspace: a fresh copy of the running example, a real git repository.
        client: an ``anthropic.Anthropic`` at the start of the scenario.

    Attributes:
        events: a log, empty at first.
        shell: runs commands.
        clock: the client's clock, at 0.
    """

    def __init__(self, workspace: Path, client: Client) -> None:
        self.workspace, self.client = workspace, client
        self.events, self.shell = EventLog(), LocalShell()
        self.clock: Clock = client.clock

    def agent(self, mechanisms: Sequence[Mechanism] = (), **options: Any) -> Agent:
        """Return an agent on this run's client and log.

        Args:
            mechanisms: what the agent has.
            options: as for :class:`learnkit.Agent`.
        """
        return Agent(self.client, mechanisms, **{"events": self.events, **options})

    @contextlib.contextmanager
    def serves(self, agent: ModuleType) -> Iterator[None]:
        """Let a module ``agent`` ask this run's client and work in its workspace, in a block.

        Nobody can be asked in a notebook, so its tools may write there.

        Args:
            agent: the module that the cells with ``%%agent`` make.
        """
        client = self.client
        if isinstance(client.source, Scripted):  # raw threads are no part of a virtual clock
            client = scripted(_AtOnce(client.source), SystemClock())
        policy = {**getattr(agent, "POLICY", {}), "write": "allow"}
        own = {"client": client, "MODEL": client.model, "POLICY": policy}
        with working_in(agent, self.workspace, **own):
            yield

    def processes(self, agent: ModuleType, instead: str = "") -> Terminal:
        """Return what runs ``agent.py`` in processes, in a block; this run's client answers.

        Args:
            agent: the module, as the cells have made it.
            instead: definitions that take the place of some of its own.
        """
        text, source = str(vars(agent)["__source__"].changed(instead)), self.client.source
        assert source is not None, "only a script answers processes"
        return Terminal(text, source, self.workspace, self.client.model)

    def meter(self) -> Meter:
        """Return the turns, tokens and time of everything in this run's log."""
        return Meter.of(self.events)


class _AtOnce:
    """A source whose replies take no time."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """What the source answers."""
        return replace(self._source.answer(request, lane), latency=0)


def plain(value: Any) -> Any:
    """Return a value, with SDK objects at any depth as plain dicts."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json", exclude_unset=True))
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


#: How the temporary folders of workspaces begin, and those of labs.
RUN, OWN = "learnkit-run-", "learnkit-own-"
_WORKSPACE = re.compile(
    rf"[^\s'\"]*/(?:(?P<above>{RUN}\w+/)(?!{EXAMPLE.name}\b)|(?:{RUN}\w+/{EXAMPLE.name}\b|{OWN}\w+)/?)"
)


def relative(text: str) -> str:
    """Return a text in which paths are relative to the workspace that they lead into."""
    return _WORKSPACE.sub(
        lambda found: "../" if found["above"] else "" if found[0].endswith("/") else ".", text
    )


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A fresh workspace, alone in a temporary folder; it is removed when the block ends."""
    with tempfile.TemporaryDirectory(prefix=RUN, ignore_cleanup_errors=True) as folder:
        yield _example(Path(folder))


def workspace_to_keep() -> Path:
    """A fresh workspace that nothing removes: the user wants to see what a program did in it."""
    return _example(Path(tempfile.mkdtemp(prefix=RUN)))


def _example(folder: Path) -> Path:
    made = folder / EXAMPLE.name
    shutil.copytree(EXAMPLE, made, ignore=shutil.ignore_patterns("__pycache__"))
    commit(made)
    return made


def commit(folder: Path) -> None:
    """Make a folder a repository; the shell fixes author and date, so the hash never changes."""
    first = f"git init -q && git add -A && git commit -q -m {folder.name}"
    ended = LocalShell(REPRODUCIBLE).run(first, folder)
    if ended.code != 0:
        raise UsageError(f"the git repository could not be made: {ended.output}")

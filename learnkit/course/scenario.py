"""One run of a scenario: a fresh workspace, client, clock and log."""

from __future__ import annotations

import atexit
import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Failure, Reply, Request, Scripted, Source
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.usage import Meter
from learnkit.course.agent_file.locks import never_twice
from learnkit.course.files import EXAMPLE
from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.runtime.clock import Clock, SystemClock
from learnkit.runtime.shell import LocalShell, Shell
from learnkit.runtime.shell_environment import REPRODUCIBLE

if TYPE_CHECKING:
    from learnkit.clients.transport import Client
    from learnkit.course.agent_file.process import Terminal


class Run:
    """One run of a scenario.

    Args:
        workspace: a fresh copy of the running example, a real git repository.
        client: an ``anthropic.Anthropic`` at the start of the scenario.
        events: an empty log.
        shell: runs commands.

    Attributes:
        clock: the client's clock, at 0.
    """

    def __init__(self, workspace: Path, client: Client, events: EventLog, shell: Shell) -> None:
        self.workspace, self.client, self.events, self.shell = workspace, client, events, shell
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
        policy = getattr(agent, "POLICY", {})
        client = self.client
        if isinstance(client.source, Scripted):  # raw threads are no part of a virtual clock
            client = scripted(_AtOnce(client.source), SystemClock())
        settings: dict[str, Any] = {"client": client, "MODEL": client.model, "ROOT": self.workspace}
        if hasattr(agent, "locked"):  # a cell that waits for itself would have to be interrupted
            settings["locked"] = never_twice(agent.locked)
        before = {name: getattr(agent, name) for name in settings}, dict(policy)
        vars(agent).update(settings)
        policy.update(write="allow")
        try:
            with contextlib.chdir(Path.cwd()):  # os.chdir shall leave nobody in a workspace
                yield
        finally:
            vars(agent).update(before[0])
            policy.clear()
            policy.update(before[1])

    def processes(self, agent: ModuleType, instead: str = "") -> Terminal:
        """Return what runs ``agent.py`` in processes, in a block; this run's client answers.

        Args:
            agent: the module, as the cells have made it.
            instead: definitions that take the place of some of its own.
        """
        from learnkit.course.agent_file.process import Terminal

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


#: How the path of a workspace begins, or of a lab's folder, wherever the temporary files are.
_WORKSPACE = re.compile(
    rf"[^\s'\"]*/learnkit-\w+/(?:(?P<above>run-\d+/)(?!{EXAMPLE.name}\b)|(?:run-\d+/{EXAMPLE.name}|own)\b/?)"
)


def relative(text: str) -> str:
    """Return a text in which paths are relative to the workspace that they lead into."""
    return _WORKSPACE.sub(
        lambda found: "../" if found["above"] else "" if found[0].endswith("/") else ".", text
    )


class Workspaces:
    """Fresh workspaces: copies of the running example, each a git repository with one commit.

    All of them are in one temporary folder, which is made for the first of them, and again for the
    first one after :meth:`remove`: whoever has run all cells can still change one.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._copies = 0
        self._own: Path | None = None

    def new(self) -> Path:
        """Return a new workspace; the folder above it belongs to it alone.

        Raises:
            UsageError: if git does not work.
        """
        folder = self._made()
        self._copies += 1
        workspace = folder / f"run-{self._copies}" / EXAMPLE.name
        shutil.copytree(folder / "pristine", workspace, symlinks=True)
        return workspace

    def folder(self, name: str) -> Path:
        """Return an empty folder; if there is one of that name, it is emptied."""
        if self._own is None:
            self._own = _until_the_end()
        folder = self._own / "own" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _made(self) -> Path:
        if self._folder is None:
            folder = _until_the_end()
            try:
                _commit(folder / "pristine")
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._folder = folder
        return self._folder

    def remove(self, *, folders: bool) -> None:
        """Remove the workspaces, and the folders as well if that is asked for."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if self._own is not None and folders:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own = None


def _until_the_end() -> Path:
    """A temporary folder that is removed when the process ends, such as that of a lab left open."""
    folder = Path(tempfile.mkdtemp(prefix="learnkit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextlib.contextmanager
def workspace_alone() -> Iterator[Path]:
    """A fresh workspace that belongs to no lab; it is removed when the block ends."""
    with tempfile.TemporaryDirectory(prefix="learnkit-", ignore_cleanup_errors=True) as folder:
        _commit(Path(folder) / EXAMPLE.name)
        yield Path(folder) / EXAMPLE.name


def workspace_to_keep() -> Path:
    """A fresh workspace that nothing removes: the user wants to see what a program did in it."""
    workspace = Path(tempfile.mkdtemp(prefix="learnkit-")) / EXAMPLE.name
    _commit(workspace)
    return workspace


def _commit(folder: Path) -> None:
    """Make the example a repository; the shell fixes author and date, so the hash never changes."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    first = "git init -q && git add -A && git commit -q -m heatwatch"
    made = LocalShell(REPRODUCIBLE).run(first, folder)
    if made.code != 0:
        raise UsageError(f"the example's git repository could not be made: {made.output}")

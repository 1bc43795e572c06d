"""The whole harness: all twelve mechanisms on the one loop.

Nothing here is new. It says in which order the mechanisms come, what they share (one workspace,
one board, one shell), and which of them a subagent and a teammate get.
"""

from __future__ import annotations

import os
import platform
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from learnkit.backends import connect
from learnkit.backends.files.backend import FilesBackend
from learnkit.backends.files.state import open_state
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.request import live_client
from learnkit.core.token_count import estimate_tokens
from learnkit.errors import UsageError
from learnkit.mechanisms.autonomy import Autonomy
from learnkit.mechanisms.background import Background
from learnkit.mechanisms.coding import LONGEST, CodingTools
from learnkit.mechanisms.compaction.mechanism import Compaction
from learnkit.mechanisms.instructions import Instructions
from learnkit.mechanisms.permission import Permission
from learnkit.mechanisms.prompt_files import AgentFile
from learnkit.mechanisms.protocols import Protocols
from learnkit.mechanisms.skills.mechanism import Skills
from learnkit.mechanisms.subagents import Subagents
from learnkit.mechanisms.tasks import Tasks
from learnkit.mechanisms.teams.joined import JoinedTeam
from learnkit.mechanisms.teams.lead import Team
from learnkit.mechanisms.todo import Todo
from learnkit.mechanisms.worktrees.assignment import History, WorktreeAssignments
from learnkit.mechanisms.worktrees.mechanism import Worktrees
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.clock import Clock, SystemClock
from learnkit.runtime.shell import LocalShell, Shell
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    import anthropic

    from learnkit.backends.interface import Backend, BoardBackend

#: What can be left out, in the order of the lessons; coding (bash and files) always stays.
PARTS = (
    *("todo", "subagents", "skills", "compaction", "tasks", "background"),
    *("team", "protocols", "autonomy", "worktrees"),
)
#: What a part cannot be without.
NEEDS = {"protocols": ("team",), "autonomy": ("team", "tasks")}

_SYSTEM = (
    "You are a coding agent in a workspace on the user's machine. Look before you change "
    "anything, and check your changes. At the end, report what you did and what is still open."
)


def full_agent(
    client: anthropic.Anthropic | None = None,
    workspace: str | Path = ".",
    *,
    parts: Collection[str] = PARTS,
    without: Collection[str] = (),
    before: Sequence[Mechanism] = (),
    extra: Sequence[Mechanism] = (),
    permission: Permission | None = None,
    shell: Shell | None = None,
    skills: str | Path | None = None,
    plan_required: bool | Callable[[str, str], bool] = False,
    compaction: Mapping[str, Any] = MappingProxyType({}),
    instructions: bool = False,
    daily: bool = False,
    agents: Mapping[str, AgentFile] = MappingProxyType({}),
    backend: Backend | str | None = None,
    team: str = "team",
    remote: str = "",
    **options: Any,
) -> Agent:
    """An agent with all twelve mechanisms, or with those that you want.

    Its tasks, mail, transcripts and the index of worktrees are kept in the workspace, in
    ``.learnkit``, out of reach of the file tools and of git; the worktrees are in ``.worktrees``.
    With a backend, its tasks and mail are kept there.
    When you are done with it, close the client's clock: that ends teammates and jobs (``with
    client.clock: …``).

    Args:
        client: an ``anthropic.Anthropic``; those of :func:`learnkit.connect` bring a clock. Without
            one the API is asked, for ``model``, as :class:`learnkit.Agent` does.
        workspace: the folder it works in. Outside of a git repository there are no worktrees.
        parts: the parts that it has; by default all of :data:`PARTS`. Give a list where the
            requests have to stay the same when the harness gets a new part, as for a recording.
        without: those of them to leave out.
        before: further mechanisms for this agent, before all others.
        extra: further mechanisms for this agent, after its parts.
        permission: decides which calls may run; by default all of them may.
        shell: runs all commands; by default a :class:`learnkit.LocalShell`.
        skills: folder of the skills; by default ``skills`` in the workspace, if it is there.
        plan_required: which teammates need an approved plan, as for
            :class:`learnkit.Protocols`.
        compaction: options as for :class:`learnkit.Compaction`, for this agent and its teammates,
            such as ``{"threshold": 150_000}``.
        instructions: this agent, its subagents and its teammates get the instructions of the user
            and the project, as :class:`learnkit.Instructions` reads them.
        daily: for a user's own repository. The model knows the workspace by its true name, and not
            as ``/workspace``, which a file may speak of as another folder; and commands may take
            up to an hour, as :class:`learnkit.CodingTools` has it. Recordings don't fit then.
        agents: further kinds of subagents, as for :class:`learnkit.Subagents`.
        backend: where tasks, messages, requests and members are kept: what
            :func:`learnkit.open_backend` returns, or an address as it takes one. By default the
            address in the environment variable ``LEARNKIT_BACKEND``, which simulated time leaves
            out, or else the workspace.
        team: the team's name in the backend, which tells it from others there.
        remote: a common remote for the branches of worktrees, as for :class:`learnkit.Worktrees`.
        options: as for :class:`learnkit.Agent`.

    Raises:
        UsageError: for a part that there is not, one that another one needs, an extra tool with
            the name of one that is there, or a ``.learnkit`` that came with the repository.
    """
    if client is None:
        client = live_client(options.get("model"))
    chosen = _chosen(parts, without)
    place = _Place(
        workspace,
        chosen,
        shell=shell,
        skills=skills,
        compaction=compaction,
        instructions=instructions,
        daily=daily,
    )
    shell, state = place.shell, place.state
    shared, opened = _backend(backend, options.get("clock") or client)
    board = (shared or FilesBackend(state)).board(team)

    def teammate(name: str, role: str) -> Sequence[Mechanism]:
        return place.member(board)

    made: list[Mechanism] = [*before, *([permission] if permission is not None else [])]
    made += place.member(board)
    if "subagents" in chosen:
        made.append(Subagents(place.alone, agents=agents))
    if "background" in chosen:
        limit = LONGEST if daily else 300.0
        made.append(Background(shell, workspace=place.workspace, limit=limit))
    crew = None
    if "team" in chosen:
        folder = FilesBackend(state).folder(team)
        said = folder / "transcripts"
        own = None if shared else folder
        crew = Team(own, teammate, name=team, backend=shared, transcripts=said)
        made.append(crew)
        if "protocols" in chosen:
            made.append(Protocols(crew, plan_required=plan_required))
        if "autonomy" in chosen:
            made.append(Autonomy(crew, board))
    if "worktrees" in chosen and place.git is not None:
        known = board if "tasks" in chosen else None
        trees = state / "worktrees"
        made.append(
            Worktrees(place.workspace, known, team=crew, shell=shell, state=trees, remote=remote)
        )
    agent = Agent(client, [*made, *extra], **{"system": _SYSTEM, **options})
    if opened and shared is not None:
        weakref.finalize(agent, shared.close)
    return agent


def full_teammate(
    client: Any,
    workspace: str | Path = ".",
    *,
    backend: Backend,
    name: str,
    role: str,
    team: str = "team",
    lead: str = "lead",
    where: str = "",
    lease: float = 60.0,
    max_idle: float | None = None,
    poll: float = 1.0,
    permission: Permission | None = None,
    plan_required: bool = False,
    shell: Shell | None = None,
    remote: str = "",
    **options: Any,
) -> JoinedTeam:
    """A teammate in a process of its own, with what a user's :func:`full_agent` gives to its own.

    It has the instructions of the user and the project, and is ``daily``. It takes the name and
    looks for messages and tasks at once, in a thread. The lead may be on another machine, and need
    not have started yet.
    """
    place = _Place(workspace, PARTS, shell=shell, instructions=True, daily=True)
    joined = JoinedTeam(
        backend,
        name,
        role,
        transcripts=FilesBackend(place.state).folder(team) / "transcripts",
        clock=client.clock,
        name=team,
        lead=lead,
        where=where or platform.node(),
        lease=lease,
    )
    Protocols(joined, plan_required=plan_required)
    Autonomy(joined, joined.board, poll=poll, idle=60.0 if max_idle is None else max_idle)
    joined.stays = max_idle is None
    if place.git is not None:
        registry = WorktreeRegistry(
            place.root, place.shell, state=place.state / "worktrees", remote=remote
        )
        history = History(registry.git)
        joined.extensions.append(
            WorktreeAssignments(registry, joined.board, history, joined.incarnation)
        )
    asked = [permission] if permission is not None else []
    joined.start(client, [*asked, *place.member(joined.board)], **options)
    return joined


class _Place:
    """What all agents in a workspace share, and the mechanisms that they have alike."""

    def __init__(
        self,
        workspace: str | Path,
        chosen: Collection[str],
        *,
        shell: Shell | None = None,
        skills: str | Path | None = None,
        compaction: Mapping[str, Any] = MappingProxyType({}),
        instructions: bool,
        daily: bool,
    ) -> None:
        self.root = Path(workspace)
        self.root.mkdir(parents=True, exist_ok=True)
        self._daily = daily
        self.workspace = Workspace(workspace, masked=not daily)
        self.shell = LocalShell() if shell is None else shell
        self.state, self.git = open_state(self.root, self.shell)
        self._chosen, self._compaction, self._instructions = chosen, compaction, instructions
        self._skills = Path(skills) if skills is not None else self.root / "skills"
        self._with_skills = "skills" in chosen and (skills is not None or self._skills.is_dir())

    def alone(self) -> list[Mechanism]:
        """What a subagent gets, and every agent has."""
        made: list[Mechanism] = [CodingTools(self.workspace, self.shell, timed=self._daily)]
        if self._instructions:
            made.append(Instructions(self.workspace, self.shell))
        return [*made, Skills(self._skills)] if self._with_skills else made

    def member(self, board: BoardBackend) -> list[Mechanism]:
        """What the lead and its teammates have alike."""
        made = self.alone()
        if "todo" in self._chosen:
            made.append(Todo())
        if "compaction" in self._chosen:
            transcripts = {"transcripts": self.state / "transcripts"}
            made.append(Compaction(**{**transcripts, **self._compaction}))
        if "tasks" in self._chosen:
            made.append(Tasks(board))
        return made


def token_costs(agent: Agent) -> dict[str, int]:
    """What each request costs before the conversation: system prompt and tools, in tokens."""
    costs = {"system": estimate_tokens(agent.system)}
    return costs | {name: estimate_tokens(tool.spec()) for name, tool in agent.tools.items()}


def _chosen(parts: Collection[str], without: Collection[str]) -> set[str]:
    for part in (*parts, *without):
        if part not in PARTS:
            raise UsageError(f"there is no part {part!r}; there are: {', '.join(PARTS)}")
    chosen = set(parts) - set(without)
    for part, needed in NEEDS.items():
        missing = [one for one in needed if one not in chosen]
        if part in chosen and missing:
            raise UsageError(f"{part} needs {missing[0]}; leave out {part} as well")
    return chosen


def _backend(given: Backend | str | None, timed: Any) -> tuple[Backend | None, bool]:
    """What keeps a team, None for the workspace; and whether it was opened for this agent alone."""
    clock = timed if isinstance(timed, Clock) else getattr(timed, "clock", None) or SystemClock()
    if given is None and not isinstance(clock, VirtualClock):
        given = os.environ.get(connect.SETTING) or None
    if isinstance(given, str):
        return connect.open_backend(given, clock=clock), True
    return given, False

"""The whole harness: all twelve mechanisms on the one loop.

Nothing here is new. It says in which order the mechanisms stand, what they share (one workspace,
one board, one shell), and what a subagent and a teammate get of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.backends.files.board import TaskBoard
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.token_count import estimate_tokens
from learnkit.errors import UsageError
from learnkit.mechanisms.autonomy.lead import Autonomy
from learnkit.mechanisms.background import Background
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.compaction.mechanism import Compaction
from learnkit.mechanisms.permission import Permission
from learnkit.mechanisms.protocols.lead import Protocols
from learnkit.mechanisms.skills.mechanism import Skills
from learnkit.mechanisms.subagents import Subagents
from learnkit.mechanisms.tasks import Tasks
from learnkit.mechanisms.teams.lead import Team
from learnkit.mechanisms.todo import Todo
from learnkit.mechanisms.worktrees.mechanism import Worktrees
from learnkit.runtime.git import Git
from learnkit.runtime.shell import LocalShell, Shell

if TYPE_CHECKING:
    import anthropic

#: What can be left out, in the order of the lessons; coding (bash and files) always stays.
PARTS = (
    *("todo", "subagents", "skills", "compaction", "tasks", "background"),
    *("team", "protocols", "autonomy", "worktrees"),
)
#: What a part cannot be without.
NEEDS = {"protocols": ("team",), "autonomy": ("team", "tasks")}

_SYSTEM = (
    "You are a coding agent in a workspace on the user's machine. Look before you change "
    "something, and check what you have done. Say in the end what you did, and what is left."
)


def full_agent(
    client: anthropic.Anthropic,
    workspace: str | Path = ".",
    *,
    without: Collection[str] = (),
    permission: Permission | None = None,
    shell: Shell | None = None,
    skills: str | Path | None = None,
    plan_required: bool | Callable[[str, str], bool] = False,
    **options: Any,
) -> Agent:
    """An agent with all twelve mechanisms, or with those that you want.

    Its tasks, mail, transcripts and worktrees stand in the workspace, in ``.tasks``, ``.team``,
    ``.transcripts`` and ``.worktrees``. When you are done with it, close the client's clock: that
    ends teammates and jobs (``with client.clock: …``).

    Args:
        client: an ``anthropic.Anthropic``; those of :func:`learnkit.connect` bring a clock.
        workspace: the folder it works in. Outside of a git repository there are no worktrees.
        without: parts to leave out, of :data:`PARTS`.
        permission: decides which calls may run; by default all of them may.
        shell: runs all commands; by default a :class:`learnkit.LocalShell`.
        skills: folder of the skills; by default ``skills`` in the workspace, if it is there.
        plan_required: which teammates need an approved plan, as for
            :class:`learnkit.Protocols`.
        options: as for :class:`learnkit.Agent`.

    Raises:
        UsageError: for a part that there is not, or one that another one needs.
    """
    parts = _chosen(without)
    root = Path(workspace)
    root.mkdir(parents=True, exist_ok=True)
    shell = LocalShell() if shell is None else shell
    board = TaskBoard(root / ".tasks")
    folder = Path(skills) if skills is not None else root / "skills"
    with_skills = "skills" in parts and (skills is not None or folder.is_dir())

    def alone() -> list[Mechanism]:
        """What a subagent gets, and everybody has."""
        made: list[Mechanism] = [CodingTools(root, shell)]
        return [*made, Skills(folder)] if with_skills else made

    def teammate(name: str, role: str) -> Sequence[Mechanism]:
        made = alone()
        if "todo" in parts:
            made.append(Todo())
        if "compaction" in parts:
            made.append(Compaction(transcripts=root / ".transcripts"))
        if "tasks" in parts:
            made.append(Tasks(board))
        return made

    made: list[Mechanism] = [permission] if permission is not None else []
    made += teammate("lead", "")
    if "subagents" in parts:
        made.append(Subagents(alone))
    if "background" in parts:
        made.append(Background(shell, workspace=root))
    team = Team(root / ".team", teammate) if "team" in parts else None
    if team is not None:
        made.append(team)
        if "protocols" in parts:
            made.append(Protocols(team, plan_required=plan_required))
        if "autonomy" in parts:
            made.append(Autonomy(team, board))
    if "worktrees" in parts and _has_git(root, shell):
        known = board if "tasks" in parts else None
        made.append(Worktrees(root, known, team=team, shell=shell))
    return Agent(client, made, **{"system": _SYSTEM, **options})


def token_costs(agent: Agent) -> dict[str, int]:
    """What stands before every conversation: tokens of the system prompt and of each tool.

    Args:
        agent: before or after a run; the system prompt is complete once a run has started.

    Returns:
        Estimated tokens by name; ``system`` comes first, then the tools in their order.
    """
    costs = {"system": estimate_tokens(agent.system)}
    return costs | {name: estimate_tokens(tool.spec()) for name, tool in agent.tools.items()}


def _chosen(without: Collection[str]) -> list[str]:
    for part in without:
        if part not in PARTS:
            raise UsageError(f"there is no part {part!r}; there are: {', '.join(PARTS)}")
    parts = [part for part in PARTS if part not in without]
    for part, needed in NEEDS.items():
        missing = [one for one in needed if one not in parts]
        if part in parts and missing:
            raise UsageError(f"{part} needs {missing[0]}; leave out {part} as well")
    return parts


def _has_git(folder: Path, shell: Shell) -> bool:
    try:
        Git(folder, shell)
    except UsageError:
        return False
    return True

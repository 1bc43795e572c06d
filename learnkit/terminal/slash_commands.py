"""The slash commands of the terminal: what the user can ask the harness, not the model.

Only ``/compact`` changes anything; it takes effect with the next turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from learnkit.core.mechanism import Mechanism
from learnkit.core.usage import Meter
from learnkit.errors import ToolError
from learnkit.harness import token_costs
from learnkit.mechanisms.compaction.mechanism import Compaction
from learnkit.mechanisms.skills.mechanism import Skills
from learnkit.mechanisms.tasks import Tasks, render
from learnkit.mechanisms.teams.lead import Team
from learnkit.mechanisms.todo import Todo

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

M = TypeVar("M", bound=Mechanism)

#: How many events /events shows by default.
EVENTS = 15


def answer(agent: Agent, line: str) -> str:
    """Return the answer to a line that begins with a slash.

    Args:
        agent: the terminal's agent.
        line: as the user typed it, such as ``/events 5``.
    """
    name, _, rest = line.removeprefix("/").partition(" ")
    if name not in COMMANDS:
        return f"there is no /{name}; there are: {', '.join(f'/{one}' for one in COMMANDS)}"
    command = COMMANDS[name][1]
    return command(agent, rest.strip()) or "(nothing)"


def _of(agent: Agent, kind: type[M]) -> M | None:
    return next((one for one in agent.mechanisms if isinstance(one, kind)), None)


def _help(agent: Agent, rest: str) -> str:
    width = max(map(len, COMMANDS)) + 2
    lines = [f"/{name:{width}}{text}" for name, (text, _) in COMMANDS.items()]
    return "\n".join([*lines, "Ctrl-C cancels a turn; the conversation is kept."])


def _tools(agent: Agent, rest: str) -> str:
    costs = token_costs(agent)
    lines = [f"{cost:6,}  {name}" for name, cost in costs.items()]
    return "\n".join([*lines, f"{sum(costs.values()):6,}  estimated tokens before every turn"])


def _tasks(agent: Agent, rest: str) -> str:
    tasks = _of(agent, Tasks)
    return render(tasks.board.tasks()) if tasks else "there is no board here"


def _team(agent: Agent, rest: str) -> str:
    team = _of(agent, Team)
    return str(team.list_teammates()) if team else "there is no team here"


def _inbox(agent: Agent, rest: str) -> str:
    team = _of(agent, Team)
    if team is None:
        return "there is no team here"
    try:
        mail = team.mailbox.unread(rest or agent.name)
    except ToolError as error:
        return str(error)
    return "\n".join(f"{one.id} {one.sender}: {one.content}" for one in mail) or "no unread mail"


def _todo(agent: Agent, rest: str) -> str:
    todo = _of(agent, Todo)
    return todo.render() if todo else "there is no list here"


def _skills(agent: Agent, rest: str) -> str:
    skills = _of(agent, Skills)
    found = skills.skills.values() if skills else []
    lines = [f"{one.name}: {one.description}" for one in found]
    lines += [f"! {one}" for one in (*skills.problems, *skills.warnings)] if skills else []
    return "\n".join(lines) or "there are no skills"


def _compact(agent: Agent, rest: str) -> str:
    compaction: Any = _of(agent, Compaction)
    if compaction is None:
        return "there is no compaction here"
    agent.tools["compact"].run(agent, {"focus": rest} if rest else {})
    return "The conversation will be summarised with the next turn."


def _cost(agent: Agent, rest: str) -> str:
    lanes = dict.fromkeys(event.lane for event in agent.events if event.type == "model.replied")
    lines = [f"{lane}: {Meter.of(agent.events, lane)}" for lane in lanes]
    return "\n".join([*lines, f"all: {Meter.of(agent.events)}"])


def _events(agent: Agent, rest: str) -> str:
    number = int(rest) if rest.isdecimal() else EVENTS
    return "\n".join(str(agent.events).splitlines()[-max(1, number) :])


#: Name -> its purpose, and the function that answers.
COMMANDS: dict[str, tuple[str, Callable[[Agent, str], str]]] = {
    "help": ("this list", _help),
    "tools": ("the tools, and what they cost each turn", _tools),
    "tasks": ("the board, with owners", _tasks),
    "team": ("who is in the team, and what they are doing", _team),
    "inbox": ("unread mail, yours or a teammate's", _inbox),
    "todo": ("the agent's list", _todo),
    "skills": ("the skills that can be loaded", _skills),
    "compact": ("summarise the conversation; a focus may follow", _compact),
    "cost": ("turns and tokens so far, by agent", _cost),
    "events": (f"the last {EVENTS} events, or as many as you say", _events),
    "quit": ("leave", _help),
}

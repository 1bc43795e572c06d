"""The slash commands of the terminal: what the user can ask the harness, not the model.

A command is found in any case, and an argument that it cannot use is said. What needs the chat
itself, such as another session, is its answer, and the chat does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from learnkit.errors import LearnkitError, UsageError
from learnkit.events.text import arguments, clean, count
from learnkit.runtime import atomic_write
from learnkit.runtime.workspace import STATE
from learnkit.terminal.export import as_markdown

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.core.mechanism import Mechanism
    from learnkit.events.log import Event

M = TypeVar("M", bound="Mechanism")

#: How many events /events shows by default.
EVENTS = 15

#: A line that is a command: what begins with a path, such as /etc/hosts, is none.
_COMMAND = re.compile(r"/([A-Za-z]*)(?:\s+(.*))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Opened:
    """The answer of a command that leaves the session: for another one, or None for a new one."""

    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """The answer of a command that stands for something to say to the agent."""

    text: str


Answer = str | Opened | Prompt


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        purpose: what it does, for ``/help``.
        answer: given the agent and the rest of the line, returns what is shown or done.
        argument: what may follow it; empty if nothing may.
        at_once: it may be used while the agent works.
    """

    purpose: str
    answer: Callable[[Agent, str], Answer]
    argument: str = ""
    at_once: bool = True


def parsed(line: str) -> tuple[str, str] | None:
    """The name of a command in lower case, and what follows it; None if the line is a prompt."""
    found = _COMMAND.fullmatch(line.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else None


def answer(agent: Agent, line: str) -> Answer:
    """Return the answer to a command."""
    name, rest = parsed(line) or ("", "")
    if name not in COMMANDS:
        return f"there is no /{name}; there are: {', '.join(f'/{one}' for one in COMMANDS)}"
    command = COMMANDS[name]
    if rest and not command.argument:
        return f"/{name} takes no argument, so {rest!r} means nothing to it"
    try:
        return command.answer(agent, rest) or "(nothing)"
    except (LearnkitError, OSError) as error:
        return str(error)


def _of(agent: Agent, kind: type[M]) -> M | None:
    return next((one for one in agent.mechanisms if isinstance(one, kind)), None)


def _number(name: str, rest: str, what: str) -> int:
    if not (rest.isascii() and rest.isdecimal() and int(rest)):
        raise UsageError(f"/{name} takes {what}, such as /{name} 3, not {rest!r}")
    return int(rest)


def _help(agent: Agent, rest: str) -> str:
    named = {f"/{name} {one.argument}".strip(): one.purpose for name, one in COMMANDS.items()}
    width = max(map(len, named)) + 2
    lines = [f"{name:{width}}{purpose}" for name, purpose in named.items()]
    return "\n".join([*lines, "", *KEYS])


def _tools(agent: Agent, rest: str) -> str:
    from learnkit.harness import token_costs

    costs = token_costs(agent)
    lines = [f"{cost:6,}  {name}" for name, cost in costs.items()]
    return "\n".join([*lines, f"{sum(costs.values()):6,}  estimated tokens before every turn"])


def _tasks(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.tasks import Tasks, render

    tasks = _of(agent, Tasks)
    return render(tasks.board.tasks()) if tasks else "there is no board here"


def _team(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.teams.lead import Team

    team = _of(agent, Team)
    return str(team.list_teammates()) if team else "there is no team here"


def _inbox(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.teams.lead import Team

    team = _of(agent, Team)
    if team is None:
        return "there is no team here"
    known = [agent.name, *(one["name"] for one in team.roster.members())]
    if rest and rest not in known:
        return f"there is no inbox of {rest!r}; there are: {', '.join(known)}"
    mail = team.mailbox.unread(rest or agent.name)
    return "\n".join(f"{one.id} {one.sender}: {one.content}" for one in mail) or "no unread mail"


def _todo(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.todo import Todo

    todo = _of(agent, Todo)
    return todo.render() if todo else "there is no list here"


def _skills(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.skills.mechanism import Skills

    skills = _of(agent, Skills)
    found = skills.skills.values() if skills else []
    lines = [f"{one.name}: {one.description}" for one in found]
    lines += [f"! {one}" for one in (*skills.problems, *skills.warnings)] if skills else []
    return "\n".join(lines) or "there are no skills"


def _compact(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.compaction.mechanism import Compaction

    if _of(agent, Compaction) is None:
        return "there is no compaction here"
    agent.tools["compact"].run(agent, {"focus": rest} if rest else {})
    return "The conversation will be summarised with the next turn."


def _cost(agent: Agent, rest: str) -> str:
    from learnkit.core.usage import Meter

    events = list(agent.events)
    lanes = dict.fromkeys(event.lane for event in events if event.type == "model.replied")
    lines = [f"{lane}: {Meter.of(events, lane)}" for lane in lanes]
    return "\n".join([*lines, f"all: {Meter.of(events)}", *money(events)])


def money(events: Iterable[Event]) -> list[str]:
    """What the replies of a log have cost, or why that is not known; no line for a recording."""
    from learnkit.core.usage import Usage

    spent = Usage.of(events)
    if spent.simulated or not spent.requests:
        return []
    if spent.cost is not None:
        return [f"about ${spent.cost:,.4f}"]
    if spent.unknown:
        replies = f"{spent.unknown} of {spent.requests} replies"
        return [f"cost unknown: the server did not say what {replies} used"]
    return ["cost unknown: the price table does not have this model, or not this tariff"]


def _show(agent: Agent, rest: str) -> str:
    calls = [event for event in agent.events if event.type == "tool.started"]
    if not calls:
        return "no tool has been called yet"
    number = _number("show", rest, "the number of a call") if rest else len(calls)
    if number > len(calls):
        return f"there is no call {number}; there are {count(len(calls), 'call')} so far"
    begun = calls[number - 1]
    given = clean(arguments(begun.data.get("input", {})))
    head = f"{number} {'' if begun.lane == agent.name else f'{begun.lane} '}{begun.data['name']}"
    ended = next((one for one in agent.events if _ends(one, begun)), None)
    if ended is None:
        return f"{head}\n{given}\n\n(it has not ended yet)"
    how = "failed" if ended.data.get("is_error") else "ended"
    seconds = f"{ended.data.get('seconds') or 0.0:.1f} s"
    return f"{head}\n{given}\n\n{how} after {seconds}:\n{clean(str(ended.data.get('output', '')))}"


def _ends(event: Event, begun: Event) -> bool:
    return (
        event.type == "tool.ended"
        and event.seq > begun.seq
        and event.lane == begun.lane
        and event.data.get("id") == begun.data.get("id")
    )


def _events(agent: Agent, rest: str) -> str:
    number = _number("events", rest, "how many events to show") if rest else EVENTS
    return "\n".join(str(agent.events).splitlines()[-number:])


def _clear(agent: Agent, rest: str) -> Opened:
    return Opened()


def _resume(agent: Agent, rest: str) -> Answer:
    from learnkit.terminal.saved import FOLDER, chosen, listing

    folder = _root(agent) / STATE / FOLDER
    return Opened(chosen(folder, rest)) if rest else listing(folder)


def _export(agent: Agent, rest: str) -> str:
    path = _root(agent) / Path(rest or "conversation.md").expanduser()
    if path.exists():
        raise UsageError(f"{path} is there already; /export takes another name")
    if path.suffix == ".jsonl":
        agent.events.save(path)
        return f"{path} has the event log: lk.EventLog.load reads it"
    atomic_write.replace(path, as_markdown(agent.messages))
    return f"{path} has the conversation; a name in .jsonl would get the event log"


def _model(agent: Agent, rest: str) -> str:
    from learnkit.core.catalog import MODELS

    if not rest:
        known = ", ".join(MODELS)
        return f"{agent.model}; /model NAME takes another one. With known prices: {known}"
    agent.model = rest
    return f"{rest} answers from now on, and works as the teammates that are started from now on"


def _diff(agent: Agent, rest: str) -> str:
    from learnkit.runtime.git import Git

    git, root = Git(_root(agent)), _root(agent)
    since = ["HEAD"] if git.succeeds("rev-parse", "--verify", "--quiet", "HEAD") else []
    changed = git.run("diff", *since, "--no-ext-diff", "--no-textconv", "--", rest or ".", cwd=root)
    new = [line for line in git.changes(root) if line.startswith("??")]
    return (
        "\n".join([changed.rstrip(), *new]).strip() or "nothing has changed since the last commit"
    )


def _init(agent: Agent, rest: str) -> Prompt:
    return Prompt(INIT)


def _root(agent: Agent) -> Path:
    from learnkit.mechanisms.coding import CodingTools

    coding = _of(agent, CodingTools)
    return coding.workspace.root if coding else Path.cwd()


#: What /init says to the agent.
INIT = (
    "Write AGENTS.md, which coding agents read before they work here. Look at the repository first "
    "(the README, the configuration, the folders, the tests). If AGENTS.md exists already, correct "
    "and complete it. Keep it under 60 lines. Say what the project is in two sentences; give the "
    "commands to build, test and check it, each of which you have tried or found in a file; say "
    "where things are; and name the conventions that the code follows and a newcomer would miss. "
    "Leave out what is true of every project."
)

#: The last lines of /help.
KEYS = (
    "Enter sends; Alt+Enter or Ctrl+J begins a new line; Tab completes a command or a path.",
    "Ctrl-C stops what runs, and the conversation is kept; a second Ctrl-C, or Ctrl-D, leaves.",
)

#: Name -> the command.
COMMANDS: dict[str, Command] = {
    "help": Command("this list", _help),
    "show": Command("all of a call, by its number; the last one by default", _show, "[NUMBER]"),
    "tools": Command("the tools, and what they cost each turn", _tools),
    "tasks": Command("the board, with owners", _tasks),
    "team": Command("who is in the team, and what they are doing", _team),
    "inbox": Command("unread mail, yours or a teammate's", _inbox, "[NAME]"),
    "todo": Command("the agent's list", _todo),
    "skills": Command("the skills that can be loaded", _skills),
    "compact": Command("summarise the conversation", _compact, "[FOCUS]", at_once=False),
    "cost": Command("turns, tokens and money so far, by agent", _cost),
    "model": Command("which model answers, or another one", _model, "[NAME]"),
    "diff": Command("what has changed since the last commit", _diff, "[PATH]"),
    "init": Command("have the agent write AGENTS.md", _init, at_once=False),
    "clear": Command("begin a new conversation; /resume finds this one", _clear, at_once=False),
    "resume": Command("the saved conversations, or one of them", _resume, "[ID]", at_once=False),
    "export": Command("write the conversation to a file, .md or .jsonl", _export, "[FILE]"),
    "events": Command(f"the last {EVENTS} events, or as many as you say", _events, "[NUMBER]"),
    "quit": Command("leave", _help),
}

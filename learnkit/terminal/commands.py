"""The slash commands of the terminal: what the user can ask the harness, not the model.

A command is found in any case, and an argument that it cannot use is said. What needs the chat
itself, such as another session, is its answer, and the chat does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from learnkit.errors import LearnkitError, UsageError
from learnkit.events.text import arguments, clean, count
from learnkit.runtime import atomic_write
from learnkit.runtime.workspace import STATE
from learnkit.terminal.export import as_markdown

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.core.mechanism import Mechanism
    from learnkit.events.log import Event
    from learnkit.mechanisms.prompt_files import CommandFile

#: Kinds of rules.
KINDS: tuple[Literal["allow", "ask", "deny"], ...] = ("allow", "ask", "deny")
M = TypeVar("M", bound="Mechanism")


#: A line that is a command: what begins with a path, such as /etc/hosts, is none.
_COMMAND = re.compile(r"/([\w-]*)(?:\s+(.*))?\s*", re.DOTALL)


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
    try:
        if name not in COMMANDS:
            own = in_files(_root(agent))
            if name in own:
                return Prompt(own[name].prompt(rest))
            known = ", ".join(f"/{one}" for one in (*COMMANDS, *own))
            return f"there is no /{name}; there are: {known}"
        command = COMMANDS[name]
        if rest and not command.argument:
            return f"/{name} takes no argument, so {rest!r} means nothing to it"
        return command.answer(agent, rest) or "(nothing)"
    except (LearnkitError, OSError) as error:
        return str(error)


def in_files(workspace: Path) -> dict[str, CommandFile]:
    """The commands that the user and the project have in files, by name in lower case."""
    from learnkit.mechanisms.prompt_files import PromptFiles

    found = {name.lower(): one for name, one in PromptFiles(workspace).commands.items()}
    return {name: one for name, one in found.items() if name not in COMMANDS}


def _of(agent: Agent, kind: type[M], missing: str = "") -> M:
    if (one := kind.of(agent)) is None:
        raise UsageError(missing or f"this agent has no {kind.__name__}")
    return one


def _number(name: str, rest: str, what: str) -> int:
    if not (rest.isascii() and rest.isdecimal() and int(rest)):
        raise UsageError(f"/{name} takes {what}, such as /{name} 3, not {rest!r}")
    return int(rest)


def _help(agent: Agent, rest: str) -> str:
    named = {f"/{name} {one.argument}".strip(): one.purpose for name, one in COMMANDS.items()}
    own = in_files(_root(agent)).items()
    named |= {f"/{name} {one.arguments}".strip(): one.description for name, one in own}
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

    return render(_of(agent, Tasks).board.tasks())


def _team(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.teams.lead import Team

    return str(_of(agent, Team).list_teammates())


def _inbox(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.teams.lead import Team

    team = _of(agent, Team)
    known = [agent.name, *(one["name"] for one in team.roster.members())]
    if rest and rest not in known:
        return f"there is no inbox of {rest!r}; there are: {', '.join(known)}"
    mail = team.mailbox.unread(rest or agent.name)
    return "\n".join(f"{one.id} {one.sender}: {one.content}" for one in mail) or "no unread mail"


def _todo(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.todo import Todo

    return _of(agent, Todo).render()


def _skills(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.skills.mechanism import Skills

    skills = _of(agent, Skills, "there are no skills")
    lines = [f"{one.name}: {one.description}" for one in skills.skills.values()]
    lines += [f"! {one}" for one in (*skills.problems, *skills.warnings)]
    return "\n".join(lines) or "there are no skills"


def _compact(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.compaction.mechanism import Compaction

    _of(agent, Compaction)
    agent.tools["compact"].run(agent, {"focus": rest} if rest else {})
    return "The conversation will be summarised with the next turn."


def _cost(agent: Agent, rest: str) -> str:
    events = list(agent.events)
    lanes = dict.fromkeys(event.lane for event in events if event.type == "model.replied")
    each = [(lane, [one for one in events if one.lane == lane]) for lane in lanes]
    lines = [_used(who, own) for who, own in (*(each if len(each) > 1 else []), ("all", events))]
    return "\n".join([*lines, *money(events), "A turn is one request to the model."])


def _used(who: str, events: Sequence[Event]) -> str:
    """What an agent has used, or all of them."""
    from learnkit.core.usage import Meter, Usage

    used = Meter.of(events)
    about = "≈" if used.simulated else ""
    cost = Usage.of(events).cost
    parts = (
        f"{who}: {count(used.turns, 'turn')}",
        count(used.calls, "tool call"),
        f"{about}{used.input_tokens:,} tokens in, of which {about}{used.cached_tokens:,} from the "
        "cache",
        f"{about}{used.output_tokens:,} out",
        *([] if cost is None or who == "all" else [f"${cost:,.4f}"]),
    )
    return " · ".join(parts)


def money(events: Iterable[Event]) -> list[str]:
    """What the replies of a log have cost, or why that is not known; no line for simulated ones."""
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


def _resume(agent: Agent, rest: str) -> Answer:
    from learnkit.terminal.saved import FOLDER, chosen, listing

    folder = _root(agent) / STATE / FOLDER
    return Opened(chosen(folder, rest)) if rest else listing(folder)


def _export(agent: Agent, rest: str) -> str:
    path = _root(agent) / Path(rest or "conversation.md").expanduser()
    if path.exists():
        raise UsageError(f"{path} is there already; give another name, as /export NAME.md")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}; make it, or give another name")
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


def _rewind(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.checkpoints import Checkpoints
    from learnkit.terminal.session import restore_list

    kept = _of(agent, Checkpoints)
    if not kept.checkpoints:
        return "there is nothing to go back to"
    if not rest:
        lines = [f"{o.number:3}  {o.prompt}  {', '.join(o.files)}" for o in kept.checkpoints]
        how = "/rewind NUMBER goes back to before it; add files or conversation for one of them"
        return "\n".join([*map(str.rstrip, lines), how])
    number, _, what = rest.partition(" ")
    if what.strip() not in ("", "files", "conversation"):
        raise UsageError(f"/rewind takes files or conversation after the number, not {what!r}")
    only = what.strip()
    files, conversation = only != "conversation", only != "files"
    at = _number("rewind", number, "the number of a prompt")
    if at not in [one.number for one in kept.checkpoints]:
        raise UsageError(f"there is no prompt {at} to go back to; /rewind lists them")
    restored, whole = kept.rewind(at, files=files, conversation=conversation)
    restore_list(agent)
    said = f"put back: {', '.join(restored) or 'no file'}; commands are not undone" if files else ""
    stays = "the conversation stays, since it was summarised after that prompt"
    told = ("the conversation is as it was before" if whole else stays) if conversation else ""
    return "\n".join(filter(None, (said, told)))


def _permissions(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.permission import Permission
    from learnkit.mechanisms.rules import MODES
    from learnkit.mechanisms.settings import Settings

    permission = _of(agent, Permission)
    rules = permission.rules
    if rules is None:
        return "nothing is asked about here"
    kind, _, pattern = rest.partition(" ")
    if (mode := next((one for one in MODES if one == rest), None)) is not None:
        permission.set_mode(mode)
    elif rest == "forget":
        Settings.keep(_root(agent), [])
        return "what was kept for this project is forgotten; this chat keeps its rules to its end"
    elif kind == "keep" and pattern.strip():
        rules.add("allow", pattern.strip())
        Settings.keep(_root(agent), [pattern.strip()])
    elif pattern.strip() and (known := next((one for one in KINDS if one == kind), None)):
        rules.add(known, pattern.strip())
    elif rest:
        raise UsageError(f"/permissions takes a mode ({', '.join(MODES)}) or allow bash(pytest:*)")
    told = [(kind, [one.text for one in getattr(rules, kind)]) for kind in KINDS]
    lines = [f"{kind}: {', '.join(patterns)}" for kind, patterns in told if patterns]
    how = (
        "/permissions plan takes another mode; /permissions allow bash(pytest:*) adds a rule, and "
        "keep in place of allow keeps it for this project; /permissions forget takes that back"
    )
    return "\n".join([f"mode: {rules.mode}", *lines, *([] if rest else [how])])


def _mcp(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.mcp import Mcp

    how = 'settings name them: [mcp] weather = ["python", "w.py"]'
    servers = _of(agent, Mcp, f"there are no MCP servers; {how}")
    lines = [f"{name}: {clean(state)}" for name, state in servers.states.items()]
    return "\n".join([*lines, *(f"  {name}" for name in agent.tools if name.startswith("mcp__"))])


def _memory(agent: Agent, rest: str) -> str:
    from learnkit.mechanisms.memory import Memory

    memory = _of(agent, Memory)
    if rest:
        return str(memory.memory_view(rest))
    if not list(memory.folder.glob("*.md")):
        return "there are no notes yet; the model writes them when it learns what should last"
    how = f"/memory NAME shows a note; the files are in {memory.folder}"
    return f"{memory.memory_find('')}\n{how}"


def _goal(agent: Agent, rest: str) -> Answer:
    from learnkit.mechanisms.goal import Goal
    from learnkit.terminal.steering import UserGoal

    slot = _of(agent, UserGoal)
    if not rest:
        goal = slot.goal
        how = "/goal all tests pass -- pytest -q sets one with a check; /goal off takes it away"
        if goal is None:
            return f"there is no goal; {how}"
        check = goal.check or "a second request judges, which costs as much as a turn"
        return f"goal: {goal.goal}\ncheck: {check}\nlast check: {goal.verdict or 'none yet'}\n{how}"
    if rest == "off":
        slot.goal = None
        return "there is no goal any more"
    sentence, _, check = rest.partition(" -- ")
    slot.goal = Goal(sentence, check.strip() or None, workspace=_root(agent))
    return Prompt(sentence)


def _root(agent: Agent) -> Path:
    from learnkit.mechanisms.coding import CodingTools

    return _of(agent, CodingTools).workspace.root


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
    "Enter sends; Alt+Enter or Ctrl+J begins a new line; Tab completes a command or a file.",
    "While the model works, it reads what you send with its next results; Up takes it back.",
    "@ and some letters of a name send a file along. At a question, 'n because …' tells the model.",
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
    "init": Command("have the agent write AGENTS.md", lambda *_: Prompt(INIT), at_once=False),
    "rewind": Command("the prompts, or back to before one", _rewind, "[NUMBER]", at_once=False),
    "permissions": Command("the rules; another mode, or a rule more", _permissions, "[RULE]"),
    "clear": Command(
        "begin a new conversation; /resume finds this one", lambda *_: Opened(), at_once=False
    ),
    "resume": Command("the saved conversations, or one of them", _resume, "[ID]", at_once=False),
    "export": Command("write the conversation to a file, .md or .jsonl", _export, "[FILE]"),
    "goal": Command(
        "work until a goal is met, with a check", _goal, "[GOAL -- COMMAND]", at_once=False
    ),
    "memory": Command("the notes for later sessions, or one", _memory, "[NAME]"),
    "mcp": Command("the MCP servers, and their tools", _mcp),
    "quit": Command("leave", _help),
}

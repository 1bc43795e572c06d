"""Agents and commands in files: Markdown that a user or a project keeps, found by its name.

An agent's file is a kind of subagent with a system prompt of its own; a command's file is a prompt
to send with ``/name``. Both are texts: reading one runs nothing, and none allows anything. What
can't be used is left out with its reason, and never hides the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from learnkit.errors import LearnkitError, UsageError
from learnkit.events.text import clean, one_line
from learnkit.mechanisms.front_matter import read_inside, split, text_of, texts_of
from learnkit.runtime.user_folders import config_folder

#: Characters of a prompt, of a description, and how many files of a folder are looked at.
PROMPT, DESCRIPTION, FILES = 64_000, 300, 100
#: What other harnesses call the tools; what is not here goes by its own name.
TOOLS = {"Read": "read_file", "Write": "write_file", "Edit": "edit_file", "Bash": "bash"}


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A kind of subagent, as its file describes it.

    Attributes:
        name: of the kind.
        description: what it is for; the model reads it.
        prompt: its system prompt.
        tools: those that it may have; None for all of them.
        model: an id, or a word in one, such as ``haiku``; empty for its caller's.
        max_turns: how many times it may ask the model; None for the usual limit.
    """

    name: str
    description: str
    prompt: str = field(repr=False)
    tools: tuple[str, ...] | None = None
    model: str = ""
    max_turns: int | None = None


@dataclass(frozen=True, slots=True)
class CommandFile:
    """A prompt with a name.

    Attributes:
        name: what is typed after ``/``.
        description: for a list of commands.
        arguments: a hint at what may follow the name.
        body: the prompt; ``$ARGUMENTS`` stands for what follows the name, ``$1`` to ``$9`` for
            its words.
    """

    name: str
    description: str
    arguments: str
    body: str = field(repr=False)

    def prompt(self, arguments: str = "") -> str:
        """Return the prompt to send.

        Args:
            arguments: what the user has typed after the name.
        """
        words, said = arguments.split(), arguments.strip()

        def put(found: re.Match[str]) -> str:
            number = found[1]
            return said if number == "ARGUMENTS" else "".join(words[int(number) - 1 : int(number)])

        made, places = re.subn(r"\$(ARGUMENTS|[1-9])(?!\w)", put, self.body)
        return made if places or not said else f"{made}\n\n{said}"


class PromptFiles:
    """The agents and commands of a user and of a project.

    They are in the folders ``agents`` and ``commands`` of the user's own, ``learnkit`` in
    ``~/.config`` or ``XDG_CONFIG_HOME``, and of ``.agents`` and ``.claude`` in the workspace. Of
    two with one name, the first one found counts, in this order. No link may lead out of the
    workspace.

    Args:
        workspace: the project's folder.
        user: the user's own folder, if it is another one.

    Attributes:
        agents: name -> agent, for ``Subagents(agents=…)``.
        commands: name -> command.
        problems: a line for each file that was left out, and why.
    """

    def __init__(self, workspace: str | Path, user: str | Path | None = None) -> None:
        own, root = Path(user or config_folder()), Path(workspace)
        self.agents: dict[str, AgentFile] = {}
        self.commands: dict[str, CommandFile] = {}
        self.problems: list[str] = []
        # The user may keep theirs elsewhere, and link to it; a project may not.
        anywhere = Path(own.resolve().anchor)
        for place, inside in ((own, anywhere), (root / ".agents", root), (root / ".claude", root)):
            for file in _files(place / "agents"):
                with self._left_out(file):
                    agent = _agent(file.stem, read_inside(file, inside.resolve()))
                    self.agents.setdefault(agent.name, agent)
            for file in _files(place / "commands"):
                with self._left_out(file):
                    command = _command(file.stem, read_inside(file, inside.resolve()))
                    self.commands.setdefault(command.name, command)

    @contextmanager
    def _left_out(self, file: Path) -> Iterator[None]:
        try:
            yield
        except LearnkitError as error:
            self.problems.append(one_line(f"{'/'.join(file.parts[-3:])}: {error}", 200))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.md"))[:FILES]


def _agent(stem: str, source: str) -> AgentFile:
    fields, body = split(source)
    known = {name.casefold(): ours for name, ours in TOOLS.items()}
    given = texts_of(fields, "tools", ",")
    # A rule such as Bash(git diff:*) would allow something, and no file can.
    names = [one.partition("(")[0].strip() for one in given]
    turns, model = text_of(fields, "maxTurns"), text_of(fields, "model")
    if turns and not re.fullmatch("[1-9][0-9]{0,3}", turns):
        raise UsageError(f"maxTurns: {turns!r} must be a number from 1 up")
    return AgentFile(
        _name(text_of(fields, "name") or stem),
        _short(text_of(fields, "description", required=True)),
        _bounded(body),
        tuple(known.get(one.casefold(), one) for one in names) if "tools" in fields else None,
        "" if model == "inherit" else model,
        int(turns) if turns else None,
    )


def _command(stem: str, source: str) -> CommandFile:
    fields, body = split(source) if source.startswith("---") else ({}, source.strip())
    said = text_of(fields, "description") or body.partition("\n")[0]
    hint = _short(text_of(fields, "argument-hint"))
    return CommandFile(_name(stem), _short(said), hint, _bounded(body))


def _name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
        raise UsageError(f"{name!r} is no name; use 1 to 64 letters, digits, hyphens and _")
    return name


def _short(text: str) -> str:
    return one_line(text, DESCRIPTION)


def _bounded(text: str) -> str:
    if not text or len(text) > PROMPT:
        raise UsageError(f"the prompt has {len(text):,} characters; it must have 1 to {PROMPT:,}")
    return clean(text)

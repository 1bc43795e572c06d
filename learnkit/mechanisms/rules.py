"""Rules: what is allowed, asked about and denied, in patterns that a person can read.

``bash(pytest:*)`` stands for every command that begins with this word, ``write(docs/**)`` for
every file below a folder. Of a command line with several commands each one has to be allowed. A
line whose commands can't be known beforehand is never allowed by such a pattern: the user is asked.
"""

from __future__ import annotations

import glob
import os.path
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from learnkit.core.interface import AgentLike, Call
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.coding import CodingTools
from learnkit.runtime.command_split import Word, commands_of
from learnkit.runtime.workspace import NAME

Mode = Literal["default", "accept-edits", "plan", "yes"]
Kind = Literal["allow", "ask", "deny"]

MODES: tuple[Mode, ...] = ("default", "accept-edits", "plan", "yes")
#: The tool with which a model ends the mode ``plan``, if the user agrees.
PLAN_TOOL = "propose_plan"

_COMMANDS = ("bash", "background_run", "worktree_run")
_WRITES = ("write_file", "edit_file")
#: What a pattern may name beside the tools themselves.
_KINDS = {"bash": _COMMANDS, "read": ("read_file",), "write": _WRITES, "edit": _WRITES}
_PATTERN = re.compile(r"([\w*?\[\]-]+)(?:\((.+)\))?", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
#: They run the command that follows, and say nothing of it.
_WRAPPERS = ("command", "builtin", "exec", "nohup", "sudo", "env")
#: Their second word says what they do; and those that do whatever an argument says.
_TWO_WORDS = (
    *("git", "gh", "npm", "pnpm", "yarn", "pip", "uv", "conda", "poetry"),
    *("cargo", "go", "docker", "kubectl"),
)
_ANYTHING = (
    *("sh", "bash", "zsh", "fish", "eval", "source", ".", "xargs", "find", "ssh", "timeout"),
    *("perl", "ruby", "node", "awk", "sed", "make", "npx", "uvx", "watch", "nice", "parallel"),
    *("export", "declare", "alias", "hash", "trap", "enable", "set", "shopt"),
    # Other arguments do harm.
    *("rm", "mv", "dd", "chmod", "chown", "curl", "wget", "scp", "rsync"),
    *_WRAPPERS,
)
#: Second words with which a program of ``_TWO_WORDS`` runs another one.
_RUNS = ("run", "exec", "compose", "dlx", "x", "tool", "start", "script")
#: Programs that run what comes through a pipe.
_READS = ("sh", "bash", "zsh", "fish", "dash", "perl", "ruby", "node")


class Pattern:
    """Calls that a rule is about.

    Args:
        text: a tool or a kind of tools, ``bash``, ``read`` or ``write``; a pattern of names such
            as ``task_*``; or one with what the calls are about: ``bash(pytest:*)`` for commands
            that begin with these words, ``bash(git status)`` for one command, ``write(docs/**)``
            for files of the workspace, ``mcp(weather:*)`` for the tools of a server.

    Raises:
        UsageError: for a text that is no pattern.
    """

    def __init__(self, text: str) -> None:
        found = _PATTERN.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise UsageError(f"{text!r} is no pattern; write one such as bash(pytest:*)")
        self.text, (tool, about) = text.strip(), found.groups()
        kind = tool.lower()
        self._names: Sequence[str] = _KINDS.get(kind, (tool,))
        self._words: tuple[Word, ...] = ()
        self._path: tuple[str, ...] = ()
        self._whole, self._about = False, about is not None
        if kind == "mcp":
            server, _, name = (about or "*").partition(":")
            self._names, self._about = (f"mcp__{server}__{name or '*'}",), False
        elif about is not None and kind not in _KINDS:
            raise UsageError(f"{text!r}: only bash, read, write and mcp take something in (…)")
        elif about is not None and self._names is _COMMANDS:
            self._whole = not about.endswith(":*")
            commands = commands_of(about.removesuffix(":*")) or []
            words = tuple(commands[0]) if len(commands) == 1 else (None,)
            if all(word is None or _ASSIGNMENT.match(word) for word in words) or None in words:
                raise UsageError(f"{text!r}: give the words of one command, without signs of bash")
            self._words = words
        elif about is not None:
            path = about.removeprefix(f"{NAME}/").removeprefix("./")
            self._path = tuple(_folded(path).split("/"))

    def named(self, tool: str) -> bool:
        """Whether it is about a tool of this name, and perhaps about some of its calls only."""
        return any(fnmatchcase(tool, name) for name in self._names)

    def covers(self, target: Target) -> bool:
        """Whether it is about a call, or a part of it."""
        if not self.named(target.tool):
            return False
        if not self._about:
            return True
        if self._words:
            words = target.words
            length = max(len(self._words), len(words) if self._whole else 0)
            return words[:length] == self._words
        return bool(target.path) and _leads(self._path, tuple(map(_folded, target.path)))


class Target(NamedTuple):
    """What one rule is compared with: a call, one command of it, or one name of its file."""

    tool: str
    words: tuple[Word, ...] = ()
    path: tuple[str, ...] = ()


class Rules:
    """Decides by patterns; a policy for :class:`learnkit.Permission`.

    ``deny`` goes before ``ask``, and ``ask`` before ``allow``. What no pattern covers is up to the
    mode: ``default`` asks about each call that could change something, ``accept-edits`` allows the
    file tools as well, ``yes`` allows everything. In ``plan`` nothing may change until the user has
    approved a plan; commands are asked about.

    Args:
        allow, ask, deny: patterns, as for :class:`Pattern`.
        mode: for what no pattern covers.

    Attributes:
        allow, ask, deny: the patterns; add to them with :meth:`add`.
        mode: may be changed at any time.

    Raises:
        UsageError: for a pattern or a mode that there is not.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        ask: Iterable[str] = (),
        deny: Iterable[str] = (),
        mode: Mode = "default",
    ) -> None:
        if mode not in MODES:
            raise UsageError(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self.mode: Mode = mode
        self.allow, self.ask, self.deny = (
            [Pattern(one) for one in _listed(given)] for given in (allow, ask, deny)
        )

    def add(self, kind: Kind, *patterns: str) -> None:
        """Add patterns.

        Args:
            kind: ``allow``, ``ask`` or ``deny``.
            patterns: as for :class:`Pattern`.
        """
        getattr(self, kind).extend([Pattern(one) for one in patterns])

    def decide(self, agent: AgentLike, call: Call) -> tuple[Kind, str]:
        """Return the decision on a call, and the pattern or the mode that made it.

        Args:
            agent: who makes the call.
            call: what it wants to run.
        """
        if call.name == PLAN_TOOL:
            return "ask" if self.mode == "plan" else "allow", "a plan ends the plan mode"
        parts, near = targets_of(agent, call)
        if found := _first(self.deny, near):
            return "deny", f"the rule {found} denies it"
        tool = agent.tools.get(call.name)
        harmless = tool is not None and (tool.read_only or tool.internal)
        if harmless and not parts:
            parts = [Target(call.name)]
        asked = _first(self.ask, near)
        if not asked and not parts and any(one.named(call.name) for one in (*self.deny, *self.ask)):
            asked = "about such calls"  # which of its commands they cover can't be known
        if self.mode == "plan" and not harmless:
            if call.name in _COMMANDS:
                return "ask", "in plan mode, commands are asked about"
            return "deny", "plan mode: nothing may change before the user has approved a plan"
        if asked:
            return "ask", f"the rule {asked}"
        covering = [_first(self.allow, [part]) for part in parts]
        if whole := _first(self.allow, [Target(call.name)]):
            return "allow", whole
        if covering and all(covering):
            return "allow", ", ".join(dict.fromkeys(filter(None, covering)))
        edits = self.mode == "accept-edits" and call.name in _WRITES
        if harmless or edits or self.mode == "yes":
            return "allow", f"mode {self.mode}"
        if call.name in _COMMANDS and not parts:
            return "ask", "which commands it runs can't be known beforehand"
        return "ask", "no rule allows it"

    def suggested(self, agent: AgentLike, call: Call) -> list[str]:
        """Return the patterns that would allow a call from now on; none if no pattern can.

        Args:
            agent: who makes the call.
            call: the call that is asked about.
        """
        parts, _ = targets_of(agent, call)
        made = [_pattern_for(part) for part in parts if not _first(self.allow, [part])]
        return list(dict.fromkeys(filter(None, made))) if all(made) else []


def _listed(given: Any) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"{given!r} must be a list of patterns, such as ['bash(pytest:*)']")
    return list(given)


def _first(patterns: Iterable[Pattern], targets: Sequence[Target]) -> str:
    """The first pattern that covers one of the targets; empty if none does."""
    return next((p.text for p in patterns for one in targets if p.covers(one)), "")


def targets_of(agent: AgentLike, call: Call) -> tuple[list[Target], list[Target]]:
    """What an ``allow`` must cover, each of it; and what is enough to be denied or asked about.

    The first is empty where it can't be known.
    """
    bare = Target(call.name)
    if call.name in _COMMANDS:
        line = str(call.input.get("command", ""))
        commands, own = commands_of(line), CodingTools.of(agent)
        if own is not None and len(commands_of(own.workspace.unmasked(line)) or ()) != len(
            commands or ()
        ):
            commands = None  # the folder's name has signs of bash in it, and is put in its place
        parts = [Target(call.name, tuple(words)) for words in commands or []]
        plain = [Target(call.name, words) for words in map(_plain, commands or []) if words]
        return parts, [*parts, *plain, bare] if parts else [bare]
    if call.name in ("read_file", *_WRITES):
        names = _names(agent, str(call.input.get("path")))  # 5 is taken for "5"
        parts = [Target(call.name, path=names[0])] if names else []
        return parts, [*(Target(call.name, path=one) for one in names), bare]
    return [bare], [bare]


def _plain(words: Sequence[Word]) -> tuple[Word, ...]:
    """A command without what may be put before its name."""
    while words and words[0] and (_ASSIGNMENT.match(words[0]) or words[0] in _WRAPPERS):
        words = words[1:]
    return (Path(words[0]).name, *words[1:]) if words and words[0] else ()


def _names(agent: AgentLike, path: str) -> list[tuple[str, ...]]:
    """The names of a file in the workspace: where it is, links resolved, and as it was written."""
    own = CodingTools.of(agent)
    if own is None:
        return []
    root = own.workspace.root
    try:
        place = own.workspace.locate(path)
    except ToolError:
        return []  # the tool itself will say what is wrong with it
    inside = path.removeprefix(NAME).lstrip("/") if path.startswith(f"{NAME}/") else path
    written = Path(os.path.normpath(root / inside))
    named = [one.relative_to(root).parts for one in (place, written) if one.is_relative_to(root)]
    return list(dict.fromkeys(named))


def _folded(name: str) -> str:
    """A path as file systems compare it that fold names: otherwise two names are one file."""
    return unicodedata.normalize("NFC", name).casefold()


@lru_cache(maxsize=4096)  # so that patterns with many ** take no longer than others
def _leads(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether a path is as a pattern says; ``**`` is any number of folders."""
    if not pattern or not path:
        return pattern in ((), ("**",)) and not path
    if pattern[0] == "**":
        return _leads(pattern[1:], path) or _leads(pattern, path[1:])
    return fnmatchcase(path[0], pattern[0]) and _leads(pattern[1:], path[1:])


def _pattern_for(part: Target) -> str:
    """A pattern for calls like this one; empty if there is none."""
    if part.tool in _COMMANDS:
        first, known = part.words[0] or "", [one for one in part.words if one is not None]
        name = Path(first).name
        number = 2 if name in _TWO_WORDS else 1
        if name in ("xargs", "parallel") or (
            len(part.words) == 1 and (name in _READS or name.startswith("python"))
        ):
            return ""  # another input is another command
        unsaid = number == 2 and part.words[1:2] and part.words[1] in _RUNS
        unsaid = unsaid or any((word or "-").startswith("-") for word in part.words[1:number])
        if name in _ANYTHING or name.startswith("python") or unsaid or _ASSIGNMENT.match(first):
            return "" if len(known) < len(part.words) else f"bash({shlex.join(known)})"
        return f"bash({shlex.join(known[:number])}:*)"
    if part.path:
        kind = "write" if part.tool in _WRITES else "read"
        *folders, name = map(glob.escape, part.path)
        return f"{kind}({'/'.join([*folders, '**' if folders else name])})"
    return "" if part.tool == PLAN_TOOL else part.tool

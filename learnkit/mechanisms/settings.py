"""Settings: what a user and a project have written down in TOML: rules, hooks and MCP servers.

The user's own file counts as it is. A project's file may come with a repository, so it allows and
runs nothing before the user has seen and accepted this very text; until then only what it forbids
holds. The answer is kept by hash, outside of the workspace, so each version is asked about once.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NotRequired, get_args

from typing_extensions import TypedDict

from learnkit.backends.files.store import Document, mismatches
from learnkit.core.interface import AgentLike, Call
from learnkit.errors import UsageError
from learnkit.mechanisms.rules import MODES, Mode, Pattern, Rules, targets_of
from learnkit.runtime.user_folders import config_folder, state_folder
from learnkit.runtime.workspace import STATE

#: Asks the user about a project's file, given its path and its text.
Consent = Callable[[Path, str], bool]

NAME = "settings.toml"
#: When a user's command may run.
Moment = Literal["prompt", "before_tool", "after_tool", "stop"]

_LIMIT = 64_000  # bytes of a file, and more than anybody writes or reads


class _Permissions(TypedDict, total=False):
    allow: list[str]
    ask: list[str]
    deny: list[str]
    mode: Mode


class _Hook(TypedDict):
    command: str
    match: NotRequired[str]
    timeout: NotRequired[float]


class _File(TypedDict, total=False):
    permissions: _Permissions
    hooks: dict[Moment, list[_Hook]]
    mcp: dict[str, str | list[str]]


for _table in (_Permissions, _Hook, _File):  # a key with a slip in it must not be passed over
    _table.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[union-attr]

#: How what may be in a file is written.
_WRITTEN = {
    **{kind: f'{kind} = ["bash(pytest:*)"]' for kind in ("allow", "ask", "deny")},
    "mode": f"mode = {' or '.join(map(repr, MODES))}",
    **{moment: f"[[hooks.{moment}]]" for moment in get_args(Moment)},
    **{"command": 'command = "ruff check"', "match": 'match = "bash(git commit:*)"'},
    **{"timeout": "timeout = 20.0", "mcp": '[mcp] and weather = ["python", "weather.py"]'},
    **{"permissions": "[permissions]", "hooks": "[[hooks.before_tool]]"},
}


@dataclass(frozen=True, slots=True)
class Hook:
    """A command of the user's, and when it runs.

    Attributes:
        moment: ``prompt``, ``before_tool``, ``after_tool`` or ``stop``.
        command: for bash.
        match: the calls that it is about, as for :class:`learnkit.Rules`; None for all of them.
        timeout: seconds that it may take.
    """

    moment: Moment
    command: str
    match: Pattern | None = None
    timeout: float = 30.0

    def about(self, agent: AgentLike, call: Call) -> bool:
        """Whether it is to run for a call: for one command of a line, or if that can't be known.

        Args:
            agent: who makes the call.
            call: the call.
        """
        if self.match is None:
            return True
        parts, near = targets_of(agent, call)
        unknown = not parts and self.match.named(call.name)
        return unknown or any(map(self.match.covers, near))


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds in a workspace.

    Attributes:
        allow, ask, deny: patterns, as for :class:`learnkit.Rules`.
        mode: for what no pattern covers.
        hooks: the user's commands, for :class:`learnkit.UserHooks`.
        servers: MCP servers by name, for :class:`learnkit.Mcp`.
        declined: a project's file that was not accepted; of it, only ``ask`` and ``deny`` hold.
        notes: sentences for the user about what does not count.
    """

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mode: Mode = "default"
    hooks: tuple[Hook, ...] = ()
    servers: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    declined: Path | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def load(
        cls,
        workspace: str | Path,
        consent: Consent | None = None,
        *,
        user: str | Path | None = None,
        answers: str | Path | None = None,
    ) -> Settings:
        """Read the user's settings, and those of a project.

        Args:
            workspace: the project's folder; its file is ``.learnkit/settings.toml``.
            consent: asks the user about a project's file: given its path and its text, it returns
                whether it may count. It is asked once for each version of the file. Without it, a
                file that was not accepted before is declined.
            user: the user's file; by default ``learnkit/settings.toml`` in ``~/.config``, or
                ``XDG_CONFIG_HOME``.
            answers: where the user's answers are kept; by default in ``~/.local/state``, or
                ``XDG_STATE_HOME``.

        Raises:
            UsageError: for a file that can't be read, or says what there is not.
        """
        own, record = Path(user or config_folder() / NAME), _answers(answers)
        place = _place(workspace)
        text, mine = _read(place), cls._parsed(_read(own), own)
        allow, notes = mine.allow, []
        try:
            allow += tuple(record.read({}).get(str(place), {}).get("allow", ()))
        except UsageError as error:
            notes.append(str(error))
        if not text.strip():
            return replace(mine, allow=allow, notes=tuple(notes))
        theirs = cls._parsed(text, place)
        accepted = _accepted(place, text, consent, record)
        mode = theirs.mode if accepted else "default"
        if theirs.mode == "yes":  # whatever the user has accepted
            mode = "default"
            notes.append(f"{place}: mode 'yes' does not count here: choose it with --yes")
        if not accepted:
            notes.append(f"{place} was not accepted: only what it denies or asks about holds")
        return cls(
            allow + (theirs.allow if accepted else ()),
            mine.ask + theirs.ask,
            mine.deny + theirs.deny,
            mode if mine.mode == "default" else mine.mode,
            mine.hooks + (theirs.hooks if accepted else ()),
            {**(theirs.servers if accepted else {}), **mine.servers},
            None if accepted else place,
            tuple(notes),
        )

    @staticmethod
    def keep(
        workspace: str | Path, patterns: Iterable[str], *, answers: str | Path | None = None
    ) -> None:
        """Allow calls in a project from now on: in the user's own record, not in the project.

        Args:
            workspace: the project's folder.
            patterns: as for :class:`learnkit.Rules`; none takes back all that were kept.
            answers: as for :meth:`load`.
        """
        record, place = _answers(answers), str(_place(workspace))
        more = [Pattern(one).text for one in patterns]
        record.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with record.change({}) as known:
            about = known.setdefault(place, {})
            about["allow"] = list(dict.fromkeys([*about.get("allow", []), *more])) if more else []

    def rules(self, mode: Mode | None = None) -> Rules:
        """Return them as rules, for :class:`learnkit.Permission`.

        Args:
            mode: another one than the settings'.
        """
        return Rules(self.allow, self.ask, self.deny, mode or self.mode)

    @classmethod
    def _parsed(cls, text: str, place: Path) -> Settings:
        try:
            data: Any = tomllib.loads(text)
            for problem in mismatches(data, _File):
                raise UsageError(_sentence(problem, text))
            given, hooks = data.get("permissions", {}), data.get("hooks", {})
            made = cls(
                tuple(given.get("allow", ())),
                tuple(given.get("ask", ())),
                tuple(given.get("deny", ())),
                given.get("mode", "default"),
                tuple(_hook(moment, one) for moment, some in hooks.items() for one in some),
                data.get("mcp", {}),
            )
            made.rules()  # its patterns are looked at now
        except (UsageError, ValueError, RecursionError) as error:
            raise UsageError(f"{place}: {error}") from None
        return made


def _sentence(problem: Mapping[str, Any], text: str) -> str:
    """What is wrong in a file: in which line, and what to write instead."""
    loc = problem["loc"][: 2 if problem["loc"][0] == "mcp" else None]
    *_, key = [one for one in loc if isinstance(one, str) and one != "[key]"]
    lines = enumerate((line.partition("#")[0] for line in text.splitlines()), 1)
    named = rf"(?<![\w-]){re.escape(key)}(?![\w-])"
    line = next((number for number, line in lines if re.search(named, line)), 0)
    where = f"line {line}: " if line else ""
    if problem["type"] == "missing":
        return f"{'.'.join(map(str, problem['loc'][:-1]))} needs {_WRITTEN.get(key, key)}"
    if problem["type"] == "extra_forbidden" or problem["loc"][-1:] == ("[key]",):
        near = difflib.get_close_matches(key, _WRITTEN, 1) or _WRITTEN
        return f"{where}there is no {key!r} here; write {', '.join(_WRITTEN[one] for one in near)}"
    return f"{where}{key}: {problem['msg']}; write {_WRITTEN.get(key, _WRITTEN['mcp'])}"


def _hook(moment: Moment, given: _Hook) -> Hook:
    limit = given.get("timeout", 30.0)
    if not given["command"].strip() or not limit > 0:
        raise UsageError(f"hooks.{moment}: needs a command, and a time limit above 0 seconds")
    match = Pattern(given["match"]) if "match" in given else None
    return Hook(moment, given["command"], match, limit)


def _read(place: Path) -> str:
    """The text of a file; empty if there is none."""
    try:
        if not place.exists():
            return ""
        if not place.is_file() or place.stat().st_size > _LIMIT:  # a pipe would wait for ever
            raise UsageError(f"{place} must be a file of at most {_LIMIT:,} bytes")
        return place.read_bytes()[:_LIMIT].decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{place} can't be read: {error}") from None


def _place(workspace: str | Path) -> Path:
    """The project's file, by which the user's answers about the project are kept as well."""
    return Path(workspace).resolve() / STATE / NAME


def _answers(given: str | Path | None) -> Document:
    """The user's answers."""
    return Document(Path(given or state_folder() / "answers.json"), dict[str, dict[str, Any]])


def _accepted(place: Path, text: str, consent: Consent | None, answers: Document) -> bool:
    """Whether the user has accepted this text, now or before."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    before = answers.read({}).get(str(place), {})
    if before.get("sha256") == digest and isinstance(before.get("accepted"), bool):
        return bool(before["accepted"])
    if consent is None:
        return False
    accepted = consent(place, text) is True
    answers.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with answers.change({}) as known:
        known.setdefault(str(place), {}).update(sha256=digest, accepted=accepted)
    return accepted

"""Settings: what a user and a project have written down in TOML: permission rules and hooks.

The user's own file counts as it is. A project's file may come with a repository, so it allows and
runs nothing before the user has seen and accepted this very text; until then only what it forbids
holds. The answer is kept by hash, outside of the workspace, so each version is asked about once.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from learnkit.backends.files.store import Document, mismatch
from learnkit.core.interface import AgentLike, Call
from learnkit.errors import UsageError
from learnkit.mechanisms.rules import Mode, Pattern, Rules, targets_of
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


for _table in (_Permissions, _Hook, _File):  # a key with a slip in it must not be passed over
    _table.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[union-attr]


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
        declined: a project's file that was not accepted; of it, only ``ask`` and ``deny`` hold.
    """

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mode: Mode = "default"
    hooks: tuple[Hook, ...] = ()
    declined: Path | None = None

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
        own = Path(user or config_folder() / NAME)
        place = Path(workspace).resolve() / STATE / NAME
        text, mine = _read(place), cls._parsed(_read(own), own)
        if not text.strip():
            return mine
        theirs = cls._parsed(text, place)
        if theirs.mode == "yes":
            raise UsageError(f"{place}: the mode 'yes' is for the user's own file, or --yes")
        accepted = _accepted(place, text, consent, Path(answers or state_folder() / "answers.json"))
        return cls(
            mine.allow + (theirs.allow if accepted else ()),
            mine.ask + theirs.ask,
            mine.deny + theirs.deny,
            theirs.mode if accepted and mine.mode == "default" else mine.mode,
            mine.hooks + (theirs.hooks if accepted else ()),
            None if accepted else place,
        )

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
            if problem := mismatch(data, _File):
                raise UsageError(problem)
            given, hooks = data.get("permissions", {}), data.get("hooks", {})
            made = cls(
                tuple(given.get("allow", ())),
                tuple(given.get("ask", ())),
                tuple(given.get("deny", ())),
                given.get("mode", "default"),
                tuple(_hook(moment, one) for moment, some in hooks.items() for one in some),
            )
            made.rules()  # its patterns are looked at now
        except (UsageError, ValueError, RecursionError) as error:
            raise UsageError(f"{place}: {error}") from None
        return made


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


def _accepted(place: Path, text: str, consent: Consent | None, answers: Path) -> bool:
    """Whether the user has accepted this text, now or before."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    kept = Document(answers, dict[str, dict[str, Any]])
    known: dict[str, dict[str, Any]] = kept.read({})
    before = known.get(str(place), {})
    if before.get("sha256") == digest and isinstance(before.get("accepted"), bool):
        return bool(before["accepted"])
    if consent is None:
        return False
    accepted = consent(place, text) is True
    answers.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with kept.change({}) as all_answers:
        all_answers[str(place)] = {"sha256": digest, "accepted": accepted}
    return accepted

"""What leaves a session before it is shared: always secrets and names, and all text by default.

The whole log is rewritten, and the page is drawn from what is left, so that nothing can be shown
that wasn't looked at. Without its text, a session keeps its shape: which tools ran, how long each
message is, when things happened; files have numbers, and commands have only their length.
"""

from __future__ import annotations

import getpass
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from learnkit.events.log import EventLog
from learnkit.events.text import count, listed
from learnkit.runtime.secret_scan import mask_secrets
from learnkit.sessions.findings import Finding
from learnkit.sessions.turns import PATHS

#: Stands for one character of a text that was removed; a page says how many there are.
HIDDEN = "\ue000"
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\{1,4}Users\\{1,4})([^/\\\s\"'<>:;,]+)")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
#: Details that say what something is; and those that are the name of a thing in the session.
_KINDS = frozenset(
    ("type", "role", "model", "stop_reason", "reason", "purpose", "how", "format", "by", "status")
)
#: Details whose keys may be anything; and arguments of tools that say what a call is.
_FREE = frozenset(("data", "unknown", "lines", "left_out"))
_ARGUMENTS = frozenset(
    (
        "command",
        "content",
        "old_string",
        "new_string",
        "offset",
        "limit",
        "prompt",
        "pattern",
        "todos",
    )
)
_IDS = frozenset(("id", "tool_use_id", "call"))
_WORD = re.compile(r"[\w.:-]{1,60}")


class Redaction:
    """Rewrites logs, and counts what it takes out.

    Args:
        keep_text: leave texts, without secrets, the home folder, user names and e-mail addresses.
    """

    def __init__(self, *, keep_text: bool = False) -> None:
        self.keep_text = keep_text
        self.removed: Counter[str] = Counter()
        self._names: dict[tuple[str, str], str] = {}
        self._people = {getpass.getuser()} - {"root"}

    def log(self, log: EventLog) -> EventLog:
        """Rewrite a log: the same events, without what has to go."""
        for event in log:
            self._people.update(_HOME.findall(str(event.data)))
        new = EventLog()
        for event in log:
            data = self._value(event.data, event.type)
            new.append(event.type, lane=self._lane(event.lane), time=event.time, **data)
        return new

    def finding(self, one: Finding) -> Finding:
        """Rewrite a finding, whose sentence may have words of the session."""
        sentence = self._scrubbed(one.sentence)
        for quote in () if self.keep_text else one.quotes:
            name = "a file" if PurePath(quote).suffix and " " not in quote else "a command"
            sentence = sentence.replace(quote, "“…”" if quote[:1] == "“" else name)
        turns = tuple((self._lane(lane), number) for lane, number in one.turns)
        return replace(one, sentence=sentence[:1].upper() + sentence[1:], turns=turns, quotes=())

    def sentences(self) -> Iterator[str]:
        """Say what was removed."""
        found = listed([count(number, what) for what, number in sorted((+self.removed).items())])
        lengths = "; of each text its length is left" * bool(self.removed["text"])
        yield f"Removed before saving: {found or 'nothing, for nothing had to go'}{lengths}."
        if self.keep_text:
            yield "Texts were kept: look through the page before you pass it on."

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, list):
            return [self._value(one, key) for one in value]
        if not isinstance(value, dict):
            return value
        if self.keep_text:
            return {self._scrubbed(name): self._value(one, name) for name, one in value.items()}
        if key == "input":
            return dict(self._argument(name, one) for name, one in value.items())
        if key in _FREE:
            return {}
        return {name: self._value(one, name) for name, one in value.items()}

    def _argument(self, name: str, value: Any) -> tuple[str, str]:
        if name in PATHS and isinstance(value, str):
            suffix = re.search(r"\.[a-z0-9]{1,4}$", value)
            return name, self._named("file", value) + (suffix[0] if suffix else "")
        name = name if name in _ARGUMENTS else self._named("argument", name)
        return name, HIDDEN * len(str(value))

    def _text(self, text: str, key: str) -> str:
        if self.keep_text:
            return self._scrubbed(text)
        if key in _IDS:
            return self._named("id", text)
        if key == "parent":
            return self._lane(text)
        if key == "name":
            return self._named("mcp tool", text) if text.startswith("mcp__") else text[:60]
        if key in ("title", "cwd", "path", "branch"):
            return ""
        if key in _KINDS and _WORD.fullmatch(text):
            return text
        self.removed["text"] += bool(text)
        return HIDDEN * len(text)

    def _named(self, kind: str, text: str) -> str:
        """A number for a name: the same one each time."""
        return self._names.setdefault((kind, text), f"{kind}-{len(self._names) + 1}")

    def _lane(self, lane: str) -> str:
        first, *rest = lane.split(".")
        if self.keep_text:
            return self._scrubbed(lane)
        return ".".join(
            [first if first == "lead" else "agent", *(self._named("id", one) for one in rest)]
        )

    def _scrubbed(self, text: str) -> str:
        """A text without secrets and names, which are counted."""
        text, secrets = mask_secrets(text)
        text, homes = _HOME.subn("~", text)
        text = text.replace(str(Path.home()), "~")
        text, mails = _EMAIL.subn("[e-mail]", text)
        for name in self._people:
            if len(name) > 2:
                text, names = re.subn(
                    rf"(?i)(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", "user", text
                )
                self.removed["user name"] += names
        self.removed["secret"] += secrets
        self.removed["home folder"] += homes
        self.removed["e-mail"] += mails
        return text

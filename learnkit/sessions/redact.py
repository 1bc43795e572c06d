"""What leaves a session before it is shared: always secrets and names, and all text by default.

The whole log is rewritten, and the page is drawn from what is left, so that nothing can be shown
that wasn't looked at. Without its text, a session keeps its shape: which tools ran, how long each
message is, when things happened; files have numbers, and commands have only their length.
"""

from __future__ import annotations

import getpass
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from learnkit.events.declaration import details_of
from learnkit.events.log import EventLog
from learnkit.events.text import count, listed
from learnkit.events.vocabulary import declarations
from learnkit.runtime.secret_scan import mask_secrets
from learnkit.sessions.findings import Finding
from learnkit.sessions.turns import PATHS

#: Stands for one character of a text that was removed; a page says how many there are.
HIDDEN = "\ue000"
_HOME = r"(?:/home/|/Users/|[A-Za-z]:\\{1,4}Users\\{1,4})([^/\\\s\"'<>:;,]+)"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Types of events that a page without text is drawn from; the others are left out of it.
_DRAWN = ("session.opened", "run.", "message", "model.", "tool.", "subagent.", "compaction.")
#: What becomes of a text without its words, by the name of its detail: it stays if it is one word,
#: as it says what something is; it is a number of a kind, the same one each time; it is empty. Any
#: other one is as long as it was.
_STAY = _words("role type model stop_reason reason purpose how format by status name")
_NUMBERED = {"id": "id", "tool_use_id": "id", "call": "id", "description": "subagent"}
_EMPTY = _words("title cwd path branch")
_WORD = re.compile(r"[\w.:-]{1,60}")
#: Names of details that may stay: those of events, of their parts, and of the blocks of a message.
_KNOWN = _words("role type text thinking signature data tool_use_id is_error source media_type")
_KNOWN |= {part.key for one in declarations() for part in details_of(one.cls)}
_FREE = _words("unknown lines left_out")  # whose keys may be anything
_BLOCKS = _words("text thinking redacted_thinking tool_use tool_result image document")
#: Names of home folders that are no person's.
_NOBODY = _words("root user users node app ubuntu runner admin vscode shared public")


class Redaction:
    """Rewrites logs, and counts what it takes out.

    Args:
        keep_text: leave texts, without secrets, the home folder, user names and e-mail addresses.
    """

    def __init__(self, *, keep_text: bool = False) -> None:
        self.keep_text = keep_text
        self.removed: Counter[str] = Counter()
        self._names: dict[tuple[str, str], str] = {}
        self._people = {getpass.getuser()}

    def log(self, log: EventLog) -> EventLog:
        """Rewrite a log: the same events, without what has to go."""
        for event in log:
            self._people.update(re.findall(_HOME, str(event.data)))
        self._people = {name for name in self._people if len(name) > 2} - _NOBODY
        new = EventLog()
        for event in log:
            if self.keep_text or event.type.startswith(_DRAWN):
                data = self._value(event.data, event.type)
                new.append(event.type, lane=self._lane(event.lane), time=event.time, **data)
        return new

    def finding(self, one: Finding) -> Finding:
        """Rewrite a finding, whose sentence may have words of the session."""
        sentence = one.sentence
        # The longest first, and before names are gone: one quote may be in another.
        for quote in sorted(() if self.keep_text else filter(None, one.quotes), key=len)[::-1]:
            name = "a file" if PurePath(quote).suffix and " " not in quote else "a command"
            sentence = sentence.replace(quote, "“…”" if quote[:1] == "“" else name)
        for (kind, name), number in self._names.items():
            sentence = sentence.replace(name, number) if kind == "mcp tool" else sentence
        sentence = self._scrubbed(sentence)
        turns = tuple((self._lane(lane), number) for lane, number in one.turns)
        return replace(one, sentence=sentence[:1].upper() + sentence[1:], turns=turns, quotes=())

    def sentences(self) -> Iterator[str]:
        """Say what was removed."""
        found = listed([count(number, what) for what, number in sorted((+self.removed).items())])
        lengths = "; of each text its length is left" * bool(self.removed["text"])
        yield f"Removed before saving: {found or 'nothing that had to go was found'}{lengths}."
        if self.keep_text:
            yield "Texts were kept: look through the page before you pass it on."

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self._scrubbed(value) if self.keep_text else self._text(value, key)
        if isinstance(value, list):
            return [self._value(one, key) for one in value]
        if not isinstance(value, dict):
            return value
        if self.keep_text:
            return {self._scrubbed(name): self._value(one, name) for name, one in value.items()}
        if key == "input":
            return self._arguments(value)
        known = (name for name in value if name in _KNOWN or name.endswith("_tokens"))
        return {name: self._value(value[name], name) for name in known if key not in _FREE}

    def _arguments(self, given: dict[str, Any]) -> dict[str, str]:
        """The file, if there is one, as a number; the rest as long as it was."""
        files = [name for name in PATHS if isinstance(given.get(name), str)]
        rest = {name: one for name, one in given.items() if name not in files}
        found = {"command": self._hidden(str(rest))} if rest else {}
        for name in files:
            suffix = re.search(r"\.[a-z0-9]{1,4}$", given[name])
            found[name] = self._named("file", given[name]) + (suffix[0] if suffix else "")
        return found

    def _text(self, text: str, key: str) -> str:
        if key in _NUMBERED and text:
            return self._named(_NUMBERED[key], text)
        if key == "name" and text.startswith("mcp__"):
            return self._named("mcp tool", text)
        if key == "parent":
            return self._lane(text)
        if key == "type" and text not in _BLOCKS:
            return "other"
        if key in _EMPTY or (key in _STAY and _WORD.fullmatch(text)):
            return text * (key not in _EMPTY)
        self.removed["text"] += bool(text)
        return self._hidden(text)

    @staticmethod
    def _hidden(text: str) -> str:
        """As long as the text is in a request, so that every size stays as it was."""
        return HIDDEN * (len(json.dumps(text, ensure_ascii=False)) - 2)

    def _named(self, kind: str, text: str) -> str:
        """A number for a name: the same one each time."""
        return self._names.setdefault((kind, text), f"{kind}-{len(self._names) + 1}")

    def _lane(self, lane: str) -> str:
        if self.keep_text:
            return self._scrubbed(lane)
        first, *calls = lane.split(".")
        first = first if first == "lead" else self._named("agent", first)
        return ".".join([first, *(self._named("id", call) for call in calls)])

    def _scrubbed(self, text: str) -> str:
        """A text without secrets and names, which are counted."""
        text, secrets = mask_secrets(text)
        self.removed["secret"] += secrets
        home = re.escape(str(Path.home()))
        words = [("home folder", f"{_HOME}|{home}", "~"), ("e-mail", _EMAIL, "[e-mail]")]
        people = (rf"(?i)(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])" for name in self._people)
        for what, pattern, put in [*words, *(("user name", name, "user") for name in people)]:
            text, number = re.subn(pattern, put, text)
            self.removed[what] += number
        return text

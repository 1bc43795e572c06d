"""Recordings: what the model said in a lesson, as YAML that reads well in a diff.

Each system prompt and tool list is stored once, by hash, and each turn holds only the messages that
are new since the turn it follows. Nothing is saved that looks like a secret.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from learnkit.clients.recordings.holes import check_command, check_holes, check_match, fill
from learnkit.clients.request_hash import Prefix
from learnkit.clients.scripted import Failure, Reply
from learnkit.core.content import Block, sendable
from learnkit.errors import UsageError
from learnkit.runtime import atomic_write as files
from learnkit.runtime.secret_scan import refuse_secrets
from learnkit.runtime.stored_json import MAX_DEPTH

Body = dict[str, Any]

#: Version of the files that are written. A file without one has version 1.
VERSION = 1

#: Keys of a request that are stored once, in ``shared``.
_SHARED = ("system", "tools")

#: Keys of a request whose value is in ``meta``, unless a turn has its own.
DEFAULTS = ("model", "max_tokens")

#: What ``meta`` says of runs that a model has made: when, of which prompt, how its text became
#: calls, and what in the file is not the model's.
MADE = ("date", "prompt", "calls", "note")


@dataclass(slots=True)
class Turn:
    """One request and its answer.

    Attributes:
        after: id of the turn whose messages and reply precede ``said``; None at the start.
        params: what else the request held; ``system`` and ``tools`` as keys into ``shared``.
        said: the messages that are new.
        edits: earlier messages that were changed since, by index.
        answer: the reply, or the API's error.
        instead: of an invited edit, id of the turn whose message is edited.
        match: the holes of the last message, and the pattern that a value must fit.
        leaves: the files that the edited run changes, and what is in them; None for anything.
        digest: of a model's own run, the hash of the request that was sent.
        invited: whether it is asked only after an invited edit, or by another agent then.
        has_holes: whether it, or a turn before it, has a ``match``.
    """

    id: str
    scenario: str
    lane: str
    after: str | None
    params: Body
    said: list[Body]
    edits: dict[int, Body]
    answer: Reply | Failure
    instead: str | None = None
    match: dict[str, str] = field(default_factory=dict)
    leaves: dict[str, str | None] | None = None
    digest: str | None = None
    invited: bool = False
    has_holes: bool = False


@dataclass(slots=True)
class Recording:
    """The turns of a lesson, and what they share."""

    meta: dict[str, Any] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)

    @property
    def model(self) -> str | None:
        """The model that the recording was made with."""
        return self.meta.get("model")

    @property
    def scenarios(self) -> list[str]:
        """The scenarios, in order of first appearance."""
        return list(dict.fromkeys(turn.scenario for turn in self.turns))

    def prompts(self, scenario: str) -> list[str]:
        """What the user says in a scenario.

        A request without system prompt and tools, such as one for a summary, is no prompt where
        others have them.
        """
        turns = [turn for turn in self.turns if (turn.scenario, turn.lane) == (scenario, "lead")]
        turns = [turn for turn in turns if turn.said and not turn.invited]
        equipped = [turn for turn in turns if {"system", "tools"} & {*turn.params}]
        last = (turn.said[-1]["content"] for turn in equipped or turns)
        return [text for text in last if isinstance(text, str)]

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read a recording."""
        path = Path(path)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            text = path.read_text(encoding="utf-8")
            _refuse_depth(text, loader)
            data = yaml.load(text, Loader=loader)
        except FileNotFoundError:
            raise UsageError(f"there is no recording at {path}; see `learnkit record`") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise UsageError(f"{path} is not YAML: {error}") from None
        if not isinstance(data, dict) or not isinstance(data.get("turns"), list):
            raise UsageError(f"{path} is no recording: it has no list `turns`")
        version = data.get("version", 1)
        if type(version) is not int or version > VERSION:
            raise UsageError(
                f"{path} has version {version!r}, and this learnkit reads up to {VERSION}; "
                "upgrade it"
            )
        meta, shared = (data.get(key) or {} for key in ("meta", "shared"))
        if not isinstance(meta, dict) or not isinstance(shared, dict):
            raise UsageError(f"{path} is no recording: `meta` and `shared` must be mappings")
        turns = []
        for number, entry in enumerate(data["turns"], start=1):
            try:
                turns.append(_read_turn(entry))
            except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
                where = entry.get("id", "") if isinstance(entry, dict) else ""
                raise UsageError(f"{path}, turn {number} {where}: {error!r}") from None
        ids = Counter(turn.id for turn in turns)
        for turn in turns:
            if ids[turn.id] > 1 or not ids.keys() >= {turn.after, turn.instead} - {None}:
                what = "its id is doubled, or `instead` or `after` unknown"
                raise UsageError(f"{path}, turn {turn.id}: {what}")
            for key in _SHARED:
                if key in turn.params and turn.params[key] not in list(shared):
                    what = f"its {key}, {turn.params[key]!r}, are not in `shared`"
                    raise UsageError(f"{path}, turn {turn.id}: {what}")
                if key in turn.params and not _can_be(key, shared[turn.params[key]]):
                    what = (
                        "a text or a list of text blocks" if key == "system" else "a list of tools"
                    )
                    raise UsageError(f"{path}, shared {turn.params[key]!r} must be {what}")
        try:
            _invite(turns)
        except (TypeError, ValueError, re.error) as error:
            raise UsageError(f"{path}, {error}") from None
        recording = cls(meta, shared, turns)
        if meta.get("source") == "model":
            recording._refuse_unmarked(path)
        return recording

    def _refuse_unmarked(self, path: Path) -> None:
        """Refuse runs said to be a model's that lack their marks, or that were changed since."""
        if missing := [key for key in MADE if not self.meta.get(key)]:
            raise UsageError(f"{path} has `source: model`, but `meta` lacks {', '.join(missing)}")
        prefixes = {id: one for name in self.scenarios for id, one in self.prefixes(name).items()}
        for turn in self.turns:
            if turn.id not in prefixes or turn.digest != prefixes[turn.id].hash:
                what = "its digest is not that of its request: a model's run stays as it came"
                raise UsageError(f"{path}, turn {turn.id}: {what}")

    def messages(self, scenario: str) -> list[Body]:
        """The messages of a scenario's one agent, with its last reply."""
        last = [turn for turn in self.turns if turn.scenario == scenario][-1]
        messages: list[Body] = followed(self.prefixes(scenario)[last.id], last.answer).body[
            "messages"
        ]
        return messages

    def save(self, path: str | Path) -> None:
        """Write the recording; the file changes as a whole or not at all."""
        path = Path(path)
        used = {turn.params[key] for turn in self.turns for key in _SHARED if key in turn.params}
        data = {
            "version": VERSION,
            "meta": self.meta,
            "shared": {key: value for key, value in self.shared.items() if key in used},
            "turns": [_write_turn(turn) for turn in self.turns],
        }
        refuse_secrets(data)
        text = yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=96)
        path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(path, text)

    def share(self, value: Any) -> str:
        """Store a system prompt or tool list once; return its key."""
        key = hashlib.sha256(repr(value).encode()).hexdigest()[:8]
        self.shared[key] = value
        return key

    def prefixes(self, scenario: str) -> dict[str, Prefix]:
        """The request of each turn of a scenario, in canonical form, by turn id."""
        found: dict[str, Prefix] = {}
        for turn in self.turns:
            if turn.scenario != scenario or turn.has_holes:
                continue
            before = None
            if turn.after is not None:
                if turn.after not in found:
                    what = f"comes after {turn.after}, which is not before it"
                    raise UsageError(f"turn {turn.id} {what}")
                before = followed(found[turn.after], self.turn(turn.after).answer)
            found[turn.id] = self.request(turn, before, {})
        return found

    def request(self, turn: Turn, before: Prefix | None, values: Mapping[str, str]) -> Prefix:
        """The request of a turn, after the one before it and its reply, with its holes filled."""
        said, edits = turn.said, turn.edits
        if turn.has_holes:
            said, edits = fill(said, values), fill(edits, values)
        messages = before.body["messages"].copy() if before else []
        for index, message in edits.items():
            if not 0 <= index < len(messages):
                raise UsageError(f"turn {turn.id} edits message {index} of {len(messages)}")
            messages[index] = message
        body = {
            **{k: self.meta[k] for k in DEFAULTS if k in self.meta},
            **{k: self.shared[v] if k in _SHARED else v for k, v in self.params(turn).items()},
            "messages": [*messages, *said],
        }
        return Prefix.of(body, before)

    def params(self, turn: Turn) -> Body:
        """What else the request of a turn holds: of an invited edit, what was there before."""
        if turn.params or not turn.invited:
            return turn.params
        return self.params(self.turn(str(turn.instead or turn.after)))

    def turn(self, id: str) -> Turn:
        """The turn with an id."""
        return next(turn for turn in self.turns if turn.id == id)


def _invite(turns: list[Turn]) -> None:
    """Mark the turns of invited edits, and check their holes."""
    bound: dict[str, set[str]] = {}
    marked: dict[str, Turn] = {}
    edited = set[str]()
    for turn in turns:
        before = marked.get(turn.after or "")
        if turn.instead or turn.match:
            edited.add(turn.scenario)
        # What follows the first edit belongs to edits: other agents' turns, too.
        turn.invited = turn.scenario in edited
        turn.has_holes = bool(turn.match or (before and before.has_holes))
        marked[turn.id] = turn
        if not turn.has_holes:
            continue
        names = bound[turn.id] = bound.get(turn.after or "", set()) | set(turn.match)
        try:
            if turn.match:
                check_match(turn.said[-1:], turn.match)
            content = list(getattr(turn.answer, "content", ()))
            if again := names & set(turn.match) & bound.get(turn.after or "", set()):
                raise ValueError(f"{min(again)} has a value already: give it another name")
            left = list((turn.leaves or {}).items())
            check_holes([turn.said, list(turn.edits.values()), content, left], names)
            for block in content:
                check_command(str(block.get("input", {}).get("command", "")))
        except (TypeError, ValueError, re.error) as error:
            raise ValueError(f"turn {turn.id}: {error}") from None


def _refuse_depth(text: str, loader: Any) -> None:
    """Refuse what is nested so deeply that to build it would end the process: C does that."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


def followed(request: Prefix, answer: Reply | Failure) -> Prefix:
    """The request with its reply added; an error, or a reply without content, adds no message."""
    content = sendable(list(answer.content)) if isinstance(answer, Reply) else []
    return request.extended({"role": "assistant", "content": content}) if content else request


# Short forms, for readers: {text: …}, {thinking: …}, {use: NAME, …}, {result: ID, …}


def _short(block: Block) -> Block:
    kind = block.get("type")
    rest = {key: value for key, value in block.items() if key != "type"}
    if kind == "text" and set(rest) == {"text"}:
        return rest
    if kind == "thinking":
        return {"thinking": block["thinking"]}
    if kind == "tool_use":
        # The id comes last, whether the reply was just made or has been read from a file.
        known = {"use": rest.pop("name")} | (
            {"input": rest.pop("input")} if "input" in rest else {}
        )
        return known | rest
    if kind == "tool_result":
        return {"result": rest.pop("tool_use_id"), **rest}
    return block


def _long(block: Block) -> Block:
    if "type" in block:
        return block
    rest = dict(block)
    if "use" in rest:
        return {"type": "tool_use", "name": rest.pop("use"), "input": {}, **rest}
    if "result" in rest:
        return {"type": "tool_result", "tool_use_id": rest.pop("result"), **rest}
    for kind in ("text", "thinking"):
        if kind in rest:
            return {"type": kind, **rest}
    raise ValueError(f"a block is text, thinking, use or result, not {sorted(block)}")


def _short_message(message: Body) -> Body:
    content = message["content"]
    if isinstance(content, list):
        match [_short(block) for block in content]:
            case [{"text": text, **rest}] if not rest:
                content = text
            case blocks:
                content = blocks
    return {message["role"]: content}


def _long_message(message: Body) -> Body:
    ((role, content),) = message.items()
    if isinstance(content, list):
        content = [_long(block) for block in content]
    return {"role": role, "content": content}


#: What a turn may hold: a misspelt key must not vanish.
_KEYS = frozenset(
    {"id", "scenario", "lane", "after", "params", "said", "edits", "instead", "match", "leaves"}
    | {"reply", "error", "stop", "usage", "latency", "digest"}
)


def _can_be(key: str, value: Any) -> bool:
    """Whether a stored value can be a system prompt, or the tools, of a request."""
    if isinstance(value, str):
        return key == "system"
    parts = value if isinstance(value, list) else [None]
    return all(
        isinstance(part, dict) and (key != "system" or isinstance(part.get("text", ""), str))
        for part in parts
    )


def _read_turn(entry: dict[str, Any]) -> Turn:
    if unknown := ", ".join(str(key) for key in entry if key not in _KEYS):
        raise ValueError(f"a turn has no {unknown}; it has {', '.join(sorted(_KEYS))}")
    if "error" in entry:
        answer: Reply | Failure = Failure(**entry["error"])
    else:
        blocks = tuple(_long(block) for block in entry["reply"])
        for block in blocks:
            if block["type"] == "text" and not isinstance(block["text"], str):
                raise ValueError(f"a text of `reply` must be a string, not {block['text']!r}")
        usage = None if entry.get("usage") is None else dict(entry["usage"])
        answer = Reply(blocks, entry.get("stop"), usage, float(entry.get("latency", 1.0)))
    after, instead = entry.get("after"), entry.get("instead")
    if not isinstance(entry.get("leaves") or {}, dict):
        raise ValueError("`leaves` says for each file what is new in it")
    return Turn(
        id=str(entry["id"]),
        scenario=str(entry["scenario"]),
        lane=str(entry.get("lane", "lead")),
        after=None if after is None else str(after),
        params=dict(entry.get("params") or {}),
        said=[_long_message(one) for one in entry.get("said") or []],
        edits={int(k): _long_message(v) for k, v in (entry.get("edits") or {}).items()},
        answer=answer,
        instead=None if instead is None else str(instead),
        match=entry.get("match") or {},
        leaves=entry.get("leaves"),
        digest=entry.get("digest"),
    )


def _write_turn(turn: Turn) -> dict[str, Any]:
    answer = turn.answer
    entry: dict[str, Any] = {
        "id": turn.id,
        "scenario": turn.scenario,
        "lane": turn.lane,
        "after": turn.after,
        "instead": turn.instead,
        "params": _Flow(turn.params) if turn.params or not turn.invited else None,
        "match": turn.match or None,
        "said": [_short_message(one) for one in turn.said],
        "edits": {index: _short_message(one) for index, one in turn.edits.items()} or None,
        "leaves": turn.leaves,
        "digest": turn.digest,
    }
    if isinstance(answer, Failure):
        about = {"status": answer.status, "type": answer.type, "message": answer.message}
        entry["error"] = about
    else:
        entry["reply"] = [_short(block) for block in answer.content]
        entry["stop"] = answer.stop_reason
        entry["usage"] = _Flow(answer.usage) if answer.usage else None
        entry["latency"] = answer.latency if answer.latency != 1.0 else None
    return {key: value for key, value in entry.items() if value is not None or key == "after"}


class _Flow(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes texts of several lines as blocks, and never aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


#: What PyYAML does not write in a form that it reads back, unless it is quoted and escaped.
_FRAGILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]| \n|\t")


def _style(text: str) -> str | None:
    if _FRAGILE.search(text):
        return '"'
    return "|" if "\n" in text else None


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text)),
)
_Dumper.add_representer(
    _Flow,
    lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True),
)

"""Replay: answers from a recording, matched by the hash of the whole request.

The API is stateless: the request holds the whole history, so equal requests get equal replies and
any cell can be run again. A request that was not recorded is a :class:`Miss`, which says what
differs and what can be done.
"""

from __future__ import annotations

import difflib
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import anthropic

from learnkit.clients.recordings.difference import Change, changes
from learnkit.clients.recordings.recording import Recording, Turn, followed
from learnkit.clients.recordings.request_hash import Prefix
from learnkit.clients.scripted import Failure, Reply, Request
from learnkit.errors import UsageError

#: What a learner can do about a miss, in this order. In an open lesson, buttons do the same.
WAYS_ON = (
    "undo the change, and the recording fits again",
    'be the model yourself: lab.be_the_model("your prompt")',
    'script it: lab.scenario(name, script=[lk.use("bash", command="ls"), lk.say("Done.")])',
    'ask a real model, with a key or a server of your own: lesson(name, mode="live")',
)


#: How long a line of a diff may be, in characters, and how long a diff, in lines.
WIDTH, HEIGHT = 400, 60


class Miss(anthropic.AnthropicError):
    """The recording has no reply to this request.

    Attributes:
        scenario: the part of the recording that was looked in.
        lane: the agent that asked.
        nearest: id of the recorded turn that is most alike.
        path: where the request first differs from it, e.g. ``messages[0].content[0].text``.
        diff: the two texts compared, ``-`` recorded, ``+`` asked.
        changes: all places in which they differ.
        report: what differs, in sentences, without what can be done.
        prefix: what was asked.
        offer: shows a panel in place of this error; None where there is nobody to see it.
    """

    offer: Callable[[], None] | None = None

    def __init__(
        self,
        scenario: str,
        lane: str,
        nearest: str,
        *,
        path: str,
        diff: str,
        changes: tuple[Change, ...],
        prefix: Prefix,
    ) -> None:
        self.scenario, self.lane, self.nearest = scenario, lane, nearest
        self.path, self.diff, self.changes, self.prefix = path, diff, changes, prefix
        self.report = (
            f"the recording has no reply to this request (scenario {scenario!r}, agent {lane!r}).\n"
            f"It differs from the nearest turn {nearest} at {path}:\n\n{diff}"
        )
        ways = "\n".join(f"  - {way}" for way in WAYS_ON)
        super().__init__(f"{self.report}\n\nWhat you can do:\n{ways}")

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the report, and no frames of the SDK."""
        return [f"{type(self).__name__}: {self}"]


class Replay:
    """A source that answers from one scenario of a recording."""

    def __init__(self, recording: Recording, scenario: str | None = None) -> None:
        known = recording.scenarios
        if scenario is None and known:
            scenario = known[0]
        if scenario not in known:
            raise UsageError(
                f"the recording has no scenario {scenario!r}; it has: {', '.join(known) or 'none'}"
            )
        self.scenario = scenario
        #: What the user says in this scenario, in order.
        self.prompts = list(recording.prompts(scenario).values())
        self._turns = [turn for turn in recording.turns if turn.scenario == scenario]
        self._prefixes = recording.prefixes(scenario)
        #: The model that was asked; another one would be another request.
        self.model: str | None = self._prefixes[self._turns[0].id].body.get("model")
        self._by_hash: dict[str, list[Turn]] = {}
        for turn in self._turns:
            self._by_hash.setdefault(self._prefixes[turn.id].hash, []).append(turn)
        self._asked: Counter[tuple[str, str]] = Counter()
        self._used: set[str] = set()
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The recorded reply to a request; see :meth:`answer_to`."""
        return self.answer_to(Prefix.of(request), lane)

    def answer_to(self, prefix: Prefix, lane: str) -> Reply | Failure:
        """The recorded reply; equal requests get the recorded ones in turn, then the last again."""
        with self._lock:
            same = self._by_hash.get(prefix.hash, [])
            mine = [turn for turn in same if turn.lane == lane] or same
            if not mine:
                raise self._miss(prefix, lane)
            turn = mine[min(self._asked[prefix.hash, lane], len(mine) - 1)]
            self._asked[prefix.hash, lane] += 1
            self._used.add(turn.id)
            return turn.answer

    def unused(self) -> list[str]:
        """Ids of the turns that nothing has asked for."""
        return [turn.id for turn in self._turns if turn.id not in self._used]

    def _miss(self, prefix: Prefix, lane: str) -> Miss:
        def likeness(turn: Turn) -> tuple[int, bool, int, float]:
            canon = self._prefixes[turn.id].canon
            same = _agree(canon, prefix.canon)
            old, new = (
                one[same][:2000] if same < len(one) else "" for one in (canon, prefix.canon)
            )
            alike = difflib.SequenceMatcher(None, old, new).quick_ratio()
            return same, turn.lane == lane, -abs(len(canon) - len(prefix.canon)), alike

        nearest = max(self._turns, key=likeness)
        known = self._prefixes[nearest.id]
        if _agree(known.canon, prefix.canon) == len(known.canon):
            known = followed(known, nearest.answer)  # asked on, after its reply
        path, diff = compare(known.canon, prefix.canon)
        found = changes(known.canon, prefix.canon)
        return Miss(
            *(self.scenario, lane, nearest.id),
            path=path,
            diff=diff,
            changes=found,
            prefix=prefix,
        )


def _agree(these: list[str], those: list[str]) -> int:
    same = 0
    for one, other in zip(these, those, strict=False):
        if one != other:
            break
        same += 1
    return same


def compare(recorded: list[str], asked: list[str]) -> tuple[str, str]:
    """Where two canonical requests first differ, as a JSON path and a diff of the two texts."""
    index = _agree(recorded, asked)
    where = f"messages[{index - 1}]" if index else ""
    old = json.loads(recorded[index]) if index < len(recorded) else None
    new = json.loads(asked[index]) if index < len(asked) else None
    path, before, after = _first_difference(old, new, where)
    return path.lstrip(".") or "the request", _diff(before, after)


def _diff(before: Any, after: Any) -> str:
    """The two, compared line by line: of a long line the part that differs, of many the ends."""
    these, those = _lines(before), _lines(after)
    if these == those:  # only the ends of lines differ: show them
        these, those = [repr(before)], [repr(after)]
    if any(len(line) > WIDTH for line in [*these, *those]):
        these, those = _part("\n".join(these), "\n".join(those))
    lines = list(difflib.unified_diff(these, those, "recorded", "asked", lineterm="", n=2))
    if len(lines) > HEIGHT:
        half = HEIGHT // 2
        lines[half:-half] = [f"… {len(lines) - HEIGHT} lines more …"]
    return "\n".join(lines)


def _part(one: str, other: str) -> tuple[list[str], list[str]]:
    """What two long texts say around the first character in which they differ."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    middle = min(len(one), len(other)) if same is None else same
    start, end = max(0, middle - WIDTH // 4), middle + WIDTH // 2

    def cut(text: str) -> list[str]:
        lead, trail = "…" if start else "", "…" if end < len(text) else ""
        return f"{lead}{text[start:end]}{trail}".splitlines() or [""]

    return cut(one), cut(other)


def _first_difference(old: Any, new: Any, path: str) -> tuple[str, Any, Any]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(k for k in new if k not in old)]:
            if old.get(key) != new.get(key):
                return _first_difference(old.get(key), new.get(key), f"{path}.{key}")
    if isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            one = old[index] if index < len(old) else None
            other = new[index] if index < len(new) else None
            if one != other:
                return _first_difference(one, other, f"{path}[{index}]")
    return path, old, new


def _lines(value: Any) -> list[str]:
    if value is None:
        return ["(nothing)"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return text.splitlines() or [""]

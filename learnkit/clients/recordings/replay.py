"""Replay: answers from a recording, matched by the hash of the whole request.

The API is stateless: the request holds the whole history, so equal requests get equal replies and
any cell can be run again. A request that was not recorded is a :class:`Miss`, which says what
differs and what can be done.
"""

from __future__ import annotations

import difflib
import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anthropic

from learnkit.clients.recordings.difference import Change, changes
from learnkit.clients.recordings.holes import bind, fill
from learnkit.clients.recordings.recording import Recording, Turn, followed
from learnkit.clients.request_hash import Prefix
from learnkit.clients.scripted import Failure, Reply, Request
from learnkit.errors import UsageError

#: What a learner can do about a miss, in this order. In an open lesson, buttons do the same.
WAYS_ON = (
    "undo the change, and the recording fits again",
    "be the model yourself: in JupyterLab, a panel offers it",
    'script it: lab.scenario(name, script=[lk.use("bash", command="ls"), lk.say("Done.")])',
    'ask a real model, with a key or a server of your own: lesson(name, mode="live")',
)


class Miss(anthropic.AnthropicError):
    """The recording has no reply to this request.

    Attributes:
        scenario: the part of the recording that was looked in.
        lane: the agent that asked.
        nearest: id of the recorded turn that is most alike.
        changes: the places in which the request differs from it.
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
        changes: tuple[Change, ...],
        prefix: Prefix,
    ) -> None:
        self.scenario, self.lane, self.nearest = scenario, lane, nearest
        self.changes, self.prefix = changes, prefix
        differs = "\n".join(map(str, changes))
        self.report = (
            f"the recording has no reply to this request (scenario {scenario!r}, agent {lane!r}).\n"
            f"What is [-recorded-] in the nearest turn, {nearest}, and [+asked+]:\n\n{differs}"
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
        self.prompts = recording.prompts(scenario)
        turns = [turn for turn in recording.turns if turn.scenario == scenario]
        self._recording = recording
        self._turns = [turn for turn in turns if not turn.has_holes]
        self._prefixes = recording.prefixes(scenario)
        self._with_holes = [turn for turn in turns if turn.has_holes]
        bases = {turn.after for turn in self._with_holes}
        self._bases = {
            turn.id: _Filled(turn, self._prefixes[turn.id], turn.answer, {})
            for turn in self._turns
            if turn.id in bases
        }
        #: Called once, when a reply was filled with the learner's words.
        self.when_filled: Callable[[], None] | None = None
        #: The model that was asked; another one would be another request.
        self.model: str | None = self._prefixes[self._turns[0].id].body.get("model")
        self._by_hash: dict[str, list[Turn]] = {}
        for turn in self._turns:
            self._by_hash.setdefault(self._prefixes[turn.id].hash, []).append(turn)
        self._asked: Counter[tuple[str, str]] = Counter()
        #: The ids of the turns that were asked for.
        self.used: set[str] = set()
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
                return self._filled(prefix, lane)
            turn = mine[min(self._asked[prefix.hash, lane], len(mine) - 1)]
            self._asked[prefix.hash, lane] += 1
            self.used.add(turn.id)
            return turn.answer

    def _filled(self, prefix: Prefix, lane: str) -> Reply | Failure:
        """The reply of the turn whose holes the words of this request fill."""
        near = self._near(prefix)
        fits = [fit for fit in near if fit.complete and fit.request.hash == prefix.hash]
        fits = [fit for fit in fits if fit.turn.lane == lane] or fits
        if not fits or any(fit.answer != fits[0].answer for fit in fits):
            raise self._miss(prefix, lane, near)
        if self.when_filled is not None:
            self.when_filled()
            self.when_filled = None
        return fits[0].answer

    def _near(self, asked: Prefix) -> list[_Filled]:
        """The turns with holes, filled with the words of a request that goes on like theirs."""
        near = dict[str, _Filled]()
        for turn in self._with_holes:
            before = None
            if turn.after is not None:
                before = near.get(turn.after) or self._bases.get(turn.after)
                if before is None or not before.complete or not _begins(before.request, asked):
                    continue
            earlier = len(before.followed.body["messages"]) if before else 0
            place = earlier + len(turn.said)  # the head is the first part
            if place < len(asked.canon):
                near[turn.id] = self._try(turn, before, asked.canon[place])
        return [fit for fit in near.values() if fit.values]

    def _try(self, turn: Turn, before: _Filled | None, asked: str) -> _Filled:
        values = before.values if before else {}
        bound: dict[str, str] | None = values
        if turn.match:
            template = Prefix.of({"messages": turn.said[-1:]}).canon[1]
            bound = bind(json.loads(template), json.loads(asked), turn.match, values)
        known, answer = values if bound is None else bound, turn.answer
        if isinstance(answer, Reply):
            answer = replace(answer, content=tuple(fill(list(answer.content), known)))
        request = self._recording.request(turn, before.followed if before else None, known)
        return _Filled(turn, request, answer, known, bound is not None)

    def _miss(self, prefix: Prefix, lane: str, near: list[_Filled]) -> Miss:
        requests = self._prefixes | {fit.turn.id: fit.request for fit in near}
        answers = {turn.id: turn.answer for turn in self._turns}
        answers |= {fit.turn.id: fit.answer for fit in near}

        def likeness(turn: Turn) -> tuple[int, bool, int, float]:
            canon = requests[turn.id].canon
            same = _agree(canon, prefix.canon)
            old, new = (
                one[same][:2000] if same < len(one) else "" for one in (canon, prefix.canon)
            )
            alike = difflib.SequenceMatcher(None, old, new).quick_ratio()
            return same, turn.lane == lane, -abs(len(canon) - len(prefix.canon)), alike

        lessons = [turn for turn in self._turns if not turn.instead]  # what the learner has read
        nearest = max([*lessons, *(fit.turn for fit in near)], key=likeness)
        known = requests[nearest.id]
        if _agree(known.canon, prefix.canon) == len(known.canon):
            known = followed(known, answers[nearest.id])  # asked on, after its reply
        found = changes(known.canon, prefix.canon)
        return Miss(self.scenario, lane, nearest.id, changes=found, prefix=prefix)


@dataclass(slots=True)
class _Filled:
    """A turn whose holes were filled.

    Attributes:
        values: the words, by the names of the holes.
        complete: whether all patterns fit; else some holes are left.
        followed: the request with its reply.
    """

    turn: Turn
    request: Prefix
    answer: Reply | Failure
    values: dict[str, str]
    complete: bool = True
    followed: Prefix = field(init=False)

    def __post_init__(self) -> None:
        self.followed = followed(self.request, self.answer)


def _begins(request: Prefix, asked: Prefix) -> bool:
    """Whether a request is the beginning of another one; the hashes are running ones."""
    place = len(request.hashes) - 1
    return place < len(asked.hashes) and request.hashes[place] == asked.hashes[place]


def _agree(these: list[str], those: list[str]) -> int:
    """How many parts, from the start, are the same."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(these, those, strict=False))
    return len(list(same))

"""Fork a run at a step: everything before it happens again, and then the run continues differently.

Nothing is rewound. The run starts again, in a fresh workspace, and its model gives the same replies
up to that step, so files, lists, boards and children are what they were. From there on the replies
come from a script or from a person, or they are the old ones under a changed mechanism.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from learnkit.clients.scripted import (
    Failure,
    Reply,
    Request,
    Script,
    Scripted,
    ScriptEnded,
    Source,
)
from learnkit.errors import UsageError
from learnkit.events.log import Event

_FAILED = "model.failed"

Replies = Mapping[str, tuple[Reply | Failure, ...]]


@dataclass(frozen=True, slots=True)
class Fork:
    """A step of a run from which it can continue differently.

    Attributes:
        step: events that had happened.
        before: lane -> the replies given until then.
        after: lane -> the replies given later.
    """

    step: int
    before: Replies
    after: Replies

    def then(self, script: Script | None = None) -> Source:
        """The continuation, as the ``script`` of a scenario or of ``lk.scripted``."""
        rest = {lane: list(replies) for lane, replies in self.after.items()}
        return Continued(self.before, Scripted(rest if script is None else script))

    def at_once(self, rest: Source) -> Source:
        """The continuation for a waiting person: the known replies come without latency."""
        quick = {
            lane: tuple(replace(reply, latency=0.0) for reply in replies)
            for lane, replies in self.before.items()
        }
        return Continued(quick, rest)

    def __repr__(self) -> str:
        replies = ", ".join(f"{lane} {len(given)}" for lane, given in self.before.items())
        return f"Fork(after step {self.step}; replies so far: {replies or 'none'})"


class Continued:
    """A source that gives replies again, lane by lane, and then asks another source."""

    def __init__(self, before: Replies, rest: Source) -> None:
        self._before, self._rest = before, rest
        self._given: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The next reply of the lane."""
        with self._lock:
            index, known = self._given[lane], self._before.get(lane, ())
            self._given[lane] += 1
        if index < len(known):
            return known[index]
        try:
            return self._rest.answer(request, lane)
        except ScriptEnded as error:
            raise ScriptEnded(f"after the fork, {error}") from None


def fork(run: Any, step: int) -> Fork:
    """Fork a run at a step.

    The continuation has to begin as this run did: with a fresh workspace, the same prompt, and
    mechanisms of its own. If it begins differently, it gets the same replies but other results.

    Args:
        run: what has a client and events: a scenario's run, or an agent. Its client must be an
            offline one; only they keep what was replied.
        step: how many events had happened, counted over all agents as a view does. A negative
            number counts from the end.

    Raises:
        UsageError: if the run has no such step, or keeps no replies.
    """
    given = getattr(getattr(run, "client", None), "given", None)
    if given is None:
        raise UsageError(
            "this run keeps no replies; fork one of an offline client, with its client and events"
        )
    events = list(run.events)
    place = step + len(events) if step < 0 else step
    if not 0 <= place <= len(events):
        raise UsageError(f"there is no step {step}; the run has steps 0 to {len(events)}")
    lanes: dict[str, list[Reply | Failure]] = {}
    for lane, reply in given:
        lanes.setdefault(lane, []).append(reply)
    used = {lane: _used(events[:place], lane, replies) for lane, replies in lanes.items()}
    before = {lane: tuple(lanes[lane][:count]) for lane, count in used.items() if count}
    return Fork(place, before, {lane: tuple(lanes[lane][used[lane] :]) for lane in lanes})


def _used(events: Sequence[Event], lane: str, given: Sequence[Reply | Failure]) -> int:
    """How many of a lane's answers these events account for.

    The SDK retries after some errors, and the log holds only the final outcome.
    """
    ends = [e.type for e in events if e.lane == lane and e.type in ("model.replied", _FAILED)]
    replies = [place for place, one in enumerate(given, start=1) if isinstance(one, Reply)]
    heard = ends.count("model.replied")
    count = replies[heard - 1] if heard else 0
    if ends and ends[-1] == _FAILED:
        while count < len(given) and isinstance(given[count], Failure):
            count += 1
    return count

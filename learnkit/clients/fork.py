"""Fork a run at a step: what came before happens again, and from there on something else.

Nothing is rewound. The run begins anew, in a fresh workspace, and its model gives the replies that
it gave up to that step; so files, lists, boards and children are what they were. From there on the
replies come from a script, from a person, or are the old ones under a changed mechanism.
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
from learnkit.core.events import Event
from learnkit.errors import UsageError

_FAILED = "model.failed"

Replies = Mapping[str, tuple[Reply | Failure, ...]]


@dataclass(frozen=True, slots=True)
class Fork:
    """A place in a run from which it can go on otherwise.

    Attributes:
        step: events that had happened.
        before: lane -> the replies given until then.
        after: lane -> the replies given later.
    """

    step: int
    before: Replies
    after: Replies

    def then(self, script: Script | None = None) -> Source:
        """How it goes on, as the ``script`` of a scenario or of ``lk.scripted``.

        Args:
            script: what the model says after the step, as in :func:`learnkit.scripted`; None for
                what it did say, come what may: to see what a changed mechanism does to it.
        """
        rest = {lane: list(replies) for lane, replies in self.after.items()}
        return Continued(self.before, Scripted(rest if script is None else script))

    def at_once(self, rest: Source) -> Source:
        """How it goes on where a person waits: what is known is given without its latency."""
        quick = {
            lane: tuple(replace(reply, latency=0.0) for reply in replies)
            for lane, replies in self.before.items()
        }
        return Continued(quick, rest)

    def __repr__(self) -> str:
        replies = ", ".join(f"{lane} {len(given)}" for lane, given in self.before.items())
        return f"Fork(after step {self.step}; replies so far: {replies or 'none'})"


class Continued:
    """A source that gives replies again, lane by lane, and then asks another source.

    Args:
        before: what to give again.
        rest: whom to ask when a lane has had all of them.
    """

    def __init__(self, before: Replies, rest: Source) -> None:
        self._before, self._rest = before, rest
        self._given: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The next reply of the lane.

        Raises:
            ScriptEnded: when there is none left.
        """
        with self._lock:
            place, known = self._given[lane], self._before.get(lane, ())
            self._given[lane] += 1
        if place < len(known):
            return known[place]
        try:
            return self._rest.answer(request, lane)
        except ScriptEnded as error:
            raise ScriptEnded(f"after the fork, {error}") from None


def fork(run: Any, step: int) -> Fork:
    """Take hold of a run at a step.

    Whatever goes on from there begins as this run did: with a fresh workspace, the same prompt, and
    mechanisms of its own. Otherwise the replies are the same, and the results are not.

    Args:
        run: what has a client and events: a scenario's run, or an agent. Its client must be an
            offline one; only they keep what was replied.
        step: as a view with everybody's events counts them: this many had happened. Negative
            counts from the end.

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
    told = {lane: _told(events[:place], lane, replies) for lane, replies in lanes.items()}
    before = {lane: tuple(lanes[lane][:count]) for lane, count in told.items() if count}
    return Fork(place, before, {lane: tuple(lanes[lane][told[lane] :]) for lane in lanes})


def _told(events: Sequence[Event], lane: str, given: Sequence[Reply | Failure]) -> int:
    """How many of a lane's answers these events tell of.

    The SDK asks again after some errors, and the log knows only what came of it in the end.
    """
    ends = [e.type for e in events if e.lane == lane and e.type in ("model.replied", _FAILED)]
    replies = [place for place, one in enumerate(given, start=1) if isinstance(one, Reply)]
    heard = ends.count("model.replied")
    count = replies[heard - 1] if heard else 0
    if ends and ends[-1] == _FAILED:
        while count < len(given) and isinstance(given[count], Failure):
            count += 1
    return count

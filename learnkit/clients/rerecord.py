"""Keep the replies, record the rest: a recording is its own script.

The notebook runs again with the replies that the recording holds, in order per lane, and what was
said to the model is written down anew. A changed tool result then shows up as a diff to review.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from learnkit.clients.connect import model_setting
from learnkit.clients.recordings.record import Recorder
from learnkit.clients.recordings.recording import Recording
from learnkit.clients.request_hash import Prefix
from learnkit.clients.scripted import Failure, Reply, Request, ScriptEnded
from learnkit.clients.transport import Client, OfflineTransport, offline_client
from learnkit.errors import UsageError
from learnkit.runtime.clock import Clock


class Keeper:
    """One scenario that is recorded again with its own replies.

    A scenario may be entered several times, by the learner's loop and by the package's. A request
    that an earlier entry has made gets the same answer, and is no new turn.
    """

    def __init__(self, path: Path, scenario: str) -> None:
        recording = Recording.load(path)
        every = [turn for turn in recording.turns if turn.scenario == scenario]
        turns = [turn for turn in every if not turn.invited]
        if not turns:
            raise UsageError(
                f"{path} has no turn of scenario {scenario!r}; write its replies first"
            )
        self._left: dict[str, list[Reply | Failure]] = {}
        answers = _numbered([turn.answer for turn in turns])
        for turn, answer in zip(turns, answers, strict=True):
            self._left.setdefault(turn.lane, []).append(answer)
        source, invited = recording.meta.get("source", "scripted"), [t for t in every if t.invited]
        self._recorder = Recorder(path, scenario, source, invited)
        bases = {id for turn in invited for id in (turn.after, turn.instead)}
        self._recorder.anchors = {
            turn.id: answer for turn, answer in zip(turns, answers, strict=True) if turn.id in bases
        }
        #: The answers that were given to a request, by its hash, with their lanes.
        self._given: dict[str, list[tuple[str, Reply | Failure]]] = {}

    def enter(self) -> None:
        """Start the scenario again from its beginning."""
        self._known = {hash: list(given) for hash, given in self._given.items()}
        self._recorder.start_over()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """See :meth:`answer_to`."""
        return self.answer_to(Prefix.of(request), lane)

    def answer_to(self, prefix: Prefix, lane: str) -> Reply | Failure:
        """The answer given to this request before, else the lane's next reply."""
        known = self._known.get(prefix.hash, [])
        mine = [given for given in known if given[0] == lane] or known  # as in replay
        if mine:
            if len(mine) > 1:
                known.remove(mine[0])
            return mine[0][1]
        if not self._left.get(lane):
            raise ScriptEnded(f"agent {lane!r} asked for more replies than the recording holds")
        return self._left[lane].pop(0)

    def keep(self, prefix: Prefix, lane: str, answer: Reply | Failure) -> None:
        """Write down what is new; called by the transport, when the reply has its ids."""
        if prefix.hash in self._known:
            self._recorder.follow(prefix, lane)
            return
        self._given.setdefault(prefix.hash, []).append((lane, answer))
        self._recorder.keep(prefix, lane, answer)


def _numbered(answers: list[Reply | Failure]) -> list[Reply | Failure]:
    """The answers with an id for every call; ids that are there stay."""
    blocks = [b for a in answers for b in getattr(a, "content", ()) if b["type"] == "tool_use"]
    taken = {block.get("id") for block in blocks}
    free = (id for n in count(1) if (id := f"toolu_{n:04d}") not in taken)
    done: list[Reply | Failure] = []
    for answer in answers:
        if isinstance(answer, Reply):
            content = tuple(
                {"type": "tool_use", "id": next(free), **block}
                if block["type"] == "tool_use" and "id" not in block
                else block
                for block in answer.content
            )
            answer = replace(answer, content=content)
        done.append(answer)
    return done


def keeping_client(path: Path, scenario: str, clock: Clock, kept: dict[str, Any]) -> Client:
    """A client that replays the replies of a scenario and records what is said to it."""
    if scenario not in kept:
        kept[scenario] = Keeper(path, scenario)
    keeper = kept[scenario]
    keeper.enter()
    model = Recording.load(path).model or model_setting()
    return offline_client(OfflineTransport(keeper, clock, keeper), clock, "record", model)

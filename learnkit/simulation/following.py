"""Continue after an edit: a mechanical model makes the calls of the recording.

A recording answers only the requests it was made with. ``Following`` answers every request: its
plan is the recorded calls. It makes those that are not in the request yet, and ends with the
recorded last text. It cannot read what was edited; the calls that it makes really run.
"""

from __future__ import annotations

from pathlib import Path

from learnkit.clients.recordings.recording import Recording
from learnkit.clients.scripted import Block, Reply, Request, say
from learnkit.core.events import LANE
from learnkit.errors import UsageError
from learnkit.simulation.forgetful import Forgetful, Step

#: How many tokens it sees: enough for any lesson, so that it forgets nothing.
WINDOW = 200_000


class Following:
    """A policy, for :func:`learnkit.scripted`, that follows one scenario of a recording.

    Args:
        recording: a recording, or the path of one.
        scenario: the part of it to follow; by default the first one.

    Raises:
        UsageError: if there is no such scenario.
    """

    def __init__(self, recording: Recording | str | Path, scenario: str | None = None) -> None:
        loaded = recording if isinstance(recording, Recording) else Recording.load(recording)
        scenario = scenario or next(iter(loaded.scenarios), None)
        calls: dict[str, list[Block]] = {}
        self._last: dict[str, str] = {}
        for turn in loaded.turns:
            if turn.scenario != scenario or not isinstance(turn.answer, Reply):
                continue
            made = calls.setdefault(turn.lane, [])
            for block in turn.answer.content:
                if block["type"] == "tool_use":
                    made.append({key: block[key] for key in ("type", "name", "input")})
                elif block["type"] == "text":
                    self._last[turn.lane] = block["text"]
        if not calls:
            known = ", ".join(loaded.scenarios) or "none"
            raise UsageError(f"the recording has no scenario {scenario!r}; it has: {known}")
        self._models = {lane: _model(made) for lane, made in calls.items()}

    def __call__(self, request: Request) -> Reply:
        """Return the first recorded call that the request does not contain yet, or the last text.

        Args:
            request: as the client gets it.
        """
        lane = LANE.get()
        if lane not in self._models:  # an agent that the recording does not know
            lane = next(reversed(self._models))
        model = self._models[lane]
        answer = model(request) if model is not None else None
        if answer is not None and any(block["type"] == "tool_use" for block in answer.content):
            return answer
        return say(self._last.get(lane, "Done, as far as the recording goes."))


def _model(calls: list[Block]) -> Forgetful | None:
    once = [call for place, call in enumerate(calls) if call not in calls[:place]]
    if not once:
        return None
    plan = [Step(f"step {number}", Reply((call,))) for number, call in enumerate(once, start=1)]
    return Forgetful(plan, window=WINDOW, by_heart=True)

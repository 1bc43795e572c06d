"""Be the model from a miss on: the page of the game, over a cell that is run again for each reply.

Nothing waits for the learner. With each reply the cell runs once more in a fresh workspace, gets
all the replies so far, and stops at the next request. Taking a reply back means to run it without.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from learnkit.clients.scripted import Reply
from learnkit.core import tool_form as forms
from learnkit.course.first_edit.answers import Given, Paused, Rest
from learnkit.course.first_edit.rerun import ending
from learnkit.errors import UsageError

Json = dict[str, Any]

_ASK = "call a tool, or answer with text."


class Seat:
    """The model's place in a run that has missed. The keys of its state are those of the game's
    page, which ``games/be_the_model/README.md`` explains.

    Attributes:
        tell: gets each message for the page.
        phase: ``yours``, ``refused``, ``ended``, ``left`` or ``broken``.
        replies: agent and reply, in the order in which they were given.
    """

    def __init__(self, run: Callable[[Rest], BaseException | None], team: bool) -> None:
        self._run, self._team = run, team
        self.tell: Callable[[Json], object] = lambda message: None
        self.replies: list[tuple[str, Reply]] = []
        self.phase, self.head = "works", "The cell runs up to the request without a reply."
        self._asks = self._seq = 0
        self._request: Json | None = None
        self._lane = ""
        self._error: BaseException | None = None

    def go(self) -> None:
        """Run the cell with the replies so far, and show where it stops."""
        import anthropic

        lanes: dict[str, list[Reply]] = {}
        for lane, reply in self.replies:
            lanes.setdefault(lane, []).append(reply)
        error = self._error = self._run(Given(lanes))
        if isinstance(error, Paused):
            self._request, self._lane = error.request, error.lane
            self._asks += 1
            whose = f"the model of {error.lane!r}" if self._team else "the model"
            self._set("yours", f"You are {whose}. This is everything you see: {_ASK}")
        elif isinstance(error, anthropic.APIStatusError) and self.replies:
            self._set("refused", "The next request was refused, because of your last reply.")
        elif error is None or isinstance(error, AssertionError):
            self._set("ended", f"The cell ran to its end. {ending(error)}".strip())
        else:
            self._set("broken", ending(error))

    def act(self, intent: Json) -> None:
        """Do what the learner asked for on the page; if that is impossible, the page says why."""
        try:
            self._act(intent)
        except UsageError as error:
            problem: Json = {"problem": str(error)}
            if isinstance(error, forms.FormError):
                problem |= {"part": error.part, "field": error.field}
            self.tell(problem)

    def message(self) -> Json:
        """Return the state, numbered."""
        self._seq += 1
        return {"seq": self._seq, "state": self.state()}

    def state(self) -> Json:
        """Return what the page shows."""
        from learnkit.views import request as views

        body, refusal = self._request or {"messages": []}, None
        if self.phase == "refused":
            body, refusal = json.loads(self._error.request.content), views.refusal(self._error)  # type: ignore[union-attr]
        return {
            "ask": self._asks,
            "phase": self.phase,
            "head": self.head,
            "frame": [list(one) for one in views.fragments(body, refusal).items()],
            "tools": [forms.form(spec) for spec in body.get("tools") or []],
            "undo": self.phase == "refused",
            "faults": False,
            "again": "",
        }

    def _act(self, intent: Json) -> None:
        if intent.get("want"):
            self.tell(self.message())
        elif intent.get("stop"):
            self._set("left", "You left the model's place. The buttons above are still there.")
        elif intent.get("back"):
            if self.phase != "refused":
                raise UsageError("there is no reply to take back")
            self.replies.pop()
            self.go()
        elif "reply" in intent:
            if self.phase != "yours" or intent.get("ask") != self._asks:
                raise UsageError("this answers an earlier request: look again, and send again")
            given, stop = intent["reply"], None
            if isinstance(given, str):
                content, stop = forms.parse(given)
            else:
                content = forms.assemble(given, (self._request or {}).get("tools") or [])
            self.replies.append((self._lane, Reply(tuple(content), stop, latency=0.0)))
            self._set("works", "The cell runs again, with your replies.")
            self.go()

    def _set(self, phase: str, head: str) -> None:
        self.phase, self.head = phase, head
        self.tell(self.message())

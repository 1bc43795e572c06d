"""The events of requests between agents."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event, record
from learnkit.events.sentences import filled
from learnkit.events.text import quoted


@record
class RequestData:
    """A request between agents, as it is after the event."""

    id: str
    kind: Literal["shutdown", "plan"]
    sender: str
    to: str
    content: str = ""
    state: Literal["pending", "approved", "rejected", "changes_requested", "expired"]
    assignment: int = 1
    expires: str = ""
    note: str = ""


@record
class RequestEvent:
    """What has happened to a request."""

    request: RequestData


_ASKS = {
    "shutdown": "{sender} asks {to} to shut down: request {id} is pending.",
    "plan": "{sender} submits plan {id} to {to}: {content:quoted}.",
}


@event(
    "request.opened",
    lesson="s10",
    sentence=lambda opened: filled(_ASKS[opened.request.kind], opened.request),
)
class RequestOpened(RequestEvent):
    """An agent asks, and waits for the answer."""


_VERDICTS = {"approved": "approves", "rejected": "rejects"}


def _answered(answered: RequestAnswered) -> str:
    request = answered.request
    verdict = _VERDICTS.get(request.state, "requests changes to")
    note = f": {quoted(request.note)}" if request.note else ""
    return f"{request.to} {verdict} {request.kind} {request.id}{note}."


@event("request.answered", lesson="s10", sentence=_answered)
class RequestAnswered(RequestEvent):
    """The addressee has answered."""


@event("request.expired", lesson="s10", sentence="Request {request.id} expires: {request.note}.")
class RequestExpired(RequestEvent):
    """It is too late for an answer."""


@event("request.refused", lesson="s10", sentence="That does not count: {problem}.")
class RequestRefused:
    """A call would break a rule of the protocol."""

    tool: str = "?"
    problem: str = ""

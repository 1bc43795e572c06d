"""The events of a team's mail."""

from __future__ import annotations

from typing import Any

from learnkit.events.declaration import detail, event, record


@record
class MailData:
    """A message of the team's mail; a protocol may add more to it."""

    sender: str = detail(key="from")
    to: str
    content: str = ""
    id: str = ""
    type: str = "message"
    timestamp: str = ""
    request_id: str = detail(default="", sometimes=True)
    state: str = detail(default="", sometimes=True)
    whole: dict[str, Any] | None = detail(default=None, whole=True)


@event(
    "mail.sent", lesson="s09", sentence="{mail.sender} writes to {mail.to}: {mail.content:quoted}."
)
class MailSent:
    """A message is in its addressee's inbox."""

    mail: MailData


@event("mail.read", lesson="s09", sentence="{by} reads {ids:message}.")
class MailRead:
    """An agent has taken messages out of its inbox."""

    ids: tuple[str, ...]
    by: str

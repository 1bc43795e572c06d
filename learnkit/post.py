"""One agent's post: what it is told of its mail, and what of that is safe.

Mail is told as text behind results. When the message that carries it stands in the agent's
transcript, the place in the inbox moves: an agent that is killed before is told again, and one that
is killed after is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnkit.mailbox import Inbox, Mail, Mailbox
from learnkit.store import Journal

if TYPE_CHECKING:
    from learnkit.agent import Agent


class Post:
    """The inbox and the transcript of one agent.

    Args:
        mailbox: where its inbox is; is opened if it is not there.
        agent: whose post it is.
        transcript: the journal of its messages.
    """

    def __init__(self, mailbox: Mailbox, agent: Agent, transcript: Journal) -> None:
        mailbox.open(agent.name)
        entries, _ = transcript.read()
        seen = [id for entry in entries for id in entry.get("mail", [])]
        self.inbox = Inbox(mailbox, agent.name, seen)
        self._agent, self._transcript = agent, transcript
        self._told: list[str] = []
        self._kept = len(agent.events)

    def told(self) -> str | None:
        """What has come, as text for the model; None if nothing has."""
        mail = self.inbox.take()
        if not mail:
            return None
        ids = [one.id for one in mail]
        self._told += ids
        self._agent.emit("mail.read", ids=ids, by=self._agent.name)
        return "\n".join(["<inbox>", *map(_letter, mail), "</inbox>"])

    def keep(self) -> None:
        """Write the messages that are new into the transcript; then what was told is safe."""
        events = self._agent.events
        new = [
            {"message": event.data["message"]}
            for event in events[self._kept :]
            if event.type == "message.added" and event.lane == self._agent.name
        ]
        self._kept = len(events)
        if self._told and new:
            new[-1]["mail"], self._told = self._told, []
        if new:
            self._transcript.append(*new)
        if not self._told:
            self.inbox.commit()


def _letter(mail: Mail) -> str:
    """A message for reading; it may say anything, but not end the frame around it."""
    content = mail.content.replace("</inbox", "</ inbox").replace("</message", "</ message")
    request = mail.more.get("request_id")
    about = f' request_id="{request}"' if request else ""
    head = f'<message id="{mail.id}" from="{mail.sender}" type="{mail.type}"{about}>'
    return f"{head}\n{content}\n</message>"

"""One agent's post: what it is told of its mail, and what of that is safe.

Mail is told as text behind results. When the message that carries it stands in the agent's
transcript, the place in the inbox moves: an agent that is killed before is told again, and one that
is killed after is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from learnkit.backends.files.mailbox import Mail
from learnkit.backends.files.store import Journal
from learnkit.core.content import clean

if TYPE_CHECKING:
    from learnkit.backends.interface import MailBackend
    from learnkit.core.agent import Agent


class Post:
    """The inbox and the transcript of one agent.

    Args:
        mailbox: where its inbox is; is opened if it is not there.
        agent: whose post it is.
        transcript: the journal of its messages.
    """

    def __init__(self, mailbox: MailBackend, agent: Agent, transcript: Journal) -> None:
        mailbox.open(agent.name)
        entries, _ = transcript.read()
        seen = [id for entry in entries for id in entry.get("mail", [])]
        self.inbox = mailbox.reader(agent.name, seen)
        self._agent, self._transcript = agent, transcript
        self._told: list[tuple[list[str], str]] = []  # ids and text of what is not yet safe
        self._kept = len(agent.events)

    def told(self) -> str | None:
        """What has come, as text for the model; None if nothing has."""
        with self._agent.events.ordered():
            mail = self.inbox.take()
            if not mail:
                return None
            ids = [one.id for one in mail]
            text = clean("\n".join(["<inbox>", *map(_letter, mail), "</inbox>"]))
            self._told.append((ids, text))
            self._agent.emit("mail.read", ids=ids, by=self._agent.name)
        return text

    def keep(self) -> None:
        """Write the messages that are new into the transcript; what was told in them is safe.

        To be called when no text is on its way into a message. What was told and stands in none of
        them got lost there, because something failed; it goes back, and will be told again.
        """
        events = self._agent.events
        new = [
            {"message": event.data["message"], **self._safe_with(event.data["message"])}
            for event in events[self._kept :]
            if event.type == "message.added" and event.lane == self._agent.name
        ]
        self._kept = len(events)
        if new:
            self._transcript.append(*new)
        lost = [id for ids, _ in self._told for id in ids]
        self._told = []
        if lost:
            self.inbox.put_back(lost)
        else:
            self.inbox.commit()

    def _safe_with(self, message: dict[str, Any]) -> dict[str, list[str]]:
        """The ids of the mail that a message tells, which need not be told again."""
        if not self._told or message["role"] != "user":
            return {}
        texts = list(_texts(message["content"]))
        safe = [one for one in self._told if any(one[1] in text for text in texts)]
        self._told = [one for one in self._told if one not in safe]
        return {"mail": [id for ids, _ in safe for id in ids]} if safe else {}


def _texts(content: Any) -> Iterator[str]:
    """All texts of a message, those in results too."""
    if isinstance(content, str):
        yield content
    else:
        for block in content:
            yield from _texts(block.get("text") or block.get("content") or "")


def _letter(mail: Mail) -> str:
    """A message for reading; it may say anything, but neither end nor begin a frame of ours."""
    content = re.sub(r"<(?=/?(inbox|message))", "< ", mail.content)
    request = mail.more.get("request_id")
    about = f' request_id="{request}"' if request else ""
    head = f'<message id="{mail.id}" from="{mail.sender}" type="{mail.type}"{about}>'
    return f"{head}\n{content}\n</message>"

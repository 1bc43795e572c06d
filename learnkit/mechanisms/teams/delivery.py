"""Delivery: how the messages in an inbox get into an agent's conversation, and when they are safe.

Messages are delivered as text after tool results. Only when the message that carries them is in the
agent's transcript does the cursor in the inbox move. An agent that is killed before gets them again
when it comes back; one that is killed after does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from learnkit.backends.files.store import Journal
from learnkit.backends.mail import Mail
from learnkit.core.content import clean
from learnkit.core.frames import INBOX, MESSAGE, attribute, defused
from learnkit.events.mail import MailRead
from learnkit.runtime.interrupts import uninterrupted

if TYPE_CHECKING:
    from learnkit.backends.interface import MailBackend
    from learnkit.core.agent import Agent


class Delivery:
    """Takes messages out of one agent's inbox, and keeps the agent's transcript."""

    def __init__(
        self,
        mailbox: MailBackend,
        agent: Agent,
        transcript: Journal,
        *,
        arrived: Callable[[Mail], object] = lambda mail: None,
    ) -> None:
        mailbox.open(agent.name)
        entries, _ = transcript.read()
        lists = (entry.get("mail") for entry in entries)
        seen = [id for ids in lists if isinstance(ids, list) for id in ids if isinstance(id, str)]
        self.inbox = mailbox.reader(agent.name, seen)
        self._agent, self._transcript, self._arrived = agent, transcript, arrived
        self._unsafe: list[tuple[list[str], str]] = []  # ids and text of what is not yet safe
        self._kept = len(agent.events)

    def deliver(self) -> str | None:
        """Take the new messages, and return them as text for the model; None if there are none."""
        with self._agent.events.ordered():
            with uninterrupted():  # what is taken and not noted would be lost
                new = self.inbox.take()
                if not new:
                    return None
                ids = [one.id for one in new]
                text = clean("\n".join([f"<{INBOX}>", *map(_as_text, new), f"</{INBOX}>"]))
                self._unsafe.append((ids, text))
            for one in new:
                self._arrived(one)
            self._agent.emit(MailRead(ids=tuple(ids), by=self._agent.name))
        return text

    def keep(self) -> None:
        """Write the agent's new messages into the transcript, and commit the mail in them.

        Call this when all mail that was taken should be in a message. If an error has kept some of
        it out, that mail goes back into the inbox, and is delivered again.
        """
        with uninterrupted():  # what is written counts as kept, and nothing else does
            events, unsafe = self._agent.events, list(self._unsafe)
            kept = len(events)
            new = [
                {"message": event.data["message"], **_safe_with(event.data["message"], unsafe)}
                for event in events[self._kept : kept]
                if event.type == "message.added" and event.lane == self._agent.name
            ]
            if new:
                self._transcript.append(*new)
            self._kept, self._unsafe = kept, []
            lost = [id for ids, _ in unsafe for id in ids]
            if lost:
                self.inbox.put_back(lost)
            else:
                self.inbox.commit()


def _safe_with(
    message: dict[str, Any], unsafe: list[tuple[list[str], str]]
) -> dict[str, list[str]]:
    """The ids of what a message delivers, under the transcript's key; it is not unsafe any more."""
    if not unsafe or message["role"] != "user":
        return {}
    texts = list(_texts(message["content"]))
    safe = [one for one in unsafe if any(one[1] in text for text in texts)]
    unsafe[:] = [one for one in unsafe if one not in safe]
    return {"mail": [id for ids, _ in safe for id in ids]} if safe else {}


def _texts(content: Any) -> Iterator[str]:
    """All texts of a message, those in results too."""
    if isinstance(content, str):
        yield content
    else:
        for block in content:
            yield from _texts(block.get("text") or block.get("content") or "")


def _as_text(mail: Mail) -> str:
    """A message for the model; it may say anything, but neither end nor begin a frame of ours."""
    fields = {"id": mail.id, "from": mail.sender, "type": mail.type}
    if request := mail.more.get("request_id"):
        fields["request_id"] = request
    head = " ".join(f'{name}="{attribute(str(value))}"' for name, value in fields.items())
    return f"<{MESSAGE} {head}>\n{defused(mail.content)}\n</{MESSAGE}>"

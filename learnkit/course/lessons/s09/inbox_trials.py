"""Lesson 9's trials: two processes, a writer and a reader, share an inbox.

The learner's inbox has ``send(text)`` and ``drain()``. :class:`Safe` gives the package's mailbox
the same two methods, so that both go through the same trials.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from learnkit.backends.files.mailbox import Inbox, Mailbox
from learnkit.course.lessons.s07.processes import in_turns


class Safe:
    """The package's mailbox with one reader.

    Args:
        folder: of the mailbox.
        pause: called between reading and committing.
    """

    def __init__(self, folder: Path, pause: Callable[[], object] = lambda: None) -> None:
        self._box, self.pause = Mailbox(folder), pause
        self._box.open("alice")
        self._inbox = Inbox(self._box, "alice")

    def send(self, text: str) -> None:
        """Put a message into the inbox.

        Args:
            text: its content.
        """
        self._box.send("bob", "alice", text)

    def take(self) -> list[str]:
        """Return the new messages, which stay new until they are committed."""
        return [one.content for one in self._inbox.take()]

    def commit(self) -> None:
        """Move the cursor past the messages that were taken."""
        self._inbox.commit()

    def drain(self) -> list[str]:
        """Return the new messages, and commit them."""
        mail = self.take()
        self.pause()
        self.commit()
        return mail


_WRITER = "until('read'); board.send('second message'); reached('written')"
_READER = """
board.send('first message')
board.pause = lambda: (reached('read'), until('written'))
first = board.drain()
board.pause = lambda: None
print(first + board.drain())
"""


def write_while_it_reads(inbox: type, folder: Path) -> str:
    """Let a process write a message just after another one has read the file.

    Args:
        inbox: a class with ``send``, ``drain`` and ``pause``, which ``drain`` calls after reading.
        folder: of the inbox, empty.

    Returns:
        The messages that the reader got, of the two that were sent.
    """
    return in_turns(inbox, folder, [_READER, _WRITER])[0]

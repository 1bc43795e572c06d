"""Lesson 9's trials: several writers and one reader share an inbox, on simulated time.

The learner's inbox has ``send(text)`` and ``drain()``. :class:`Safe` gives the package's mailbox
the same two methods, so that both go through the same trials.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.backends.files.mailbox import Inbox, Mailbox
from learnkit.course.lessons.s07.processes import in_turns
from learnkit.runtime.virtual_clock import VirtualClock


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of one run.

    Attributes:
        sent: how many messages were sent.
        read: how many different messages the reader got.
        lost: how many it never got.
        twice: how many it got more than once.
    """

    sent: int
    read: int
    lost: int
    twice: int


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

    def drain(self) -> list[str]:
        """Return the new messages, and commit them."""
        mail = self.take()
        self.pause()
        self._inbox.commit()
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


def deliveries(
    make: Callable[[Path, Callable[[], None]], Any],
    seeds: Iterable[int],
    *,
    writers: int = 3,
    each: int = 6,
    pause: float = 0.1,
) -> list[Delivery]:
    """Let several writers send messages while one reader drains the inbox once a second.

    Args:
        make: makes an inbox from its folder and a ``pause``, which the inbox calls between reading
            the file and its next step.
        seeds: one run each.
        writers: how many.
        each: how many messages each of them sends; each one comes within a second.
        pause: how long the inbox's ``pause`` lasts, in virtual seconds.
    """
    return [_delivery(make, seed, writers, each, pause) for seed in seeds]


def _delivery(
    make: Callable[..., Any], seed: int, writers: int, each: int, pause: float
) -> Delivery:
    with tempfile.TemporaryDirectory() as name, VirtualClock(seed=seed + 1) as clock:
        chance = random.Random(seed)
        inbox = make(Path(name), lambda: clock.sleep(pause) and None)
        waits = [[chance.random() for _ in range(each)] for _ in range(writers)]

        def write(number: int) -> None:
            for place, wait in enumerate(waits[number]):
                clock.sleep(wait)
                inbox.send(f"message {number}.{place}")

        at_work = [clock.spawn(f"writer {n}", write, n) for n in range(writers)]
        got: list[str] = []
        while not all(worker.done for worker in at_work):
            clock.sleep(1)
            got += inbox.drain()
        got += inbox.drain()
    sent, read = writers * each, len(set(got))
    return Delivery(sent, read, sent - read, len(got) - read)

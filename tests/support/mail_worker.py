"""What the processes of tests/backends/test_mailbox.py do."""

from __future__ import annotations

from pathlib import Path

from threads import all_at_once

from learnkit.backends.files.mailbox import Inbox, Mailbox
from learnkit.backends.files.store import Journal


def write(folder: Path, name: str, each: int) -> None:
    """Two threads write to alice and to bob; now and then one writes to everybody."""
    box = Mailbox(folder)

    def work(thread: int) -> None:
        for number in range(each):
            to = ("alice", "bob")[number % 2]
            box.send(name, to, f"{name}-{thread}-{number}")
            if number % 10 == 0:
                box.broadcast(name, f"{name}-{thread}-{number}-all")

    all_at_once(work, 0, 1)


def read(folder: Path, name: str, *, to_the_end: bool = False) -> None:
    """Write what comes into a transcript, for ever or until nothing is left."""
    transcript = Journal(folder / "transcripts" / f"{name}.jsonl")
    inbox = Inbox(Mailbox(folder), name, seen=[entry["id"] for entry in transcript.read()[0]])
    while True:
        mail = inbox.take()
        transcript.append(*(one.to_json() for one in mail))
        inbox.commit()
        if to_the_end and not mail:
            return

"""What the processes of tests/backends/test_mailbox.py do.

``python mail_worker.py ROLE FOLDER ...``
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from learnkit.backends.files.mailbox import Inbox, Mailbox
from learnkit.backends.files.store import Journal


def write(box: Mailbox, name: str, each: int) -> None:
    """Two threads write to alice and to bob; now and then one writes to everybody."""

    def work(thread: int) -> None:
        for number in range(each):
            to = ("alice", "bob")[number % 2]
            box.send(name, to, f"{name}-{thread}-{number}")
            if number % 10 == 0:
                box.broadcast(name, f"{name}-{thread}-{number}-all")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def read(box: Mailbox, name: str, until: str = "") -> None:
    """Write what comes into a transcript, for ever or until nothing is left."""
    transcript = Journal(box.folder / "transcripts" / f"{name}.jsonl")
    inbox = Inbox(box, name, seen=[entry["id"] for entry in transcript.read()[0]])
    while True:
        mail = inbox.take()
        transcript.append(*(one.to_json() for one in mail))
        inbox.commit()
        if until and not mail:
            return


if __name__ == "__main__":
    role, folder, name, *rest = sys.argv[1:]
    if role == "write":
        write(Mailbox(Path(folder)), name, int(rest[0]))
    else:
        read(Mailbox(Path(folder)), name, *rest)

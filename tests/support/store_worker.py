"""What the processes of tests/backends/test_store.py do.

``python store_worker.py ROLE FOLDER ...``
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from learnkit.backends.files.store import Document, Journal, Reader


def write(folder: Path, name: str, threads: int, each: int) -> None:
    """Several threads append messages, and count each in a document."""
    journal, counter = Journal(folder / "inbox.jsonl"), Document(folder / "counter.json")

    def work(thread: int) -> None:
        for number in range(each):
            journal.append({"id": f"{name}-{thread}-{number}", "text": "grüße " * (number % 7)})
            with counter.change({"n": 0, "by": {}}) as count:
                count["n"] += 1
                count["by"][name] = count["by"].get(name, 0) + 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def read(folder: Path, until: str = "") -> None:
    """Take what comes into a transcript, each id once; for ever, or until nothing is left."""
    inbox = Reader(Journal(folder / "inbox.jsonl"), folder / "place.json")
    transcript, counter = Journal(folder / "transcript.jsonl"), Document(folder / "counter.json")
    seen = {entry["id"] for entry in transcript.read()[0]}
    while True:
        pending = inbox.pending()
        new = [entry for entry in pending if entry["id"] not in seen]
        transcript.append(*new)
        seen |= {entry["id"] for entry in new}
        inbox.commit()
        counter.read()  # a torn one would raise
        if until and not pending:
            return


def append(folder: Path) -> None:
    """Append long lines until killed."""
    journal, number = Journal(folder / "inbox.jsonl"), 0
    while True:
        journal.append({"id": number, "text": "x" * 200_000})
        number += 1


if __name__ == "__main__":
    role, folder, *rest = sys.argv[1:]
    if role == "write":
        write(Path(folder), rest[0], int(rest[1]), int(rest[2]))
    elif role == "read":
        read(Path(folder), *rest)
    else:
        append(Path(folder))

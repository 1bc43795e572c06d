"""Plant the faults that an author of this package would really make, and see a test fail for each.

Run by hand, and every night::

    python -m tests.tools.semantic_faults                     every fault, against its own test
    python -m tests.tools.semantic_faults --room core --all   against all the tests of its room

These faults change what the code *means*: a result that is dropped, another agent's bill, a lock
that is forgotten. Each is a row in ``faults/ROOM.yaml``:

    - slip: an empty reply ends the run with the wrong reason     what a user would notice
      file: learnkit/core/agent.py
      old: self._end("end_turn")                                  must occur once in the file
      new: self._end(reason)
      by: author                                                  who chose it: author, or stranger
      found_by: tests/core/test_agent.py::test_an_empty_reply     what fails with the fault in place

A fault that no test finds has no ``found_by``, and says in ``why`` what keeps it from being found.
"""

from __future__ import annotations

import argparse
import contextlib
import queue
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.tools.tree_copy import ROOT, WARM, Copy

LISTS = Path(__file__).parent / "faults"
#: The tests of a room, where they are more than the folder of its name.
TESTS = {
    "backends": "tests/backends tests/postgres",
    "events": "tests/core tests/views",
    "runtime": "tests/runtime tests/sandbox",
    "terminal": "tests/terminal tests/trial",
    "harness": "tests/test_harness.py",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticFault:
    """One row of a list: a change of a module's meaning."""

    room: str
    slip: str
    file: str
    old: str
    new: str
    by: str
    found_by: str = ""
    why: str = ""

    def planted(self, source: str) -> str:
        """The source with the fault in it."""
        if source.count(self.old) != 1:
            raise ValueError(f"{self.file} has {source.count(self.old)} times: {self.old}")
        return source.replace(self.old, self.new)


def read_faults(folder: Path = LISTS) -> list[SemanticFault]:
    """Every listed fault, room by room."""
    return [
        SemanticFault(room=path.stem, **row)
        for path in sorted(folder.glob("*.yaml"))
        for row in yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    ]


def survivors(
    faults: Sequence[SemanticFault],
    *,
    all_tests: bool = False,
    jobs: int = 1,
    limit: float = 600,
    root: Path = ROOT,
    warm: Sequence[str] = WARM,
) -> list[SemanticFault]:
    """The faults that the tests do not find, each planted in a scratch copy of the tree."""

    def survives(fault: SemanticFault) -> bool:
        copy = copies.get()
        try:
            tests = [fault.found_by] if fault.found_by else []
            if all_tests:
                tests.append(TESTS.get(fault.room, f"tests/{fault.room}"))
            change = fault.planted
            survived = all(copy.passes(fault.file, change, some, limit) for some in tests)
        finally:
            copies.put(copy)
        print(f"{'SURVIVED' if survived else 'found   '}  {fault.file}: {fault.slip}", flush=True)
        return survived

    copies: queue.Queue[Copy] = queue.Queue()
    with contextlib.ExitStack() as stack:
        scratch = tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(scratch))
        for number in range(jobs):
            copies.put(copy := Copy(root, folder / f"tree{number}", warm))
            stack.callback(copy.close)
        outcomes = list(ThreadPoolExecutor(jobs).map(survives, faults))
    return [fault for fault, survived in zip(faults, outcomes, strict=True) if survived]


def table(faults: Sequence[SemanticFault], survived: Sequence[SemanticFault]) -> str:
    """How many were planted and survived in each room, by who chose them, as a Markdown table."""
    rows = ["| room | author: planted | survived | stranger: planted | survived |"]
    rows.append("| --- | --: | --: | --: | --: |")
    for room in [*dict.fromkeys(fault.room for fault in faults), "all"]:
        counts = [
            str(sum(fault.by == by and room in (fault.room, "all") for fault in some))
            for by in ("author", "stranger")
            for some in (faults, survived)
        ]
        rows.append(f"| {room} | {' | '.join(counts)} |")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from a shell; 1 if a fault survived that a test should find."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--room", action="append", help="may be given several times")
    parser.add_argument("--match", default="", help="only faults with this text in file or slip")
    parser.add_argument("--by", choices=("author", "stranger"))
    parser.add_argument("--all", action="store_true", help="all the tests of the room")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds for one fault")
    given = parser.parse_args(arguments)
    faults = [
        fault
        for fault in read_faults()
        if (not given.room or fault.room in given.room)
        and given.match in f"{fault.file} {fault.slip}"
        and given.by in (None, fault.by)
    ]
    survived = survivors(faults, all_tests=given.all, jobs=given.jobs, limit=given.limit)
    print(f"\n{table(faults, survived)}")
    return 1 if any(fault.found_by for fault in survived) else 0


if __name__ == "__main__":
    sys.exit(main())

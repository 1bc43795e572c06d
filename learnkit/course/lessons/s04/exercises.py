"""Lesson 4's exercises: what is wrong with an answer."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Verdict


def check_short_report(short_report: Any) -> Verdict:
    """Hand in reports of two children, short and long."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as name:
        folder = Path(name)
        first, second = (SimpleNamespace(name=f"lead.{n}", folder=folder) for n in (1, 2))
        for short in ("It is there.", "x" * 400):
            if (got := short_report(first, short)) != short:
                return (
                    f"a report of {len(short)} characters should reach the parent as it is; "
                    f"it got {len(got)} characters"
                )
        texts = [f"{n}: {word} " * 60 for n, word in enumerate(("one", "reading", "missing"))]
        for child, text in zip((first, second, second), texts, strict=True):
            got = short_report(child, text)
            about = f"of a report of {len(text)} characters, the parent got"
            if len(got) > 400:
                return f"{about} {len(got)} characters; it should get at most 400"
            if not got.startswith(text[:20]):
                return f"{about} {got[:40]!r}: it should begin as the report does"
            files = {path.name: path.read_text("utf-8").strip() for path in folder.rglob("*.*")}
            whole = [name for name, found in files.items() if found == text.strip()]
            if not whole:
                return "no file in child.folder holds the whole of a long report"
            if not any(name in got for name in whole):
                return f"the parent's text doesn't name {whole[0]}, which holds the report"
        if texts[0].strip() not in files.values():
            return "two children wrote to the same file, and the first one's report is gone"
    return None


def check_batches(batches: Any) -> Verdict:
    """Compare with every pair of tasks that write one file, and with the number that is needed."""
    for files, needed in (
        (("a", "b", "c"), 1),
        (("a", "a"), 2),
        ((), 0),
        (("a", "b", "ab", "c"), 2),
        (("a", "a", "b", "b"), 2),
        (("ab", "bc", "c"), 3),
    ):
        tasks: list[dict[str, Any]] = [
            {"id": n, "files": {*names}} for n, names in enumerate(files, start=1)
        ]
        about = f"for tasks that write {', '.join(' and '.join(one) for one in files) or 'nothing'}"
        got = batches([dict(task) for task in tasks])
        place = {task["id"]: n for n, batch in enumerate(got) for task in batch}
        if sorted(task["id"] for batch in got for task in batch) != [task["id"] for task in tasks]:
            return f"{about}, not every task is in one batch: {_ids(got)}"
        for one, other in combinations(tasks, 2):
            if one["files"] & other["files"] and place[one["id"]] >= place[other["id"]]:
                pair = f"tasks {one['id']} and {other['id']} write one file"
                return f"{about}, {pair}, and should run one after the other: {_ids(got)}"
        if len(got) > needed:
            return f"{about}, {needed} would do; it makes {len(got)} batches: {_ids(got)}"
    return None


def _ids(got: list[list[Any]]) -> str:
    return ", then ".join(" + ".join(str(task["id"]) for task in batch) or "none" for batch in got)

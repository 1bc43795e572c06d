"""Lesson 11's exercises: what is wrong with an answer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import short

_STORM = "Storm tonight."


def check_warn(warn: Any) -> Verdict:
    """Call it as teammates do that can't know what others have done, and look into the folder."""
    with tempfile.TemporaryDirectory(prefix="learnkit-") as name:
        outbox, there = Path(name), {"oslo-harbour-by-charlie.txt": _STORM}
        (outbox / "oslo-harbour-by-charlie.txt").write_text(_STORM)
        for station, who, wanted, why in (
            ("oslo", "alice", True, "only oslo-harbour has been warned"),
            ("oslo", "bob", False, "alice has warned oslo"),
            ("oslo", "alice", False, "she has warned oslo herself"),
            ("cairo", "bob", True, "nobody has warned cairo"),
        ):
            found = warn(station, who, outbox)
            if wanted:
                there[f"{station}-by-{who}.txt"] = _STORM
            said = f"warn({station!r}, {who!r}, outbox)"
            files = {path.name: path.read_text().strip() for path in outbox.iterdir()}
            if files != there:
                return (
                    f"after {said}, the outbox holds {', '.join(sorted(files))}. "
                    f"It should hold {', '.join(sorted(there))}, because {why}."
                )
            if found is not wanted:
                return f"{said} returned {short(found)}. It should return {wanted}: {why}."
    return None


def check_leases(Leases: Any) -> Verdict:
    """Check that claims expire unless they are renewed."""
    leases = Leases(lasts=60)
    for method, id, who, now, wanted, why in (
        ("claim", 1, "alice", 0, True, "the task is free"),
        ("claim", 1, "bob", 59, False, "alice's claim holds until second 60"),
        ("claim", 2, "bob", 59, True, "it is another task, and free"),
        ("renew", 1, "alice", 59, True, "alice still owns it; it now holds until second 119"),
        ("claim", 1, "bob", 100, False, "alice renewed it at second 59, so it holds until 119"),
        ("renew", 1, "bob", 100, False, "bob doesn't own it"),
        ("claim", 1, "bob", 119, True, "alice's claim expired at second 119"),
        ("renew", 1, "alice", 121, False, "her claim expired, and bob owns the task now"),
        ("renew", 3, "alice", 121, False, "she never claimed it"),
        ("claim", 1, "carol", 178, False, "bob's claim holds until second 179"),
        ("renew", 1, "bob", 180, False, "his claim expired at 179; he has to claim it again"),
        ("claim", 1, "bob", 180, True, "it has no owner any more"),
    ):
        found = getattr(leases, method)(id, who, now)
        if bool(found) != wanted:
            said = f"{method}({id}, {who!r}, now={now})"
            return f"{said} returned {short(found)}. It should return {wanted}, because {why}."
    return None

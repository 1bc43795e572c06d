"""Sessions that were made up by this project's authors, and say so; no model wrote them."""

from __future__ import annotations

from pathlib import Path

from learnkit.errors import UsageError

#: What is said of each.
NOTE = "This session was made up by learnkit’s authors: no model wrote it, no server counted it."
#: The names of the samples; the first one is shown if none is named.
NAMES = ("thrash", "good", "subagents")


def path(name: str = "") -> Path:
    """The file of a sample."""
    if name and name not in NAMES:
        raise UsageError(f"there is no sample {name!r}; there are: {', '.join(NAMES)}")
    return Path(__file__).with_name(f"{name or NAMES[0]}.jsonl")

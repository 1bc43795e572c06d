"""What the descriptions of lesson 2's three tools leave open, and the runs that a model made.

The check looks for words: it can't read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from learnkit.clients.recordings.recording import Recording
from learnkit.course import files as course_files

#: What must be said, where, and what a model does that isn't told.
_TOLD: Sequence[tuple[str, str, str]] = (
    (
        "get",
        r"(?i)temperature|degree|celsius|°|\bwarm|\bhot",
        "nothing says that `get` gives a temperature, so 16.1 could be anything",
    ),
    (
        "get get2",
        r"(?i:lower|small)|uncapitali|\b(oslo|cairo|beijing)\b",
        "nothing says how to write a station's name, so the first call will be for “Oslo”, which "
        "gets error 2",
    ),
    (
        "get2",
        r"(?i)differ|change|compar|\bthan\b|since|delta|minus|warmer|colder|rise|rose",
        "from your `get2`, a model takes −1.4 for yesterday's temperature, and reports that Oslo "
        "is 17.5 °C warmer",
    ),
    (
        "get2",
        r"(?i)yesterday|\b24\b|day before|day ago|one day|last day|previous day|day earlier|daily",
        "`get2` compares two temperatures, and nothing says with which one: an hour ago, or a day",
    ),
    (
        "get2",
        r"(?i)warmer|hotter|colder|cooler|[+\u2212]|positive|negative|minus|subtract|rise|rose"
        r"|increase|decrease|(now|today|latest|last) -",
        "nothing says which way round `get2` subtracts: −1.4 may be warmer or colder",
    ),
    (
        "put",
        r"(?i)mail|message",
        "nothing says that `put` sends an email, so a model may look for another way, or give up",
    ),
)
_WHO = r"(recipient|receive|address|who\b|whom|gets it|sent to|reader|person|name|inbox|mailbox)"


def left_open(specs: Sequence[Mapping[str, Any]]) -> str:
    """Say what a model can't know from the descriptions of ``get``, ``get2`` and ``put``.

    Args:
        specs: of the three tools, as they are sent.
    """
    texts = {spec["name"]: spec["description"] or "" for spec in specs}
    for names, pattern, missing in _TOLD:
        if not re.search(pattern, " ".join(texts[name] for name in names.split())):
            return f"not yet: {missing}."
    first, second = next(s for s in specs if s["name"] == "put")["input_schema"]["properties"]
    who = {name: _is_recipient(name, texts["put"]) for name in (first, second)}
    if who[first] and not who[second]:
        return f"not yet: your `put` sends the mail to {first}, but the code sends it to {second}."
    if not who[second]:
        return (
            f"not yet: nothing says which argument of `put` is the recipient. A model that takes "
            f"{first} for it gets “ok”, and Bob gets nothing."
        )
    return "✓ Whoever reads these three can solve the puzzle. (This check only looks for words.)"


def _is_recipient(name: str, text: str) -> bool:
    """Whether a text says of an argument that it is whom a mail goes to."""
    if re.fullmatch(f"to|{_WHO}", name, re.IGNORECASE):
        return True
    told = rf"\bto [`']?{name}\b|\b{name}\b[^.;,\n]*?{_WHO}|{_WHO} (is|in|=) [`']?{name}\b"
    return re.search(told, text, re.IGNORECASE) is not None


def own_runs() -> dict[str, list[dict[str, Any]]]:
    """The messages of each run that a model made, in their order."""
    recording = Recording.load(course_files.recordings() / "model" / "s02.yaml")
    return {name: recording.messages(name) for name in recording.scenarios}

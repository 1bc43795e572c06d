"""Completion of what the user types: commands, and paths in the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from learnkit.events.text import clean

#: How many paths are offered at most.
OFFERED = 100

_WORD = re.compile(r"[^\s'\"`(]*\Z")
_COMMAND = re.compile(r"/[A-Za-z]*\Z")


def completions(
    before: str, commands: Mapping[str, str], folder: Path
) -> Iterable[tuple[str, int, str]]:
    """What may follow a text."""
    if _COMMAND.match(before):
        typed = before[1:].lower()
        return [
            (f"/{name}", len(before), f"/{name}  {purpose}")
            for name, purpose in commands.items()
            if name.startswith(typed)
        ]
    found = _WORD.search(before)
    word = found[0] if found else ""
    return list(islice(_paths(word, folder), OFFERED)) if word else ()


def _paths(word: str, folder: Path) -> Iterator[tuple[str, int, str]]:
    mark = "@" if word.startswith("@") else ""  # as other agents name a file
    path = word.removeprefix(mark)
    above, slash, name = path.rpartition("/")
    for entry in _listed(folder, above + slash):
        if not entry.name.startswith(name) or (entry.name.startswith(".") and not name):
            continue
        shown = entry.name + ("/" if entry.is_dir() else "")
        yield f"{mark}{above}{slash}{shown}", len(word), clean(shown)


def _listed(folder: Path, path: str) -> Sequence[Path]:
    """What is in a folder, in order; nothing if it cannot be read."""
    try:
        return sorted((folder / Path(path).expanduser()).iterdir())
    except (OSError, RuntimeError, ValueError):
        return ()

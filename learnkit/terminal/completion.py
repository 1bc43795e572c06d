"""Completion of what is typed: commands and the files that git knows, by any of their letters."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path

from prompt_toolkit.completion import (
    CompleteEvent,
    Completer,
    Completion,
    FuzzyCompleter,
    WordCompleter,
)
from prompt_toolkit.document import Document

from learnkit.runtime.git import preamble

#: How many files are looked at, completions offered; and seconds for which a list of files counts.
FILES, OFFERED, FRESH = 20_000, 100, 10.0

_WORD = r"^[^\s'\"`(@]+"
_NOTHING = re.compile("(?!)")  # a list is offered as a whole: what is around it chooses
_COMMAND = re.compile(r"/[\w-]*")


class Known(Completer):
    """What may follow: a command at the beginning, a file anywhere."""

    def __init__(self, commands: Mapping[str, str], folder: Callable[[], Path]) -> None:
        named = {f"/{name}": about for name, about in commands.items()}
        listed = WordCompleter([*named], meta_dict=named, pattern=_NOTHING)
        self._commands = FuzzyCompleter(listed, pattern=_WORD)
        listed = WordCompleter(self._paths, pattern=_NOTHING)
        self._files = FuzzyCompleter(listed, pattern=_WORD)
        self._folder = folder
        self._found: tuple[float, list[str]] = (-FRESH, [])

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The best completions of the word before the cursor."""
        before = document.text_before_cursor
        known = self._commands if _COMMAND.fullmatch(before) else self._files
        if before[-1:].strip():
            yield from islice(known.get_completions(document, complete_event), OFFERED)

    def _paths(self) -> list[str]:
        then, found = self._found
        if time.monotonic() - then > FRESH:
            names = islice(filter(str.isprintable, files(self._folder())), FILES)
            found = [f'"{one}"' if " " in one else one for one in names]
            self._found = time.monotonic(), found
        return found


def files(folder: Path) -> Iterable[str]:
    """The files of a folder: those that git does not ignore, or all that are not hidden."""
    command = f"{preamble()}\nexec git ls-files -coz --exclude-standard --deduplicate"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True
    )
    if done.returncode == 0:
        return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    return _walked(folder)


def _walked(folder: Path) -> Iterable[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield str(Path(place, name).relative_to(folder))

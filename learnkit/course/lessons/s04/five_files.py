"""Lesson 4's files: each says in its docstring which limit it needs, and none has it yet."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

#: Name of a file -> what it is about, its limit, and what its functions handle.
FILES = {
    "auth": ("Signing in and out", 5, "session"),
    "user": ("User profiles", 20, "profile"),
    "api": ("The HTTP endpoints", 100, "endpoint"),
    "models": ("The database models", 50, "record"),
    "tests": ("Helpers for the tests", 10, "fixture"),
}
_VERBS = ("find", "create", "update", "delete", "list", "count", "export", "archive")
_FUNCTION = '''

def {verb}_{noun}(store, key, **changes):
    """{title} one {noun}, and say what happened to it."""
    entry = store.get(key)
    if entry is None:
        return {{"status": "missing", "{noun}": key}}
    entry.update(changes)
    return {{"status": "{verb}", "{noun}": key, "fields": sorted(entry)}}
'''


def source(name: str) -> str:
    """Return the source of a file; `auth2` is another one like `auth`."""
    about, limit, noun = FILES[name.rstrip("0123456789")]
    head = f'"""{about}: at most {limit} requests a minute."""\n'
    return head + "".join(_FUNCTION.format(verb=v, noun=noun, title=v.title()) for v in _VERBS)


def write_files(workspace: Path, files: int = len(FILES)) -> list[Path]:
    """Write so many files into app/, and return their paths."""
    folder = workspace / "app"
    folder.mkdir()
    rounds = ("", *range(2, files))
    paths = [folder / f"{name}{n}.py" for n in rounds for name in FILES][:files]
    for path in paths:
        path.write_text(source(path.stem), encoding="utf-8")
    return paths


def limits(paths: Iterable[Path]) -> dict[str, tuple[int, int | None]]:
    """Read from the disk which limit each file needs, and which one it sets."""
    found = {}
    for path in paths:
        text, (_, limit, _) = path.read_text("utf-8"), FILES[path.stem.rstrip("0123456789")]
        number = re.search(r"^LIMIT = (\d+)$", text, re.MULTILINE)
        found[path.name] = limit, number and int(number[1])
    return found

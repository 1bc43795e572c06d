"""Writing a file so that it appears whole or not at all.

The new content goes to a temporary file beside the old one, and a rename puts it in place: who
reads sees the one or the other, also when the writer is killed in between. That holds for the
death of the process; after a power cut the last writes may be missing.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


def replace(path: str | Path, content: bytes | str, *, kind: str = "learnkit") -> None:
    """Replace a file with ``content``; one that exists keeps its permissions."""
    path = Path(path)
    partial = stage(path, content, kind=kind)
    try:
        partial.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()


def stage(path: str | Path, content: bytes | str, *, kind: str = "learnkit") -> Path:
    """Write the new content of a file beside it, so that only a rename is left to do.

    The disk has all the room that the change needs once this has returned: a rename takes none.
    """
    path = Path(path)
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    partial = path.with_name(f".{kind}-{os.urandom(8).hex()}.part")
    try:
        with partial.open("xb") as file:
            file.write(data)
            # The kernel's own stamps are milliseconds apart: two writes could look like one.
            now = time.time_ns()
            os.utime(file.fileno() if os.utime in os.supports_fd else partial, ns=(now, now))
        if path.exists():
            partial.chmod(path.stat().st_mode & 0o7777)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        raise
    return partial

"""``learnkit session``: sessions of agents on this machine, and one of them as a page."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePath

from learnkit.course import files as course_files
from learnkit.course.progress import lesson_progress
from learnkit.course.publish import repository
from learnkit.errors import UsageError
from learnkit.events.text import one_line
from learnkit.runtime import atomic_write
from learnkit.runtime.secret_scan import refuse_secrets
from learnkit.sessions import samples
from learnkit.sessions.findings import findings
from learnkit.sessions.page import page
from learnkit.sessions.read import list_sessions, open_session
from learnkit.sessions.redact import Redaction


def listed(columns: int) -> Iterator[Sequence[str]]:
    """Sessions on this machine as rows of a table that fits, the newest first."""
    for one in list_sessions():
        about, id = one.opened, one_line(one.id, 200)[:8]
        when = f"{datetime.fromtimestamp(one.modified).astimezone():%Y-%m-%d %H:%M}"
        where = one_line(PurePath(about.cwd).name or about.format, 18)
        # Two columns between two; 18, 7 and 11 for those whose others may be longer.
        first = one_line(about.title, max(columns - len(when) - len(id) - 18 - 7 - 11 - 10, 11))
        yield when, id, where, f"{one.turns:,}", f"{one.tokens:,}", first


def show(what: str, *, sample: bool, save: Path | None, keep_text: bool) -> Iterator[str]:
    """Draw a session as a page, and open or save it; say where it is and what was removed."""
    log = open_session(samples.path(what) if sample else what)
    found, notes = findings(log), list[str]()
    if save is not None:
        redaction = Redaction(keep_text=keep_text)
        log, found = redaction.log(log), [redaction.finding(one) for one in found]
        notes = list(redaction.sentences())
    html = page(log, found, lessons=_lessons(), notes=notes, above=samples.NOTE * sample)
    if save is None:
        path = Path(tempfile.mkdtemp(prefix="learnkit-session-")) / "session.html"
        path.write_text(html, "utf-8")
        opened = webbrowser.open(path.as_uri())
        yield f"{'' if opened else 'No browser could be opened; the page is '}{path}"
        return
    if save.is_dir():
        raise UsageError(f"{save} is a folder; name a file, such as {save / 'session.html'}")
    refuse_secrets(html)
    atomic_write.replace(save, html)
    yield from [*notes, f"Saved: {save}"]


def _lessons() -> dict[str, tuple[str, str]]:
    """Title and address of each lesson."""
    address = f"{repository.address()}/blob/HEAD/notebooks"
    return {
        one.file[:3]: (one.lesson.title, f"{address}/{one.file}")
        for one in lesson_progress(course_files.notebooks())
    }

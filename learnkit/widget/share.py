"""Share a run as one HTML file whose views can be scrubbed in any browser.

The file has everything that the log has, drawn with the views of the course. It loads nothing, and
needs neither Python nor a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError
from learnkit.events.text import count
from learnkit.runtime import atomic_write as files
from learnkit.views.drawing.text import esc

#: Views by name, with the prefixes of the event types that call for each.
CALLED = (
    ("Team", ("team.",)),
    ("Traffic", ("mail.",)),
    ("Messages", ("message.",)),
    ("Contexts", ("subagent.",)),
    ("Todo", ("todo.",)),
    ("Skills", ("skill.",)),
    ("Compaction", ("compaction.",)),
    ("Tasks", ("task.", "board.")),
    ("Timeline", ("job.",)),
    ("Protocol", ("request.",)),
    ("Worktrees", ("worktree.",)),
    ("Tokens", ("model.replied",)),
)


def share(run: Any, path: str | Path, *, title: str = "A run of an agent") -> Path:
    """Write a run as one HTML file with its views, each with a slider of its own.

    Args:
        run: an event log, anything that has one as ``events`` (an agent, a scenario's run), a
            view, or a list of views.
        path: of the file; one that exists is replaced.
        title: the page's heading.

    Returns:
        The path.

    Raises:
        UsageError: for something that has no events, or an empty log.
        SecretError: if the run holds what looks like a secret; nothing is written then.
    """
    from learnkit.runtime.secret_scan import refuse_secrets
    from learnkit.widget import frozen

    views = views_of(run)
    # As the log has them: a page cuts, wraps and escapes what it shows.
    refuse_secrets({"title": title, "log": [event.data for view in views for event in view.events]})
    parts = "".join(
        f"<section><h2>{esc(_heading(v))}</h2>{frozen.tape(v)}</section>" for v in views
    )
    events = max(len(view.events) for view in views)
    note = (
        f"{count(events, 'event')}. Space plays, the arrow keys step. Everything here is text that "
        "an agent, its tools or its user wrote; look through it before you pass it on."
    )
    body = f"<main><h1>{esc(title)}</h1><p>{note}</p>{parts}</main>"
    text = frozen.page(title, f"{body}<footer>Made with learnkit.</footer>")
    refuse_secrets(text)
    files.replace(path, text)
    return Path(path)


def views_of(run: Any) -> list[Any]:
    """The views that show a run."""
    from learnkit import views
    from learnkit.views.drawing.base import View

    given = [run] if isinstance(run, View) else run
    if isinstance(given, Sequence) and given and all(isinstance(one, View) for one in given):
        return list(given)
    events = getattr(run, "events", run)
    try:
        types = {event.type for event in events}
    except (TypeError, AttributeError):
        raise UsageError(
            f"share needs an event log, an agent, a run or views, not {type(run).__name__}"
        ) from None
    lanes = {event.lane for event in events if event.type == "message.added"}
    made: list[Any] = []
    for name, beginnings in CALLED:
        if not any(type.startswith(beginnings) for type in types):
            continue
        view = getattr(views, name)
        if name == "Messages" and len(lanes) > 1:  # one array each
            made += [view(events, lane=lane) for lane in sorted(lanes, key=_first)]
        else:
            made.append(view(events))
    if not made:
        raise UsageError("the log is empty: run the agent first, then share it")
    return made


def _first(lane: str) -> tuple[bool, str]:
    return lane != "lead", lane


def _heading(view: Any) -> str:
    name: str = view.name[:1].upper() + view.name[1:]
    return f"{name} of {view.lane}" if view.lane else name

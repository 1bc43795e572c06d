"""Frames: tags with which the harness marks what it puts into a conversation.

Mail, the output of a job, a task or a summary stands between two of them, as in ``<inbox>`` and
``</inbox>``. Such a text comes from elsewhere and may say anything, but it must not end its own
frame or begin another one: the model would take the rest for the harness's words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: The tags of all frames.
FRAMES = (
    *("inbox", "message", "background-results", "auto-claimed", "reminder", "identity"),
    *("todo", "tasks", "summary", "request", "earlier", "skill"),
    *("conversation", "goal", "background"),
)


def defused(text: str, frames: Sequence[str] = FRAMES) -> str:
    """Return a text in which no tag of a frame is left: ``</inbox>`` becomes ``< /inbox>``.

    Upper and lower case count the same, and white space in the tag does not help. Any other text
    stays as it is, other tags included.
    """
    names = "|".join(map(re.escape, frames))
    return re.sub(rf"<(?=\s*(?:/\s*)?(?:{names})\b)(?! )", "< ", text, flags=re.IGNORECASE)


def attribute(value: str) -> str:
    """Return a text that cannot end the attribute, or the tag, that it stands in."""
    return re.sub(r'[<>"\s]', "_", value)

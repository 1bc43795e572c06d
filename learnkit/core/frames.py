"""Frames: tags with which the harness marks what it puts into a conversation.

Mail, the output of a job, a task or a summary stands between two of them, as in ``<inbox>`` and
``</inbox>``. Such a text comes from elsewhere and may say anything, but it must not end its own
frame or begin another one: the model would take the rest for the harness's words.

A mechanism writes its tags with a name that :func:`frame` has returned, so none is forgotten.
Learnkit's own are declared in this file: they are known whatever is imported, since a conversation
may be continued with other mechanisms. Any other counts from when its module is imported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from learnkit.errors import UsageError

#: The names of all frames that are declared so far.
FRAMES: list[str] = []


def frame(name: str) -> str:
    """Declare a frame, and return its name, to write its tags with.

    From then on no text can begin or end one: mail, the output of a job, a task, a result, a
    summary.

    Args:
        name: such as ``inbox``, for ``<inbox>`` and ``</inbox>``.

    Raises:
        UsageError: for a name with other signs than a to z, digits and hyphens.
    """
    if not re.fullmatch("[a-z][a-z0-9-]*", name):
        raise UsageError(f"{name!r} is no name of a frame; use a to z, digits and hyphens")
    if name not in FRAMES:
        FRAMES.append(name)
    return name


INBOX, MESSAGE = frame("inbox"), frame("message")
BACKGROUND_RESULTS, AUTO_CLAIMED = frame("background-results"), frame("auto-claimed")
REMINDER, IDENTITY, WORKTREE = frame("reminder"), frame("identity"), frame("worktree")
TODO_LIST, TASKS, SKILL = frame("todo"), frame("tasks"), frame("skill")
SUMMARY, SUMMARY_SO_FAR = frame("summary"), frame("summary-so-far")
REQUEST, ATTACHMENT = frame("request"), frame("attachment")
CONVERSATION, GOAL = frame("conversation"), frame("goal")
INSTRUCTIONS, ENVIRONMENT, HOOK = frame("instructions"), frame("environment"), frame("hook")
MEMORY, MCP = frame("memory"), frame("mcp")


def defused(text: str, frames: Sequence[str] = FRAMES) -> str:
    """Return a text in which no tag of a frame is left: ``</inbox>`` becomes ``< /inbox>``.

    Upper and lower case count the same, and white space in the tag does not help. Any other text
    stays as it is, other tags included.
    """
    names = "|".join(map(re.escape, frames))
    return re.sub(rf"<(?=\s*(?:/\s*)?(?:{names})\b)(?! )", "< ", text, flags=re.IGNORECASE)


def attribute(value: str) -> str:
    """Return a text that cannot end the attribute, or the tag, around it."""
    return re.sub(r'[<>"\s]', "_", value)

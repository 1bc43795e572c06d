"""What a test looks at in the log of a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from learnkit.events import loop
from learnkit.events.log import Event
from learnkit.events.vocabulary import read


def typed(log: Iterable[Event], kind: type, lane: str | None = None) -> list[Any]:
    """The events of a class."""
    found = ((event.lane, read(event)) for event in log)
    return [one for name, one in found if isinstance(one, kind) and lane in (None, name)]


def contents(log: Iterable[Event], lane: str = "lead") -> list[Any]:
    """The content of each message at the end, folded as a view folds it."""
    messages: list[dict[str, Any]] = []
    for event in log:
        match read(event) if event.lane == lane else None:
            case loop.MessageAdded(index=int(index), message=message):
                messages[index:] = [message]
            case loop.MessagesRewritten(messages=all):
                messages = list(all)
    return [message["content"] for message in messages]

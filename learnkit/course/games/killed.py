"""What kills an agent in a game, and a model that reacts to what it reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from learnkit.clients.scripted import Reply, say


class Killed(RuntimeError):
    """Ends an agent in the middle of its work, as a crash would."""


def when(*steps: tuple[str, Reply]) -> Callable[[Any], Reply]:
    """A model that reacts: it gives each reply once, when its text is in the last message."""
    left = list(steps)

    def answer(request: Any) -> Reply:
        said = str(request["messages"][-1]["content"])
        for step in left:
            if step[0] in said:
                left.remove(step)
                return step[1]
        return say("Nothing more to do.")

    return answer

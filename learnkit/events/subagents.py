"""The events of subagents."""

from __future__ import annotations

from learnkit.events.declaration import event
from learnkit.events.text import quoted


@event(
    "subagent.started",
    lesson="s04",
    sentence=lambda child: (
        f"A subagent of {child.parent} starts in a context of its own: "
        f"{quoted(child.description or child.prompt)}."
    ),
)
class SubagentStarted:
    """A subagent begins, in the lane of its own; ``call`` is the parent's call."""

    parent: str = "?"
    call: str = ""
    prompt: str = ""
    description: str = ""
    kind: str = ""
    inherited: int = 0


@event(
    "subagent.ended",
    lesson="s04",
    sentence="A subagent ends after {turns:turn}: of its ≈{tokens:,} tokens ≈{returned:,} go back.",
)
class SubagentEnded:
    """A subagent is done: ``tokens`` has the length of its array, ``returned`` its report's."""

    parent: str = "?"
    call: str = ""
    reason: str = ""
    turns: int = 0
    tokens: int = 0
    returned: int = 0

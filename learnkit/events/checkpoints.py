"""The events of checkpoints."""

from __future__ import annotations

from learnkit.events.declaration import event
from learnkit.events.text import listed


def _restored(back: CheckpointRestored) -> str:
    what = [*(["the conversation"] if back.conversation else []), *back.files]
    return f"Back before prompt {back.number}: {listed(what) if what else 'nothing'} restored."


@event("checkpoint.made", sentence="Checkpoint {number} is before {prompt:quoted}.")
class CheckpointMade:
    """A prompt begins: what the file tools change from now on is kept as it was."""

    number: int
    prompt: str = ""


@event("checkpoint.restored", sentence=_restored)
class CheckpointRestored:
    """The user has gone back to before a prompt; commands are not undone."""

    number: int
    files: tuple[str, ...] = ()
    conversation: bool = False

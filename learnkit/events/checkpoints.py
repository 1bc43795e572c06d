"""The events of checkpoints."""

from __future__ import annotations

from learnkit.events.declaration import event


@event("checkpoint.made", sentence="Checkpoint {number} is before {prompt:quoted}.")
class CheckpointMade:
    """A prompt begins: what the file tools change from now on is kept as it was."""

    number: int
    prompt: str = ""


@event(
    "checkpoint.restored",
    sentence="{files:file} of the workspace went back to before prompt {number}.",
)
class CheckpointRestored:
    """The user has gone back to before a prompt, perhaps in the conversation as well."""

    number: int
    files: tuple[str, ...] = ()
    conversation: bool = False

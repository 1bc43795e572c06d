"""The events of a memory."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event


@event(
    "memory.listed",
    sentence="{notes:note} are in memory; {shown} of them are listed in the system prompt.",
)
class MemoryListed:
    """A run begins with the index of the notes, whole or in part."""

    notes: int
    shown: int


_DONE = {"written": "written", "replaced": "changed", "deleted": "deleted", "viewed": "read"}


@event("memory.used", sentence=lambda note: f"The note {note.name} is {_DONE[note.action]}.")
class MemoryUsed:
    """The model has read a note, or changed one."""

    name: str
    action: Literal["written", "replaced", "deleted", "viewed"]

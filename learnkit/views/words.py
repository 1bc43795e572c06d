"""Header sentences: what happened at this step, in words, from the event alone."""

from __future__ import annotations

from learnkit.core import vocabulary
from learnkit.core.events import Event
from learnkit.core.sentences import ended, filled


def describe(event: Event) -> str:
    """Say what an event means, in one plain sentence; what cannot be read is named by its type."""
    known, typed = vocabulary.declaration(event.type), vocabulary.read(event)
    if known is None or typed is None:
        return ended(f"{event.type}.")
    sentence = known.sentence
    return ended(filled(sentence, typed) if isinstance(sentence, str) else sentence(typed))

"""Header sentences: what happened at this step, in words, from the event alone."""

from __future__ import annotations

from learnkit.events.log import Event
from learnkit.events.sentences import ended, filled
from learnkit.events.text import clean, one_line
from learnkit.events.vocabulary import declaration, read

#: Columns of the longest title, and of the longest line below one.
TITLE, BELOW = 80, 240


def title(text: str) -> str:
    """A finding that is read at a glance, however long the names in it are."""
    return ended(one_line(text, TITLE))


def below(*parts: str) -> str:
    """The line below a title: what else is worth saying, without what is empty."""
    return one_line(" ".join(filter(None, parts)), BELOW)


#: What an agent does by itself; the sentences of other events name who they are about.
_OWN = ("message", "model.", "tool.", "run.", "permission.", "race.")


def told(event: Event) -> str:
    """What an event means, with the agent's name where the sentence lacks it."""
    own = event.lane != "lead" and event.type.startswith(_OWN)
    return f"{clean(event.lane)}: {describe(event)}" if own else describe(event)


def describe(event: Event) -> str:
    """Say what an event means, in one plain sentence; what cannot be read is named by its type."""
    known, typed = declaration(event.type), read(event)
    if known is None or typed is None:
        return ended(f"{event.type}.")
    sentence = known.sentence
    return ended(filled(sentence, typed) if isinstance(sentence, str) else sentence(typed))

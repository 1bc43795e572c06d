"""One agent's skills as a fold over its events: which are listed, loaded and read, and their size.

This module has only names and numbers; ``skills`` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, ModelRequested
from learnkit.events.skills import SkillLoaded, SkillRead, SkillsListed
from learnkit.events.text import count
from learnkit.events.vocabulary import read


@dataclass(frozen=True, slots=True)
class Part:
    """Something of the skills in a request.

    Attributes:
        mark: the key of its mark: of the system prompt, or of a tool's result.
        name: what it is, in words.
        tokens: its length.
    """

    mark: str
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Stack:
    """The parts that one request had, or several in a row.

    Attributes:
        first: number of the first of these requests.
        last: number of the last one.
        parts: in the order in which the model reads them.
    """

    first: int
    last: int
    parts: tuple[Part, ...]

    @property
    def tokens(self) -> int:
        """All its parts together."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Shelf:
    """One agent's skills.

    Attributes:
        catalogue: tokens of all names and descriptions, in the system prompt.
        sizes: tokens of each skill's instructions, by name.
        preloaded: names of the skills whose instructions are in the system prompt.
        used: skill, file (empty for its instructions) and tokens of all that was loaded since the
            conversation began, in order.
        problems: why folders were left out.
        sent: what the requests had; the same in a row stands there once.
        requests: how many there were.
    """

    catalogue: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    preloaded: tuple[str, ...] = ()
    used: tuple[tuple[str, str, int], ...] = ()
    problems: tuple[str, ...] = ()
    sent: tuple[Stack, ...] = ()
    requests: int = 0

    @property
    def everything(self) -> int:
        """Tokens of all instructions."""
        return sum(self.sizes.values())

    @property
    def now(self) -> Stack:
        """What the next request will have."""
        parts = [Part("system", f"{count(len(self.sizes), 'skill')} listed", self.catalogue)]
        parts += [
            Part("injected", f"{name}, preloaded", self.sizes.get(name, 0))
            for name in self.preloaded
        ]
        parts += [Part("result", file or name, tokens) for name, file, tokens in self.used]
        number = self.requests + 1
        return Stack(number, number, tuple(part for part in parts if part.tokens))

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """What the requests had, and what the next one will have if that differs."""
        last = self.sent[-1].parts if self.sent else ()
        return self.sent if self.now.parts == last else (*self.sent, self.now)

    @property
    def loaded(self) -> set[str]:
        """The skills whose instructions are in the requests."""
        return {*self.preloaded, *(name for name, file, _ in self.used if not file)}


def grow(shelf: Shelf, event: Event) -> Shelf:
    """The shelf after an event; an equal one when nothing on it changed."""
    match read(event):
        case SkillsListed() as all:
            sizes = {name: max(size, 0) for name, size in all.skills.items()}
            listed = replace(shelf, catalogue=max(all.catalogue, 0), problems=all.problems)
            return replace(listed, sizes=sizes, preloaded=all.preloaded)
        case MessageAdded(index=0):
            # A new conversation doesn't have what the last one loaded.
            return replace(shelf, used=())
        case SkillLoaded(name=name, tokens=tokens):
            return replace(shelf, used=(*shelf.used, (name, "", max(tokens, 0))))
        case SkillRead(name=name, file=file, tokens=tokens):
            return replace(shelf, used=(*shelf.used, (name, file, max(tokens, 0))))
        case ModelRequested(purpose="conversation") if shelf.now.parts:
            sent, now = shelf.sent, shelf.now
            if sent and sent[-1].parts == now.parts:
                now, sent = replace(sent[-1], last=now.last), sent[:-1]
            return replace(shelf, sent=(*sent, now), requests=now.last)
    return shelf

"""One agent's skills as a fold over its events: which are listed, loaded and read, and their size.

This module has only names and numbers; ``skills`` draws them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.views.drawing import theme
from learnkit.views.drawing.theme import Mark
from learnkit.views.words import describe

#: How tokens are counted, beside the scale.
METHOD = "≈ tokens (chars / 4)"


@dataclass(frozen=True, slots=True)
class SkillRow:
    """One skill: the length of its instructions, and the parts of it that are in the messages."""

    name: str
    size: int = 0
    start: int = 0
    preloaded: bool = False
    loaded: tuple[int, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    @property
    def body(self) -> int:
        """Tokens of its instructions in the requests."""
        return sum(self.loaded) + (self.size if self.preloaded else 0)

    @property
    def read(self) -> int:
        """Tokens of its files in the requests."""
        return sum(tokens for _, tokens in self.files)

    @property
    def mark(self) -> Mark:
        """Loaded, preloaded or only listed."""
        return theme.DONE if self.loaded else theme.SYSTEM if self.preloaded else theme.PENDING

    @property
    def word(self) -> str:
        """Its state in words."""
        again = f" {len(self.loaded)}×" if len(self.loaded) > 1 else ""
        word = f"loaded{again}" if self.loaded else "preloaded" if self.preloaded else "listed"
        return f"{self.mark.glyph} {word}"

    @property
    def kind(self) -> str:
        """The style of its bar: ``got``, ``pre`` or ``list``."""
        return "got" if self.loaded else "pre" if self.preloaded else "list"

    @property
    def tokens(self) -> int:
        """Tokens to show beside the word: those in the requests, or what loading would add."""
        return self.body or self.size


@dataclass(frozen=True, slots=True)
class Shelf:
    """One agent's skills."""

    lane: str
    catalogue: int = 0
    rows: dict[str, SkillRow] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def everything(self) -> int:
        """Tokens of all instructions."""
        return sum(row.size for row in self.rows.values())

    @property
    def now(self) -> int:
        """Tokens in the requests: the catalogue, and everything that was loaded or read."""
        return self.catalogue + sum(row.body + row.read for row in self.rows.values())

    @property
    def longest(self) -> int:
        """The tokens that the scale has to fit."""
        ends = [row.start + row.tokens + row.read for row in self.rows.values()]
        return max([self.everything, self.now, *ends])

    @property
    def loaded(self) -> int:
        """How many skills have instructions in the requests."""
        return sum(bool(row.body) for row in self.rows.values())

    @property
    def gain(self) -> str:
        """Tokens saved compared with everything upfront, as a number and a share."""
        spared, whole = self.everything - self.now, self.everything
        share = f" ({100 * abs(spared) / whole:.0f} %)" if whole else ""
        return f"≈ {abs(spared):,} tokens {'spared' if spared >= 0 else 'more'}{share}"

    @property
    def share(self) -> str:
        """The share of all instructions that isn't sent, in percent; empty if there is none."""
        if self.now >= self.everything:
            return ""
        return f"{100 - 100 * self.now / self.everything:.0f} %"

    @property
    def parts(self) -> Iterator[tuple[str, int, int]]:
        """The parts of the requests, laid end to end: kind, start and length of each part."""
        yield "cat", 0, self.catalogue
        at = self.catalogue
        for row in self.rows.values():
            for part, length in ((row.kind, row.body), ("file", row.read)):
                yield part, at, length
                at += length

    @property
    def layers(self) -> list[tuple[Mark, str, int]]:
        """The requests by layer: mark, name and tokens; empty layers left out."""
        rows = self.rows.values()
        found = [
            (theme.SYSTEM, "1 catalogue", self.catalogue),
            (theme.SYSTEM, "2 preloaded", sum(row.body for row in rows if not row.loaded)),
            (theme.DONE, "2 loaded", sum(row.body for row in rows if row.loaded)),
            (theme.RESULT, "3 files", sum(row.read for row in rows)),
        ]
        return [layer for layer in found if layer[2]]

    @property
    def note(self) -> str:
        """How many skills are loaded, and how many could not be used."""
        wrong = f", {len(self.problems)} left out" if self.problems else ""
        return f"{self.lane} · {self.loaded} of {count(len(self.rows), 'skill')} loaded{wrong}"


def grow(shelf: Shelf, event: Event) -> Shelf:
    """The shelf after an event; the same object when nothing on it changed.

    Args:
        shelf: one agent's skills so far.
        event: of that agent.
    """
    data = event.data
    if event.type == "skills.listed":
        return _listed(shelf, data)
    if event.type == "message.added" and data.get("index") == 0 and shelf.now != shelf.catalogue:
        # A new conversation doesn't have what the previous one loaded.
        rows = {name: replace(row, loaded=(), files=()) for name, row in shelf.rows.items()}
        return replace(shelf, rows=rows)
    if event.type not in ("skill.loaded", "skill.read"):
        return shelf
    name, tokens = str(data.get("name", "?")), _number(data.get("tokens"))
    row = shelf.rows.get(name) or SkillRow(name, start=shelf.everything)
    if event.type == "skill.loaded":
        row = replace(row, loaded=(*row.loaded, tokens))
    else:
        row = replace(row, files=(*row.files, (str(data.get("file", "?")), tokens)))
    return replace(shelf, rows={**shelf.rows, name: row})


def _listed(shelf: Shelf, data: dict[str, Any]) -> Shelf:
    sizes, preloaded = data.get("skills") or {}, data.get("preloaded") or []
    rows: dict[str, SkillRow] = {}
    start = 0
    for name, size in sizes.items():
        row = shelf.rows.get(name) or SkillRow(name)
        rows[name] = replace(row, size=_number(size), start=start, preloaded=name in preloaded)
        start += rows[name].size
    gone = {
        name: replace(row, size=0, start=start, preloaded=False)
        for name, row in shelf.rows.items()
        if name not in rows and (row.loaded or row.files)
    }
    problems = tuple(str(one) for one in data.get("problems") or [])
    return Shelf(shelf.lane, _number(data.get("catalogue")), {**rows, **gone}, problems)


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def sentence(shelf: Shelf, event: Event) -> str:
    """The header sentence, with details that only the shelf has.

    Args:
        shelf: the skills after the event.
        event: what has happened.
    """
    data = event.data
    name, tokens = one_line(str(data.get("name", "?")), 40), _number(data.get("tokens"))
    if event.type == "skills.listed":
        listed = f"≈ {shelf.catalogue:,} tokens list {count(len(shelf.rows), 'skill')}"
        return f"{listed}; all their instructions would be ≈ {shelf.everything:,}."
    if event.type == "skill.loaded":
        left = len(shelf.rows) - shelf.loaded
        return f"{name} is loaded, ≈ {tokens:,} tokens; {count(left, 'skill')} stay unread."
    if event.type == "skill.read":
        file = one_line(str(data.get("file", "?")), 60)
        return f"{file} of {name} is read, ≈ {tokens:,} tokens more."
    if event.type == "run.ended" and shelf.rows:
        used = f"{shelf.loaded} of {count(len(shelf.rows), 'skill')} loaded"
        spared = f"{shelf.share} of everything was not sent"
        spared = spared if shelf.share else "everything upfront would have been shorter"
        return f"The run ends with {used}; {spared}."
    return describe(event)


def ticks_of(scale: int) -> list[int]:
    """The marks of a scale: round numbers, at most five steps.

    Args:
        scale: tokens that the full length represents.
    """
    step = next(s for p in range(12) for s in (10**p, 2 * 10**p, 5 * 10**p) if scale / s <= 5)
    return list(range(0, scale + 1, step))

"""How the stand-in chooses a skill: by the words that a request shares with names and descriptions.

A word counts without its ending, so that *tests*, *tested* and *testing* are one word. A word that
many skills have says little about any of them, so it counts less. A language model doesn't choose
like this: it knows that to cover a function is to test it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

#: The score from which on a skill fits.
LEAST = 0.2

#: Words that say nothing of what a skill is for.
_IDLE = re.compile(
    "skill|about|with|that|this|these|those|from|into|for|the|and|here|right|have|has|had|"
    "need|want|some|first|writ(?:e|es|ing|ten)|wrote|what|when|where|who|how|why|which|whether|"
    "our|you|your|its|they|them|one|two|all|any|every|are|was|were|not|can|could|must|should|may|"
    "will|too|use|uses|used|using|before|after|whenever|asks?|asked|someone|anyone"
)
_DOUBLED = re.compile(r"([bdgmnprt])\1$")


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a skill fits a request.

    Attributes:
        name: the skill's.
        score: the sum of what the shared words count: 1 for a word that no other skill has, 1/4 for
            one that two have, and so on; for a word of its name 2, or 1/2 if two names have it;
            a tenth less for a word that the skill has with another ending only.
        words: the shared words, as they are in the request.
    """

    name: str
    score: float
    words: tuple[str, ...]


def fits(request: str, known: dict[str, str]) -> list[Fit]:
    """How well each skill fits a request, the best one first.

    Args:
        request: what the skill is for.
        known: descriptions by name.
    """
    bags = {name: telling(f"{name} {about}") for name, about in known.items()}
    spread = Counter(stem for bag in bags.values() for stem in bag)
    names = Counter(stem for name in known for stem in telling(name))
    asked, found = telling(request), []
    for name, bag in bags.items():
        named, score = telling(name), 0.0
        shared = [stem for stem in asked if stem in bag]
        for stem in shared:
            same = 1 if asked[stem] & bag[stem] else 0.9
            score += same * (2 / names[stem] ** 2 if stem in named else 1 / spread[stem] ** 2)
        words = (word for stem in shared for word in sorted(asked[stem]))
        found.append(Fit(name, score, tuple(words)))
    return sorted(found, key=lambda fit: -fit.score)


def telling(text: str) -> dict[str, set[str]]:
    """The words of a text that say what it is about, in order: by stem, all forms that it has.

    Args:
        text: any.
    """
    found: dict[str, set[str]] = {}
    for word in re.findall(r"[a-z]{3,}", text.lower()):
        if not _IDLE.fullmatch(word):
            found.setdefault(_stem(word), set()).add(word)
    return found


def _stem(word: str) -> str:
    """The word without its ending, at most six letters long."""
    for pattern, instead in ((r"ie[sd]$", "y"), (r"(?<=[^s])s$", ""), (r"(?:ing|ed|e)$", "")):
        short = re.sub(pattern, instead, word)
        word = short if len(short) >= 3 else word
    return _DOUBLED.sub(r"\1", word)[:6]

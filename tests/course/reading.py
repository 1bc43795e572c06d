"""The rules about how a lesson reads: its length, its spoilers, its figures, its sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import phrases
from .subject import Subject, shown
from .texts import _readable

#: How fast a learner reads, in words and in lines of code a minute.
PACE, LINES = 200, 9
#: Minutes to run a cell and look at what it shows, to answer a prediction, and to play a game. With
#: these the rule comes near what careful first readers needed by their own estimate: 49 to 66
#: minutes for each of lessons 5 to 12 (November 2026).
RUN, PREDICT, PLAY = 0.5, 2, 5
#: By how much the minutes may differ from what is measured.
NEAR = 0.2

_FENCED = re.compile(r"^(```+|~~~+).*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]*)[^)]*\)")


def words(text: str) -> int:
    """The words of a Markdown text: no code blocks, no folds, no addresses."""
    text = _LINK.sub(r"\1", _FOLDED.sub("", _FENCED.sub("", text)))
    return sum(any(map(str.isalnum, word)) for word in re.sub(r"<[^>]+>", " ", text).split())


def letters(subject: Subject) -> list[str]:
    """The right answers are spread: three letters or more, and none for more than half of them."""
    asked = [*subject.lesson.predictions.values(), *subject.lesson.quiz]
    rights = Counter(question.right for question in asked)
    most, times = rights.most_common(1)[0]
    found = []
    if len(rights) < 3:
        found.append(f"the right answers are only {', '.join(sorted(rights))}; use three letters")
    if 2 * times > len(asked):
        found.append(f"{times} of {len(asked)} answers are {most}; at most half may be")
    return found


def shown_before(subject: Subject, place: int) -> Iterator[tuple[int, str]]:
    """What is on the screen before a cell is reached: texts, and what the cells show."""
    for number, text in subject.prose:
        if 1 < number < place:
            yield number, text
    for number, output in subject.outputs:
        if number < place:
            yield number, _plain(output)


def _plain(output: Any) -> str:
    """What an output shows, without markup."""
    texts = (_readable(text) for kind, text in shown(output).items() if "png" not in kind)
    return re.sub(r"<[^>]+>", " ", re.sub(r"<style.*?</style>", "", " ".join(texts), flags=re.S))


#: Up to here a number is a count or a lesson, and claims nothing.
SMALL = 12
#: A number, or a percentage.
_NUMBER = re.compile(r"(?<![\w.#/-])\d[\d,.]*(?: ?%|(?<=\d)(?![\w]))")


def amounts(text: str) -> set[str]:
    """The figures in a text, each with the beginning of its unit, if it has one."""
    found = set[str]()
    for match in _NUMBER.finditer(text):
        unit = re.match(r"[ \u00a0]?([a-z]{1,3})", text[match.end() :])
        found |= {f"{one} {unit[1] if unit else ''}".strip() for one in _figures(match[0])}
    return found


def _figures(text: str) -> set[str]:
    """The figures in a text: percentages, decimals, and numbers that are not small."""
    found = (match[0].strip(",. ").replace(",", "") for match in _NUMBER.finditer(text))
    return {
        re.sub(r" ?%", "%", one)
        for one in found
        if "%" in one or "." in one or (one.isdigit() and int(one) > SMALL)
    }


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
#: Figures that no run makes: years and days, lessons, minutes of an exercise, statuses of HTTP.
_NO_CLAIM = re.compile(
    rf"\b(?:19|20)\d\d\b(?:-\d\d(?:-\d\d)?)?|\b\d{{1,2}} (?:{_MONTHS})\b"
    r"|\b(?:[Ll]essons?|[Ee]xercises?|[Ss]teps?|[Rr]ounds?|[Tt]urns?|[Pp]ython|[Vv]ersion|v)[  ]?"
    r"\d+(?:[.–-]\d+)*(?:(?:,| and| to) \d+)*"
    r"|\b\d+ minutes?\b|\b[45]\d\d\b"
)


def sourced_figures(subject: Subject) -> list[str]:
    """Every figure in prose is made by a cell, or its paragraph has a link, or says “we chose”."""
    made = set[str]()
    for _, cell in subject.code:
        made |= _digits(cell.source)
    for _, output in subject.outputs:
        made |= _digits(_plain(output))
    found = []
    for number, text in subject.prose[1:]:
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |\|)", _FENCED.sub("", text)):
            if "](http" in paragraph or re.search(r"\bwe chose\b", paragraph, re.IGNORECASE):
                continue
            bare = re.sub(r"`[^`]*`", "", _LINK.sub(r"\1", paragraph))
            for figure in sorted(_figures(_NO_CLAIM.sub("", bare))):
                rounded = re.search(rf"\b(?:about|nearly|almost) {re.escape(figure)}\b", bare)
                if not _digits(figure) & made and not (rounded and _is_near(figure, made)):
                    found.append(
                        f"cell {number}: no cell makes {figure}, and its paragraph has no link"
                    )
    return found


def _is_near(figure: str, made: set[str]) -> bool:
    """Whether a figure is one that was made, rounded: 3 % away or less."""
    wanted = float(re.sub(r"[^\d.]", "", figure))
    return any(abs(float(one) - wanted) <= 0.03 * wanted for one in made)


def _digits(text: str) -> set[str]:
    """The numbers in a text, without commas; a share such as 0.65 is 65, too."""
    numbers = {
        one.rstrip(".")
        for one in re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d)[,_](?=\d)", "", text))
    }
    shares = {f"{100 * float(one):g}" for one in numbers if one.startswith("0.")}
    return numbers | shares


def plain_words(subject: Subject) -> list[str]:
    """No phrase of the list in the prose, in the texts of the data file, or in a cell's strings."""
    found = []
    for number, cell in enumerate(subject.book.cells, start=1):
        text = cell.source if cell.cell_type == "markdown" else phrases.spoken(cell.source)
        found += [f"cell {number}: {one}" for one in phrases.banned(text)]
    return found

"""The rules about how a lesson reads: its length, its spoilers, its figures, its sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import phrases
from .subject import Subject, constant, headings, lab_calls, shown
from .texts import _readable

#: What the core path of a lesson may have at most.
WORDS, CELLS = 1500, 30
#: How fast a learner reads, in words and in lines of code a minute.
PACE, LINES = 200, 9
#: Minutes to run a cell and look at what it shows, to answer a prediction, and to play a game. With
#: these the rule comes near what careful first readers needed by their own estimate: 49 to 66
#: minutes for each of lessons 5 to 12 (November 2026).
RUN, PREDICT, PLAY = 0.5, 2, 5
_GAMES = ("be_the_model", "stage")
#: By how much the minutes may differ from what is measured.
NEAR = 0.2
#: Sections that are no part of the core path, by the beginning of their titles; and those of which
#: only the code cells are.
APART = re.compile(r"(?:set-?up|exercises?|quiz|appendix)\b", re.IGNORECASE)
ASIDE = re.compile(r"predict\b", re.IGNORECASE)

_FENCED = re.compile(r"^(```+|~~~+).*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]*)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A code cell, or the text from one heading to the next.

    Attributes:
        number: of its cell, from 1.
        sections: the titles that it stands under, the lowest level last.
        text: of the Markdown; empty for a code cell.
        cell: the code cell; None for a text.
    """

    number: int
    sections: tuple[str, ...]
    text: str
    cell: Any = None


def pieces(subject: Subject) -> Iterator[Piece]:
    """A notebook from top to bottom, with the section of everything."""
    titles: dict[int, str] = {}
    for number, cell in enumerate(subject.book.cells, start=1):
        if cell.cell_type == "code":
            yield Piece(number, tuple(titles.values()), "", cell)
            continue
        bare = _FENCED.sub("", cell.source)
        for part in re.split(r"^(?=#{1,6} )", bare, flags=re.MULTILINE):
            for level, title in headings(part):
                titles = {at: one for at, one in titles.items() if at < level} | {level: title}
            yield Piece(number, tuple(titles.values()), part)


def core(subject: Subject) -> list[Piece]:
    """The core path: without set-up, predictions, exercises, quiz, appendix, folds and teardown."""
    last = subject.code[-1][0] if subject.code else 0
    return [
        piece
        for piece in pieces(subject)
        if not any(APART.match(title) for title in piece.sections[1:])
        and 1 < piece.number != last
        and not (_asks(piece.cell.source) if piece.cell else ASIDE.match(piece.sections[-1]))
    ]


def _asks(source: str) -> bool:
    """Whether a cell asks a prediction, or reveals one."""
    return any(lab_calls(source, method) for method in ("predict", "reveal"))


def words(text: str) -> int:
    """The words of a Markdown text: no code blocks, no folds, no addresses."""
    text = _LINK.sub(r"\1", _FOLDED.sub("", _FENCED.sub("", text)))
    return sum(any(map(str.isalnum, word)) for word in re.sub(r"<[^>]+>", " ", text).split())


def measured(subject: Subject) -> tuple[int, int]:
    """How many words and code cells the core path has."""
    path = core(subject)
    return sum(words(piece.text) for piece in path), sum(piece.cell is not None for piece in path)


def length(subject: Subject) -> list[str]:
    """The core path has at most 1,500 words and 30 code cells."""
    said, run = measured(subject)
    sizes = ((said, WORDS, "words"), (run, CELLS, "code cells"))
    return [
        f"the core path has {n:,} {what}; {most:,} are allowed"
        for n, most, what in sizes
        if n > most
    ]


def minutes(subject: Subject) -> list[str]:
    """The minutes on the first line are those that are measured, and those of the data file."""
    said, run = measured(subject)
    needed = said / PACE + _code_minutes(subject)
    opening = subject.prose[0][1] if subject.prose else ""
    shown_minutes = re.search(r"^(\d+) minutes\b", opening, re.MULTILINE)
    found = []
    if not shown_minutes or int(shown_minutes[1]) != subject.lesson.minutes:
        found.append(
            f"the first cell has no line that begins with {subject.lesson.minutes} minutes"
        )
    if not _near(subject.lesson.minutes, needed):
        found.append(
            f"it promises {subject.lesson.minutes} minutes; {said} words, {run} code cells, the "
            f"predictions and games take {needed:.0f}"
        )
    whole = re.search(r"(\d+)(?: minutes)? with the exercises", opening)
    more = sum(exercise.minutes for exercise in subject.lesson.exercises)
    if whole is None:
        found.append("the first cell does not say how long it takes with the exercises")
    elif not _near(int(whole[1]), needed + more):
        found.append(
            f"it promises {whole[1]} minutes with the exercises; they take {needed + more:.0f}"
        )
    return found


def _code_minutes(subject: Subject) -> float:
    """What reading and running the code, the predictions and the games take."""
    code = [piece.cell.source for piece in core(subject) if piece.cell]
    lines = sum(bool(line.strip()) for source in code for line in source.splitlines())
    apart = [
        piece.cell.source
        for piece in pieces(subject)
        if piece.cell and not any(APART.match(title) for title in piece.sections[1:])
    ]
    asked = sum(len(lab_calls(source, "predict")) for source in apart)
    games = sum(len(lab_calls(source, game)) for source in apart for game in _GAMES)
    return lines / LINES + RUN * len(code) + PREDICT * asked + PLAY * games


def _near(promised: float, needed: float) -> bool:
    return abs(promised - needed) <= NEAR * needed


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


def predicted_first(subject: Subject) -> list[str]:
    """What answers a prediction comes after it, and before its reveal."""
    found = []
    for name, prediction in subject.lesson.predictions.items():
        asked = _place(subject, "predict", name)
        revealed = _place(subject, "reveal", name)
        if not asked or revealed <= asked:
            continue  # the rule about predictions says so
        between = [c for n, c in subject.code if asked < n < revealed and not _asks(c.source)]
        if not between:
            found.append(f"no cell between the question {name} and its reveal shows the answer")
        right = amounts(prediction.options[prediction.right].text)
        others = [one.text for key, one in prediction.options.items() if key != prediction.right]
        known = amounts(" ".join([prediction.question, *others]))
        for number, text in shown_before(subject, asked):
            for figure in sorted((right - known) & amounts(text)):
                found.append(f"cell {number} says {figure}, which answers {name} in cell {asked}")
    return found


def _place(subject: Subject, method: str, name: str) -> int:
    """The cell that calls ``lab.<method>(name)``; 0 if there is none."""
    for number, cell in subject.code:
        if any(constant(call) == name for call in lab_calls(cell.source, method)):
            return number
    return 0


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


_DATE = re.compile(rf"\b20\d\d-\d\d|\b(?:{_MONTHS})\b")


def dated_links(subject: Subject) -> list[str]:
    """The box about autumn 2026 has at most five lines; what they link is dated."""
    everything = "\n\n".join(text for _, text in subject.prose)
    box = re.search(r"In real agents, autumn 2026(.*?)(?=^\*\*|^#|\Z)", everything, re.M | re.S)
    if box is None:
        return []  # the rule about the template says so
    head, *lines = re.split(r"\n(?=\s*[-*] )|\n\s*\n", box[1].strip())
    lines = [line for line in lines if line.strip()]
    found = [f"the box has {len(lines)} lines, more than five"] if len(lines) > 5 else []
    if "](http" not in box[1]:
        found.append("the box has no link")
    for line in [head, *lines]:
        outside = [target for _, target in _LINK.findall(line) if target.startswith("http")]
        if outside and not _DATE.search(line) and not _DATE.search(head):
            found.append(f"the box: nothing says when {outside[0]} was read or written")
    return found


def shown_as_sent(subject: Subject) -> list[str]:
    """The system prompt and the schema that the mechanism adds are shown; so is the explorable."""
    found = []
    for method, what in (
        ("adds", "what the mechanism adds, as it is sent"),
        ("explore", "the explorable"),
    ):
        if not any(lab_calls(cell.source, method) for _, cell in subject.code):
            found.append(f"no cell shows {what}: lab.{method}(…)")
    return found


def plain_words(subject: Subject) -> list[str]:
    """No phrase of the list in the prose, in the texts of the data file, or in a cell's strings."""
    found = []
    for number, cell in enumerate(subject.book.cells, start=1):
        text = cell.source if cell.cell_type == "markdown" else phrases.spoken(cell.source)
        found += [f"cell {number}: {one}" for one in phrases.banned(text)]
    return found

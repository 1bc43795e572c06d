"""Prompts as clauses, and the small pattern language that the rules are written in.

A prompt is split into sentences, and a sentence into clauses where a new instruction begins. What
is in quotes is never split. What follows a colon stays with the clause before it, until no rule
understands the two together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_OPEN, _SHUT = "\ue000", "\ue001"  # around the number of a quotation
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")

_MARK = rf"{_OPEN}\d+{_SHUT}"
_FILE = rf"(?:{_MARK}|[\w./-]*\w\.\w+|\w[\w.-]*/[\w./-]*)"
_NAME = rf"(?:{_MARK}|[A-Za-z][\w.-]*)"
_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_AND = r"(?:,? and |, )"

#: What a name in braces stands for in a pattern; ``{file:path}`` names the group ``path``.
PARTS: Mapping[str, str] = {
    "quoted": _MARK,
    "file": _FILE,
    "files": rf"{_FILE}(?:{_AND}(?:an? )?{_FILE})*",
    "name": _NAME,
    "names": rf"{_NAME}(?:{_AND}{_NAME})*",
    "word": r"[A-Za-z][\w-]*",
    "n": _NUMBER,
    "ids": rf"#?\d+(?:{_AND}#?\d+)*",
    "text": r".+?",
}
_HOLE = re.compile(r"\{(\w+)(?::(\w+))?\}")

#: Characters of a clause that a rule may fit.
LONGEST = 2_000

#: Words that begin an instruction.
VERBS = (
    "add|append|approve|ask|broadcast|build|change|check|claim|clear|commit|compact|complete|count|"
    "create|delete|dismiss|do|ensure|execute|finish|follow|give|have|keep|let|list|load|lower|mail|make|mark|"
    "merge|move|print|put|raise|read|refactor|reject|remove|rename|replace|report|review|run|say|see|"
    "send|set|show|shut|spawn|start|stop|tell|test|update|verify|write"
)
#: What a teammate does, told in the third person; only words that are hardly ever nouns.
DOES = "adds|asks|counts|creates|deletes|makes|reads|tells|writes"
_NO_SUBJECT = "a|all|an|it|my|no|our|that|the|their|these|this|those|which|who|your"
_NEXT = (
    rf"(?:(?:please|also|meanwhile|in the meantime),? )?(?:{VERBS}|don't|do not|another|"
    rf"(?:he|she|they) |the (?:git )?status|(?:what|which|who|how) (?:is|are|was|were|many|long)|"
    rf"(?!(?:{_NO_SUBJECT})\b)[a-z]+ (?:{DOES}))\b"
)
_SPLIT = re.compile(rf",? (?:and then|and|then|but) (?={_NEXT})|, then |, (?={_NEXT})|; ?", re.I)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

#: Ways of saying the same thing in another order.
_REWRITES: tuple[tuple[str, str], ...] = (
    ("[\u2018\u2019]", "'"),
    (r"\bwhat's\b", "what is"),
    (r"\bwho's\b", "who is"),
    (r"\b(have|let) (\w+), (?:an?|the) (\w+), (?:to )?", r"\1 \2 as \3 "),
    (r"\bI'm\b", "I am"),
    (
        rf"^in ((?:each|every) file in {_FILE}|{_FILE}(?:{_AND}{_FILE})*),? ({VERBS})\b(.+?)"
        r"([.!?]?)$",
        r"\2\3 in \1\4",
    ),
    (r"^(please )?(mail .+?) if (it is .+?)([.!?]?)$", r"if \3, \2 \1"),
    (rf"\b({_NUMBER} tasks), (?!each\b|and\b)", r"\1: "),
    (
        r"^((?:at|in) the end|(?:when|once|after|as soon as) [\w' ]+(?=,)),? ((?:please )?"
        r"(?:(?:shut|stop|dismiss) [\w ]+?|send [\w ]+? home|(?:ask|tell) \w+ to shut down))"
        r"((?:,| and\b).*|[.!?]?)$",
        r"\2, \1\3",
    ),
    # "merge and remove both" is about both, twice.
    (
        rf"\b({VERBS}) and ({VERBS}) (both|all(?: of them)?|them|it|"
        r"the (?:first|second|third|last|others?|rest))\b",
        r"\1 \3, \2 \3",
    ),
)
#: A clause that waits for the one before it. "Tell me when it is done" doesn't: it asks; and
#: "shut her down when it is done" is a rule of its own.
_WHEN = re.compile(
    r"^(?!tell|say|let me|shut|stop|dismiss|send .+ home)(.+?),? "
    r"((?:when|once|after|as soon as) (?:they|it|the tests) "
    r"(?:pass(?:es)?|ends?|finish(?:es)?|(?:is|are) (?:done|finished|ready)))$",
    re.I,
)
_POLITE = re.compile(
    r"^(?:please|now|then|and|also|first|next|finally|so|ok(?:ay)?|well|hi|hello|good morning|"
    r"(?:could|can|would|will) you|i(?:'d| would) like you to|i want you to|go ahead and|"
    r"try to|meanwhile|in the meantime)\b[,.!]?\s*",
    re.I,
)
_TRAILING = re.compile(
    r"[, ]+(?:please|now|too|as well|meanwhile|in the meantime|at the same time|yourself|again|"
    r"afterwards|first|for me|to me|one (?:by one|after the other)|to be sure|once more|together|"
    r"as soon as (?:you can|possible)|when s?he is (?:done|ready|finished))$",
    re.I,
)
_COURTESY = re.compile(r"[, ]+(?:please|meanwhile|in the meantime)$", re.I)
#: Conditions and exceptions: a rule that doesn't name them itself would overlook them.
_CONDITION = re.compile(r"\b(?:unless|except|but not|only if|if (?:it|there|they|you))\b", re.I)


@dataclass(frozen=True, slots=True)
class Clause:
    """One instruction of a prompt.

    Attributes:
        text: as it is matched, with marks in place of quotations.
        quotes: the quotations, with their marks, by number.
        ignored: words that were left out at its beginning.
    """

    text: str
    quotes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """As the user wrote it."""
        return self.plain(self.text)

    def plain(self, text: str) -> str:
        """A part of it as the user wrote it, quotation marks included.

        Args:
            text: the part.
        """
        return re.sub(rf"{_OPEN}(\d+){_SHUT}", lambda found: self.quotes[int(found[1])], text)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a kind of clause means.

    Attributes:
        name: what it does, in a few words.
        pattern: of the whole clause.
        act: carries it out, from the hands and the groups of the patterns, and returns a report.
        more: patterns of clauses after it that belong to it, each at most once.
        following: how many clauses after it are its objects, from its groups.
        each: the group that lists things which can be done one at a time.
        example: a clause that it understands, for a list of what the stand-in can do.
        needs: what the tools must offer before the example is worth showing: roles or names.
    """

    name: str
    pattern: re.Pattern[str]
    act: Callable[..., Generator[Any, Any, str] | str]
    more: tuple[re.Pattern[str], ...] = ()
    following: Callable[[dict[str, str]], int] | None = None
    each: str = ""
    example: str = ""
    needs: tuple[str, ...] = ()


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of the rules as a regular expression.

    Args:
        pattern: regular expression with names of :data:`PARTS` in braces.
    """

    def part(found: re.Match[str]) -> str:
        return f"(?P<{found[2] or found[1]}>{PARTS[found[1]]})" if found[1] in PARTS else found[0]

    return re.compile(_HOLE.sub(part, pattern), re.I)


def ruleset(*rows: tuple[Any, ...]) -> tuple[Rule, ...]:
    """Rules from a table.

    Args:
        rows: of name, patterns, act, and a dict with further fields, if there are any.
    """
    made = []
    for name, patterns, act, *rest in rows:
        fields = dict(rest[0]) if rest else {}
        fields["more"] = tuple(map(compiled, fields.get("more", ())))
        for number, pattern in enumerate([patterns] if isinstance(patterns, str) else patterns):
            if number:
                fields.pop("example", None)
            made.append(Rule(name, compiled(pattern), act, **fields))
    return tuple(made)


def split(prompt: str) -> list[Clause]:
    """Split a prompt into clauses, in order.

    Args:
        prompt: as the user wrote it.
    """
    quotes: list[str] = []

    def quoted(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return f"{_OPEN}{len(quotes) - 1}{_SHUT}"

    text = _QUOTED.sub(quoted, re.sub(f"[{_OPEN}{_SHUT}]", "", prompt))
    found = []
    for sentence in _SENTENCE.split(text.strip()):
        for old, new in _REWRITES:
            sentence = re.sub(old, new, sentence, flags=re.I)
        head, colon, tail = sentence.partition(": ")
        # "If …, do this" is one clause: half of it would be another instruction.
        parts = [head] if re.match(r"if\b", head, re.I) else _SPLIT.split(head)
        parts = [piece for part in parts for piece in _in_order(part)]
        if colon:
            parts[-1] += colon + tail
        found += [_clause(part, tuple(quotes)) for part in parts]
    return [one for one in found if one.text]


def at_colon(clause: Clause) -> list[Clause]:
    """The two or more clauses that a colon separates; the clause alone if there is no colon.

    Args:
        clause: which no rule understands as a whole.
    """
    head, colon, tail = clause.text.partition(": ")
    parts = [head, *_SPLIT.split(tail)] if colon else [head]
    return [_clause(part, clause.quotes, clause.ignored) for part in parts]


def match(rule: re.Pattern[str], clause: Clause) -> dict[str, str] | None:
    """The groups of a pattern in a clause, as the user wrote them; None if it doesn't fit.

    A group that is a quotation and nothing else comes without its marks, unless it is ``code``.

    Args:
        rule: the pattern.
        clause: all of which has to fit.
    """
    if len(clause.text) > LONGEST:
        return None
    for text in dict.fromkeys((clause.text, trimmed(clause.text))):
        if found := rule.fullmatch(text):
            groups = {name: part for name, part in found.groupdict().items() if part is not None}
            if not any(map(_CONDITION.search, groups.values())):
                plain = {name: clause.plain(part) for name, part in groups.items()}
                return {n: part if n == "code" else unquoted(part) for n, part in plain.items()}
    return None


def trimmed(text: str) -> str:
    """A clause's text without polite and idle words at its end.

    Args:
        text: of the clause.
    """
    while (short := _TRAILING.sub("", text)) != text:
        text = short
    return text


class Quotation(str):
    """A text that the user has put in quotation marks: to be taken to the letter."""

    __slots__ = ()


def unquoted(text: str) -> str:
    """A text without the quotation marks around it, if all of it is one quotation.

    Args:
        text: any.

    Returns:
        A :class:`Quotation`, or the text as it is.
    """
    found = _QUOTED.fullmatch(text)
    return Quotation(found[found.lastindex or 0]) if found else text


def several(text: str) -> list[str]:
    """The parts of a list such as ``a, b and "c and d"``.

    Args:
        text: the list.
    """
    whole: list[str] = []

    def kept(found: re.Match[str]) -> str:
        whole.append(found[0])
        return f"{_OPEN}{len(whole) - 1}{_SHUT}"

    hidden = _QUOTED.sub(kept, text.strip())
    masked = Clause(hidden, tuple(whole))
    whole_parts = re.split(r",? and (?:an? )?|, (?:an? )?", masked.text)
    return [unquoted(masked.plain(part.strip())) for part in whole_parts if part.strip()]


def number(text: str) -> int:
    """A number in digits or as a word.

    Args:
        text: which the pattern ``{n}`` has matched.
    """
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return int(text) if text.isdecimal() else words.index(text.lower())


def words(texts: Sequence[str]) -> tuple[str, ...]:
    """The words of some texts, in order.

    Args:
        texts: any.
    """
    return tuple(re.findall(r"[\w./#&-]*\w[\w./-]*", " ".join(texts)))


def _in_order(part: str) -> list[str]:
    """What has to be true first, and then the rest of a clause such as "go on when they pass"."""
    text = part.rstrip(".!?")
    text = re.sub(r"\b(it|they)('s|'re) (?=done|ready|finished)", r"\1 is ", text, flags=re.I)
    found = _WHEN.match(text)
    return [found[2], found[1]] if found else [part]


def _clause(text: str, quotes: tuple[str, ...], ignored: tuple[str, ...] = ()) -> Clause:
    text, left = text.strip(), list(ignored)
    if text[-1:] in ".!?,:":
        text = text[:-1].rstrip()
    while found := _POLITE.match(text):
        left += words([found[0]])
        text = text[found.end() :]
    while found := _COURTESY.search(text):  # never part of what is to be written
        left += words([found[0]])
        text = text[: found.start()]
    return Clause(text, quotes, tuple(left))

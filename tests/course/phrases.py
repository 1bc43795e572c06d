"""Phrases that a text of the course doesn't use, each with the word to use instead.

They are what a translation leaves behind: a verb of place for *is*, a private word for a standard
one, a genitive without its noun. A pattern leaves innocent uses alone: the letter of an option,
the scenes that something happens behind. ``test_phrases.py`` tries both sides of each.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

#: Pattern -> what to write instead. All are matched without regard to case.
PHRASES = {
    r"st(?:ands?|ood|anding) (?:in|behind|there|at|on)": "is in, is after",
    r"behind (?:the|it|them|each|every|which|its)": "after",
    r"th(?:inks?|ought|inking) on": "keeps working",
    r"(?:told|tells?|telling) (?:again|once|twice|already)|not told": "delivered, delivers",
    r"some ?body": "the actor: you, the user, the caller, another person",
    r"nobody['’]s": "unowned; or name the actor",
    r"of its(?=\s*(?:[.,;:)?!]|$)|\s+(?:is|was|are|ha[sd]|that|which|and|or|does)\b)": (
        "its … (“its error”, not “an error of its”)"
    ),
    r"letters?": "message",
    r"not so(?=\s*(?:[.,;:!?)]|$))": "not quite",
    r"taps? (?:on the|its|a|your|his|her) shoulder": "a reminder, remind",
    r"new life": "starting it again",
    r"people tell": "say who reports it, with a link",
    r"with a message in its hands?": "before it commits the message",
}
#: What the patterns above leave alone.
_INNOCENT = re.compile(
    r"st(?:ands?|anding) (?:in for|on top|in the (?:sun|shade|rain))\b|(?-i:LETTERS)"
    r"|behind the (?:scenes|curtain|real SDK)\b"
    r"|\b(?:capital|small|right|first|three|latin|each|one|by) letters?\b"
    r"|\bletters? (?:[a-e]\b|(?:and|or) digits|of the (?:option|alphabet))"
    r"|\bletters, digits|\bdigits(?:,| and| or) letters\b",
    re.IGNORECASE,
)
_ALL = [
    (re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE | re.MULTILINE), use)
    for pattern, use in PHRASES.items()
]
_CODE = re.compile(r"^(```+|~~~+).*?^\1[`~]*\s*$|(`+)(?!`).*?(?<!`)\2(?!`)", re.M | re.S)
_ADDRESS = re.compile(r"\]\([^)]*\)|https?://\S+")


def banned(text: str) -> list[str]:
    """The phrases of the list that a text has, each with its line and with what to write."""
    bare = _INNOCENT.sub(" ", _ADDRESS.sub("]", _CODE.sub(" ", text)))
    flat = re.sub(r"\s*\n\s*(?![-*#|\n])", " ", bare)
    found = []
    for pattern, use in _ALL:
        for match in pattern.finditer(flat):
            around = flat[max(0, match.start() - 20) : match.end() + 20].replace("\n", " ")
            found.append(f"“{match[0].strip()}” in “…{around}…”: write {use}")
    return found


def spoken(source: str) -> str:
    """What a cell of Python says to its reader: its comments and its strings, a paragraph each."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        said = [one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT]
        return "\n\n".join([*said, *_strings(ast.parse(source))])
    except (SyntaxError, tokenize.TokenError):
        return ""


def shown_strings(source: str) -> str:
    """What a module of the package may show: its strings of two words or more, no docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [one for one in body if not _is_docstring(one)]  # type: ignore[attr-defined]
    said = (re.sub(r"\{[^{}]*\}", " ", one) for one in _strings(tree))  # placeholders
    return "\n\n".join(one for one in said if " " in one.strip())


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _strings(tree: ast.AST) -> list[str]:
    """The strings of a tree; of an f-string its constant parts, as one."""
    found, parts = [], set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            constants = [one for one in node.values if isinstance(one, ast.Constant)]
            parts |= {id(one) for one in constants}
            found.append(" ".join(str(one.value) for one in constants))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        ):
            found.append(node.value)
    return found

"""Text from a log, made short and plain enough to show, in a sentence, a terminal or a picture.

Everything a model, a tool or a person wrote passes through here before it is shown: characters
that would hide, reorder or break the text around them are made visible.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

#: Characters of one text that the live form carries; the log keeps all of it.
SHOWN = 2400


class _Visible(dict[int, str]):
    """What each character is shown as; found out when it first comes up."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category == "Cs" or code & 0xFFFE == 0xFFFE:
            shown = "\ufffd"  # no character at all, and no XML may have it
        elif code < 0x20 or code == 0x7F:
            shown = chr(0x2421 if code == 0x7F else 0x2400 + code)
        elif category in ("Cc", "Cf", "Zl", "Zp") or any(code in some for some in _IGNORABLE):
            shown = f"\u27e8U+{code:04X}\u27e9"
        else:
            shown = char
        self[code] = shown
        return shown


#: Characters without a glyph that Unicode has in a category of visible ones, or of none:
#: fillers, variation selectors, and what is reserved for more of them.
_IGNORABLE = (
    *((0x034F,), range(0x115F, 0x1161), range(0x17B4, 0x17B6), range(0x180B, 0x1810), (0x2065,)),
    *((0x3164,), range(0xFE00, 0xFE10), (0xFFA0,), range(0xFFF0, 0xFFF9), (0x16FE4,)),
    range(0xE0000, 0xE1000),
)
_VISIBLE = _Visible({0x09: "\t", 0x0A: "\n"})
_STYLE = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?"
_PICTURE = f"[©®‼⁉™\u2139↔-↙↩↪⌚-⏿Ⓜ▪-◾☀-➿⤴⤵⬅-⭕〰〽㊗㊙\U0001f000-\U0001faff]{_STYLE}"
_FLAGS = "|".join(
    "".join(chr(0xE0000 + ord(one)) for one in name) for name in ("gbeng", "gbsct", "gbwls")
)
#: The sequences in which an invisible character belongs to an emoji: keycaps, the three flags that
#: are written in tags, and pictures with a style or a colour, joined to one.
_EMOJI = re.compile(
    f"([0-9#*]\ufe0f\u20e3|\U0001f3f4(?:{_FLAGS})\U000e007f|{_PICTURE}(?:\u200d{_PICTURE})*)"
)
_SPACE = re.compile("[ \t\n]+")


def clean(text: str) -> str:
    """Make control, bidi and other invisible characters visible; line ends become ``\\n``.

    Unicode's categories say which they are. Only in an emoji's sequence do they stay.
    """
    parts = _EMOJI.split(text.replace("\r\n", "\n"))
    return "".join(
        part if number % 2 else part.translate(_VISIBLE) for number, part in enumerate(parts)
    )


def columns(text: str) -> int:
    """Width of a text in columns of a monospaced font; wide characters count twice."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def one_line(text: str, limit: int = 72) -> str:
    """The text on one line, white space collapsed, cut to ``limit`` columns with an ellipsis."""
    head = _SPACE.sub(" ", clean(text[: 4 * limit + 400])).strip(" ")
    if columns(head) <= limit:
        return head
    used, end = 1, 0
    for char in head:
        used += columns(char)
        if used > limit:
            break
        end += 1
    while clean(head[:end]) != head[:end]:  # half of an emoji's sequence would hide something
        end -= 1
    return head[:end].rstrip() + "…"


def quoted(text: str, limit: int = 60) -> str:
    """The beginning of a text, in quotation marks."""
    return f"“{one_line(text, limit)}”"


def excerpt(text: str, limit: int = SHOWN) -> str:
    """The text, or when it is longer than ``limit`` characters its head and tail and the gap.

    It is cut at the ends of lines, unless that would leave less than half of the head or the tail.
    """
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-(limit // 4) :]
    gone = count(len(text) - len(head) - len(tail), "character")
    above, below = head.rfind("\n", len(head) // 2), tail.find("\n", 0, len(tail) // 2)
    if above > 0 and below >= 0:
        head, tail = head[:above], tail[below + 1 :]
        gone = count(text.count("\n", above, len(text) - len(tail)) - 1, "line")
    return f"{head}\n[… {gone} not shown …]\n{tail}"


def count(number: int, noun: str) -> str:
    """``1 message``, ``2 messages``, ``1,200 messages``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; repeats become ``a (3 times)``."""
    counted = [
        name if names.count(name) == 1 else f"{name} ({names.count(name)} times)"
        for name in dict.fromkeys(names)
    ]
    return " and ".join(filter(None, [", ".join(counted[:-1]), *counted[-1:]]))


def arguments(value: Any) -> str:
    """A tool's input as text: a single string as it is, otherwise a ``name: value`` a line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    lines = []
    for name, one in value.items():
        shown = one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        several = "\n" in shown
        lines.append(f"{name}:\n{_indented(shown)}" if several else f"{name}: {shown}")
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """A message's content as a list of blocks, whatever its form."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list):
        return []
    return [one if isinstance(one, dict) else {"type": "text", "text": str(one)} for one in content]


def content_text(content: Any) -> str:
    """The readable text of a message's or a tool result's content."""
    return "\n".join(
        str(block["text"]) if "text" in block else f"[{block.get('type', 'block')}]"
        for block in blocks_of(content)
    )

"""Text from a log: nothing in it may become markup, hide, or reorder what stands around it."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from static_page import Page

from learnkit.events.log import Event
from learnkit.events.sentences import stopped
from learnkit.events.text import (
    blocks_of,
    clean,
    content_text,
    count,
    excerpt,
    listed,
    one_line,
)
from learnkit.views.drawing.text import esc
from learnkit.views.words import describe

anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)


@given(anything)
@example("<script>alert(1)</script>")
@example("]]></svg><img src=x onerror=alert(1)>")
@example("\u202egnp.exe \x00 \x1b[31m \ud800 \ufffe &amp; \r \u2066")
def test_escaped_text_is_no_markup_and_holds_nothing_invisible(text: str) -> None:
    shown = esc(text)
    assert Page(f'<p title="{shown}">{shown}</p>').tags == ["p"]
    ElementTree.fromstring(f'<t a="{shown}">{shown}</t>')
    shown.encode()  # no lone surrogate is left
    assert not hidden_in(shown)


@functools.cache
def invisible() -> set[str]:
    """By Unicode's own categories and names."""
    named = "(HANGUL|SCRIPT) .*FILLER|VARIATION SELECTOR|GRAPHEME JOINER|INHERENT"
    return {
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if (category := unicodedata.category(char)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or (category in ("Lo", "Mn") and re.search(named, unicodedata.name(char, "")))
    } - {"\t", "\n"}


EMOJI = re.findall(
    r"\S+",
    "👩\u200d💻 ❤\ufe0f ❤\ufe0e ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 👨\u200d👩\u200d👧\u200d👦 "
    "👁\ufe0f\u200d🗨\ufe0f 👍🏽 🧑🏽\u200d🚀 1\ufe0f\u20e3 #\ufe0f\u20e3 🇩🇪 ™\ufe0f ☺\ufe0f ⚠\ufe0f "
    "▶\ufe0e ⁉\ufe0f 🏴\u200d☠\ufe0f "
    "🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
)


def hidden_in(text: str) -> set[str]:
    """What nobody would see, outside of an emoji."""
    for emoji in sorted(EMOJI, key=len, reverse=True):
        text = text.replace(emoji, "")
    return set(text) & invisible()


def test_every_invisible_character_of_unicode_is_made_visible() -> None:
    assert len(invisible()) > 2500  # 2,048 of them are halves of pairs
    unseen = [f"{ord(char):04X}" for char in invisible() if char in clean(f"a{char}b")]
    assert sorted(unseen) == []
    assert clean("a\u00adb\u3164\U000e0041") == "a⟨U+00AD⟩b⟨U+3164⟩⟨U+E0041⟩"
    assert clean("größe, 你好, नमस्ते, é, a\u00a0b,\tc\n") == "größe, 你好, नमस्ते, é, a\u00a0b,\tc\n"


@pytest.mark.parametrize("emoji", EMOJI)
def test_an_emoji_stays_as_it_is_and_hides_nothing_more(emoji: str) -> None:
    assert clean(emoji) == emoji
    for char in ("\u200d", "\ufe0f", "\ufe0e", "\U000e007f", "\u200b"):
        assert not hidden_in(clean(f"{emoji}x{char}").replace(emoji, ""))
        assert not hidden_in(clean(f"{char}{emoji}").replace(emoji, ""))
    for limit in range(4, 12):
        assert clean(one_line(emoji * 9, limit)) == one_line(emoji * 9, limit)


def test_what_is_cut_is_counted() -> None:
    shown = excerpt("a" * 900 + "b" * 900, 800)
    assert shown == "a" * 600 + "\n[… 1,000 characters not shown …]\n" + "b" * 200
    assert excerpt("short", 800) == "short"
    lines = [f"{n:09}" for n in range(100)]
    gap = "[… 91 lines not shown …]"
    assert excerpt("\n".join(lines), 100).split("\n") == [*lines[:7], gap, *lines[-2:]]


def test_content_of_any_form_becomes_blocks() -> None:
    assert blocks_of("hi") == [{"type": "text", "text": "hi"}]
    assert blocks_of("") == blocks_of(None) == blocks_of(7) == []
    assert blocks_of(["odd", {"type": "image"}])[0] == {"type": "text", "text": "odd"}
    assert content_text([{"type": "text", "text": "a"}, {"type": "image"}]) == "a\n[image]"


def test_counts_and_lists_read_as_english() -> None:
    assert [count(number, "message") for number in (0, 1, 1200)] == [
        "0 messages",
        "1 message",
        "1,200 messages",
    ]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "a", "c"]) == "a (2 times), b and c"


@pytest.mark.parametrize(
    ("type", "data", "said"),
    [
        (
            "model.retried",
            {"turn": 2, "seconds": 4.0, "error_type": "overloaded_error", "message": "busy"},
            "Turn 2: overloaded_error, “busy”; asked again after 4.0 s.",
        ),
        (
            "reply.repaired",
            {"turn": 1, "problems": ["a call whose name is None"]},
            "Turn 1: the reply was put in order; it had a call whose name is None.",
        ),
        (
            "model.replied",
            {"turn": 1, "usage": {}, "stop_reason": "end_turn"},
            "Turn 1: the reply is here, {} (the server does not say how many tokens).",
        ),
    ],
)
def test_what_a_server_does_is_said_in_a_sentence(
    type: str, data: dict[str, Any], said: str
) -> None:
    why = stopped(str(data.get("stop_reason", "")))
    assert describe(Event(0, 0.0, "lead", type, data)) == said.format(why)

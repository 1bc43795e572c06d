"""Token estimates: about four characters a token, and never less for more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.tokens import estimate_tokens

BLOCKS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=40)}), max_size=4
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.text() | BLOCKS}
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (None, 0),
        ("", 0),
        ([], 0),
        ("abc", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("北京", 1),
        ({"a": 1}, 2),
    ],
)
def test_four_characters_are_a_token(part: Any, tokens: int) -> None:
    assert estimate_tokens(part) == tokens


@given(MESSAGES, MESSAGES)
def test_a_list_costs_the_sum_of_its_messages(one: list[Any], two: list[Any]) -> None:
    assert estimate_tokens(one + two) == estimate_tokens(one) + estimate_tokens(two)


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + more)
    message, longer = ({"role": "user", "content": one} for one in (text, text + more))
    assert 0 < estimate_tokens(message) <= estimate_tokens(longer)

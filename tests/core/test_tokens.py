"""Token estimates: about four characters a token, and never less for more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.core.token_count import TokenCount, estimate_tokens, length


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


# A count that follows a conversation

GROWING = st.lists(
    st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=30)), max_size=6
)


@given(st.lists(st.tuples(st.sampled_from(["append", "rewrite", "drop", "swap"]), GROWING)))
def test_the_incremental_count_is_the_one_from_scratch(steps: list[tuple[str, list[Any]]]) -> None:
    count, messages = TokenCount(), list[dict[str, Any]]()
    for how, new in steps:
        if how == "append":
            messages += new
        elif how == "rewrite":
            messages = [*new, *messages[1:]]
        elif how == "drop":
            del messages[len(new) :]
        else:
            messages = [*messages[:-1], *new]
        tokens = count.measure(messages, head=100)
        fresh = TokenCount()
        assert tokens == fresh.measure([*messages], head=100)
        assert count.chars == sum(map(length, messages))


def test_a_turn_measures_only_what_is_new() -> None:
    class Message(dict[str, str]):
        looked = 0

        def items(self) -> Any:
            Message.looked += 1
            return super().items()

    messages = [Message(role="user", content="x") for _ in range(50)]
    count = TokenCount()
    count.measure(messages)
    looked = Message.looked
    messages.append(Message(role="user", content="y"))
    count.measure(messages)
    assert Message.looked - looked == looked / 50
    count.measure([*messages[10:]])
    assert Message.looked - looked == looked / 50, "after a rewrite what was kept is known"


def test_the_count_learns_what_the_api_counts() -> None:
    count = TokenCount()
    assert count.measure([{"role": "user", "content": "x" * 373}]) == 101
    assert count.chars_per_token == 4
    count.calibrate(count.chars, 202)
    assert count.tokens(count.chars) == 202
    count.calibrate(0, 50)
    count.calibrate(50, 0)
    assert count.tokens(count.chars) == 202, "nothing can be learnt from nothing"

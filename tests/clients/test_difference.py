"""What differs between two requests, as a learner reads it."""

from __future__ import annotations

from typing import Any

import pytest

from learnkit.clients.recordings.difference import AROUND, Change, changes, finding, words
from learnkit.clients.recordings.request_hash import Prefix

TOOL = {
    "name": "note",
    "description": "Write a note down.",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"text": "tea"}}


def request(
    prompt: str = "Create hello.py.", result: str = "noted", *more: dict[str, Any], **head: Any
) -> dict[str, Any]:
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}
    messages = [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [answer]},
    ]
    return {"model": "m", "max_tokens": 9, "tools": [TOOL], "messages": [*messages, *more], **head}


def found(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    these = Prefix.of(request() if old is None else old)
    return [str(one) for one in changes(these.canon, Prefix.of(new).canon)]


def test_equal_requests_differ_nowhere() -> None:
    assert found(request()) == []


def test_an_edited_prompt_shows_the_words_and_nothing_after_it() -> None:
    new = request("Create bye.py, please.", "something else")
    assert found(new) == ["your prompt: Create [-hello-][+bye+].py[+, please+]."]


def test_a_result_that_is_an_error_now_is_marked() -> None:
    new = request()
    new["messages"][2]["content"][0]["is_error"] = True
    (told,) = found(new)
    assert told.endswith("[-noted-][+(error) noted+]")


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (
            {"system": "Be brief."},
            ["the system prompt: [+Be brief.+]"],
        ),
        (
            {"tools": [{**TOOL, "description": "Write a long note down."}]},
            ["the description of the tool 'note': Write a[+ long+] note down."],
        ),
        (
            {
                "tools": [
                    {
                        **TOOL,
                        "input_schema": {
                            "type": "object",
                            "properties": {"text": {"type": "integer"}},
                            "required": ["text"],
                        },
                    }
                ]
            },
            ["the arguments of the tool 'note': text ([-string-][+integer, required+])"],
        ),
        ({"tools": []}, ["the tool 'note': [-Write a note down.-]"]),
        (
            {"tools": [TOOL, {**TOOL, "name": "more", "description": "More."}]},
            ["the tool 'more': [+More.+]"],
        ),
        ({"max_tokens": 8}, ["max_tokens: [-9-][+8+]"]),
    ],
)
def test_what_else_may_have_changed(head: dict[str, Any], told: list[str]) -> None:
    assert found(request(**head)) == told


def test_an_edit_of_the_head_and_of_the_prompt_are_both_shown() -> None:
    told = found(request("Create bye.py.", system="Be brief."))
    assert [one.partition(":")[0] for one in told] == ["the system prompt", "your prompt"]


def test_a_result_is_named_by_its_call_and_what_follows_results_by_its_place() -> None:
    assert found(request(result="kept")) == ["the result of note(tea): [-noted-][+kept+]"]
    old, new = request(), request()
    for body, text in ((old, "Look."), (new, "Look again.")):
        body["messages"][2]["content"].append({"type": "text", "text": text})
    assert found(new, old) == ["what follows the results: Look[+ again+]."]


def test_an_argument_without_words_of_its_own_is_still_a_change() -> None:
    schema = {**TOOL["input_schema"], "additionalItems": False}  # type: ignore[dict-item]
    (told,) = found(request(tools=[{**TOOL, "input_schema": schema}]))
    assert told.startswith("the arguments of the tool 'note'")
    assert "additionalItems" in told


def test_a_message_too_many_or_too_few_is_said() -> None:
    more = [{"role": "assistant", "content": "done"}, {"role": "user", "content": "And tea?"}]
    told = changes(
        Prefix.of(request()).canon, Prefix.of(request("Create hello.py.", "noted", *more)).canon
    )
    assert told[0].pieces == (("new", "done"),)
    assert finding(told) == "No recorded reply fits: the recording ends before this request."
    assert found(request(), request("Create hello.py.", "noted", *more)) == [
        "the number of messages: [-done-]"
    ]


def test_what_differs_from_run_to_run_is_no_change_and_is_not_shown() -> None:
    old, new = (request(result=f"/tmp/{one}/x.txt holds {n}") for one, n in (("a", 1), ("b", 2)))
    assert found(new, old) == ["the result of note(tea): … holds [-1-][+2+]"]


@pytest.mark.slow
def test_phrases_stay_together_and_long_text_is_shortened() -> None:
    assert words("one two three.", "one 2 3.") == (
        ("same", "one "),
        ("gone", "two three"),
        ("new", "2 3"),
        ("same", "."),
    )
    long = "word " * 500
    same, gone, new, after = words(f"{long}old {long}", f"{long}new {long}")
    assert (gone, new) == (("gone", "old"), ("new", "new"))
    for kind, text in (same, after):
        assert kind == "same"
        assert text.count("word") <= AROUND
        assert "…" in text


@pytest.mark.parametrize("more", [0, 1])
def test_the_beginning_is_shortened_only_where_that_saves_words(more: int) -> None:
    start = "word " * (AROUND + 3 + more)
    same, *_ = words(f"{start}old", f"{start}new")
    assert ("…" in same[1]) == bool(more)


def test_texts_without_much_in_common_stand_one_after_the_other() -> None:
    assert words("Which branch is this?", "Write hello.py") == (
        ("gone", "Which branch is this?"),
        ("new", "Write hello.py"),
    )


def test_very_long_texts_are_compared_by_line_and_cut() -> None:
    lines = "".join(f"line {n}\n" for n in range(3000))
    pieces = words(lines, lines.replace("line 7\n", "row 7\n"))
    assert [one for one in pieces if one[0] != "same"] == [("gone", "line 7\n"), ("new", "row 7\n")]
    (_, whole) = words("", lines)[0]
    assert whole.endswith("characters more)")
    assert len(whole) < 1600


def test_the_finding_names_the_places() -> None:
    def of(*places: str) -> str:
        return finding([Change(place, (("new", "x"),)) for place in places])

    assert of("your prompt").endswith("because it changes your prompt.")
    assert of("a", "b").endswith("because it changes a and b.")
    assert of("a", "b", "c", "c").endswith("because it changes a, b and 1 more.")
    assert of() == "No recorded reply fits this request."

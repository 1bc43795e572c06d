"""What differs between two requests, as a learner reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from learnkit.clients.recordings.difference import (
    Change,
    changes,
    finding,
    words,
)
from learnkit.clients.request_hash import Prefix

TOOL = {
    "name": "note",
    "description": "Write a note down.",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"text": "tea"}}


def with_argument(about: Any) -> dict[str, Any]:
    return {"tools": [{**TOOL, "input_schema": {"type": "object", "properties": {"text": about}}}]}


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
    assert found(new) == ["your prompt: Create[- hello-][+ bye+].py[+, please+]."]


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
        ({"tools": []}, ["the tool 'note': [-Write a note down.-]"]),
        (
            {"tools": [TOOL, {**TOOL, "name": "more", "description": "More."}]},
            ["the tool 'more': [+More.+]"],
        ),
        ({"max_tokens": 8}, ["max_tokens: [-9-][+8+]"]),
        ({"temperature": 0.5}, ["temperature: [+0.5+]"]),
        (
            with_argument({"type": "string", "minLength": 1}),
            [
                "the arguments of the tool 'note': {\n"
                ' "properties": {\n  "text": {[+\n   "minLength": 1,+]\n'
                '   "type": "string"\n  }\n },\n "type": "object"\n}'
            ],
        ),
        (
            {"tools": [{"name": "note", "type": "by_the_api"}]},
            [
                "the description of the tool 'note': [-Write a note down.-]",
                "the arguments of the tool 'note': "
                f"[-{json.dumps(TOOL['input_schema'], indent=1, sort_keys=True)}-][+null+]",
            ],
        ),
    ],
)
def test_what_else_may_have_changed(head: dict[str, Any], told: list[str]) -> None:
    assert found(request(**head)) == told


def test_what_a_hook_has_framed_is_not_the_readers_prompt() -> None:
    jobs = "<background-results>{}</background-results>"
    told = found(request(jobs.format("killed")), request(jobs.format("done")))
    assert told[0].startswith("what stands in <background-results>: ")
    assert found(request("<b>Go."), request("<b>Stop."))[0].startswith("your prompt")


def test_an_edit_of_the_head_and_of_the_prompt_are_both_shown() -> None:
    told = found(request("Create bye.py.", system="Be brief."))
    assert [one.partition(":")[0] for one in told] == ["the system prompt", "your prompt"]


CALLS = [
    CALL,
    {"type": "tool_use", "id": "toolu_2", "name": "note", "input": {"text": "café", "twice": True}},
    {"type": "tool_use", "id": "toolu_3", "name": "list", "input": {}},
]
RESULTS = [
    {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"noted {n}"} for n in (1, 2, 3)
]


def said(role: str, *content: Any) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


GO = {"role": "user", "content": "Go."}
ROUND = [GO, said("assistant", *CALLS), said("user", *RESULTS)]


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (
            [*ROUND[:2], said("user", *RESULTS[:1], {**RESULTS[1], "content": "kept 2"})],
            [
                "the result of note(café): [-noted-][+kept+] 2",
                "the result of list(): [-noted 3-]",
            ],
        ),
        (
            [*ROUND[:2], said("user", *RESULTS, {"type": "text", "text": "And on."})],
            ["what follows the results: [+And on.+]"],
        ),
        (
            [GO, said("assistant", CALL, {**CALLS[1], "input": {"text": "tea"}}, CALLS[2])],
            [
                'what the model said before: {\n "input": {\n  "text": "[-café-][+tea+]"'
                '[-,\n  "twice": true-]\n },\n "name": "note"\n}'
            ],
        ),
        (
            [GO, said("assistant", {**CALL, "id": "toolu_9"}, *CALLS[1:])],
            [
                f"what the model said before: [-{json.dumps(CALL, sort_keys=True)}-]"
                f"[+{json.dumps({**CALL, 'id': 'toolu_9'}, sort_keys=True)}+]"
            ],
        ),
        (
            [*ROUND[:2], said("user", {**RESULTS[0], "tool_use_id": "unheard_of"}, *RESULTS[1:])],
            [
                "the result of a call: [-"
                f"{json.dumps(RESULTS[0], sort_keys=True)}-]"
                f"[+{json.dumps({**RESULTS[0], 'tool_use_id': 'unheard_of'}, sort_keys=True)}+]"
            ],
        ),
    ],
)
def test_a_place_in_a_message_is_named_and_both_sides_shown(
    messages: list[Any], told: list[str]
) -> None:
    body = request()
    assert found({**body, "messages": messages}, {**body, "messages": ROUND}) == told


def test_a_message_too_many_or_too_few_is_said() -> None:
    more = [{"role": "assistant", "content": "done"}, {"role": "user", "content": "And tea?"}]
    told = changes(
        Prefix.of(request()).canon, Prefix.of(request("Create hello.py.", "noted", *more)).canon
    )
    assert told[0].pieces == (("new", "done"),)
    assert finding(told) == "No recorded reply fits: the recording ends before this request."
    assert finding([Change("max_tokens", (("new", "9"),)), *told]).endswith(
        "it changes max_tokens and a message after the recording's last one."
    )
    assert found(request(), request("Create hello.py.", "noted", *more)) == [
        "the number of messages: [-done-]"
    ]


def test_what_differs_from_run_to_run_is_no_change_and_is_not_shown() -> None:
    old, new = (request(result=f"/tmp/{one}/x.txt holds {n}") for one, n in (("a", 1), ("b", 2)))
    assert found(new, old) == ["the result of note(tea): … holds[- 1-][+ 2+]"]


def numbers(count: int) -> str:
    return " ".join(str(n) for n in range(1, count + 1))


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

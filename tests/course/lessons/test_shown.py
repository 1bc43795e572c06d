"""Lesson 10 prints calls with their results: none is lost, and none takes several lines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from learnkit.course.lessons.s10.shown import calls, exchange


def use(id: str, name: str, **values: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": values}


def result(id: str, content: Any = "", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def test_each_result_is_below_its_own_call_however_it_is_written() -> None:
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [use("1", "bash", command="ls"), use("2", "read")]},
        {
            "role": "user",
            "content": [
                result("1", "a\nb"),
                result("2", [{"type": "text", "text": "no file"}], is_error=True),
                {"type": "text", "text": "<inbox>"},
            ],
        },
        {"role": "assistant", "content": [use("3", "rm")]},
        {"role": "user", "content": [result("3")]},
    ]
    assert calls(messages).splitlines() == [
        'bash command="ls"',
        "    ✓ a b",
        "read",
        "    ✗ no file",
        "rm",
        "    ✓ (no output)",
    ]
    assert calls(messages[3:]).splitlines() == ["rm", "    ✓ (no output)"]


def test_a_long_plan_is_cut_to_a_line() -> None:
    messages = [
        {"content": [use("1", "plan", text="x" * 199)]},
        {"content": [result("1", "y" * 999)]},
    ]
    lines = calls(messages).splitlines()
    assert [len(line) for line in lines] == [96, 96]
    assert all(line.endswith("…") for line in lines)


INBOX = '<inbox>\n<message id="m1" from="lead" type="shutdown_request" request_id="r1">'


@pytest.mark.parametrize(
    "content",
    [INBOX, [result("1", "done"), {"type": "text", "text": INBOX}]],
    ids=["idle", "at work"],
)
def test_a_request_is_found_however_it_arrives_with_the_reply_to_it(content: Any) -> None:
    reply = [{"type": "text", "text": "Not yet."}, use("2", "shutdown_response", approve=False)]
    messages = [
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "content": [use("1", "bash", command="ls")]},
        {"role": "user", "content": content},
        {"role": "assistant", "content": reply},
    ]
    silent = [{"role": "user", "content": "Begin."}]
    members = [SimpleNamespace(agent=SimpleNamespace(messages=one)) for one in (silent, messages)]
    team: Any = SimpleNamespace(members=members)
    shown = exchange(team, "shutdown_request")
    assert shown == f"{INBOX}\ntext | Not yet.\ntool_use | shutdown_response\n    approve: False"
    assert exchange(team, "plan") == "In this run, no teammate got a plan."

"""Lesson 10 prints calls with their results: none is lost, and none takes several lines."""

from __future__ import annotations

from typing import Any

from learnkit.course.lessons.s10.shown import calls


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
                result("2", [{"type": "text", "text": "no file"}], is_error=True),
                result("1", "a\nb"),
                {"type": "text", "text": "<inbox>"},
            ],
        },
        {"role": "assistant", "content": [use("3", "rm")]},
        {"role": "user", "content": [result("3")]},
    ]
    assert calls(messages).splitlines() == [
        "read",
        "    ✗ no file",
        'bash command="ls"',
        "    ✓ a b",
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

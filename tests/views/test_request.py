"""The parts of a request: what the model sees of it."""

from __future__ import annotations

from learnkit.views.request import seen

TOOL = {"name": "look", "input_schema": {"type": "object"}}
MARK = {"cache_control": {"type": "ephemeral"}}


def test_marks_for_the_cache_and_empty_parts_are_left_out() -> None:
    request = {"model": "m", "system": [{"type": "text", "text": "Be brief.", **MARK}]}
    assert seen({**request, "tools": [{**TOOL, **MARK}]}) == {
        "system": "Be brief.",
        "tools": [TOOL],
    }
    assert seen({**request, "tools": []}) == {"system": "Be brief."}

"""Lesson b3's exercise: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong

_TOOLS = [
    {"name": "mcp__harbour__sea", "description": "How warm the sea is at a place."},
    {"name": "mcp__harbour__tide_times", "description": "When the tide is high, and when low."},
    {"name": "mcp__forge__open_issue", "description": "Open an issue, with a title and a text."},
    {"name": "mcp__forge__list-issues", "description": "Issues of a project that are still open."},
    {"name": "mcp__forge__season", "description": "Nothing about water."},
    {"name": "mcp__bulk__rain", "description": "Rain, rain, rain."},
    {"name": "mcp__forge__outlook", "description": "The rain of tomorrow."},
    *({"name": f"mcp__bulk__n{n}", "description": "The weather of a day."} for n in range(9)),
]


def check_find(find: Any) -> Verdict:
    """Search among sixteen tools."""
    cases: Cases = (
        ("tools about “sea”, which is in “season”, too", (_TOOLS, "sea"), ["mcp__harbour__sea"]),
        ("“SEA” in capitals", (_TOOLS, "SEA"), ["mcp__harbour__sea"]),
        ("“tide”, which is in a name", (_TOOLS, "tide"), ["mcp__harbour__tide_times"]),
        ("“place”, which ends a sentence", (_TOOLS, "place"), ["mcp__harbour__sea"]),
        ("“rain tomorrow”", (_TOOLS, "rain tomorrow"), "mcp__forge__outlook"),
        ("“volcano”, which is nowhere", (_TOOLS, "volcano"), []),
        ("“times of the tide”", (_TOOLS, "times of the tide"), "mcp__harbour__tide_times"),
        ("“list open issues”", (_TOOLS, "list open issues"), "mcp__forge__list-issues"),
        ("“weather”, which nine have", (_TOOLS, "weather"), 5),
    )
    for what, given, right in cases:
        found = find(*given)
        shape = {str: found[:1] and found[0], int: len(found), list: found}[type(right)]
        if wrong := first_wrong(lambda *_, shape=shape: shape, [(what, given, right)]):
            return wrong
    return None


EXERCISES = {"find": check_find}

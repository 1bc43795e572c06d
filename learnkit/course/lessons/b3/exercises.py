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
    sea, tide, issue, issues, _, rain, outlook, *_ = (tool["name"] for tool in _TOOLS)
    cases: Cases = (
        ("tools about “sea”, which is in “season”, too", (_TOOLS, "sea"), [sea]),
        ("“SEA” in capitals", (_TOOLS, "SEA"), [sea]),
        ("“times”, which is only in a name", (_TOOLS, "times"), [tide]),
        ("“place”, which ends a sentence", (_TOOLS, "place"), [sea]),
        ("“rain tomorrow”", (_TOOLS, "rain tomorrow"), [outlook, rain]),
        ("“volcano”, which is nowhere", (_TOOLS, "volcano"), []),
        ("“tide times”", (_TOOLS, "tide times"), [tide]),
        ("“list open issues”", (_TOOLS, "list open issues"), [issues, issue]),
    )
    many: Cases = [("“weather”, which nine have", (_TOOLS, "weather"), 5)]
    return first_wrong(find, cases) or first_wrong(lambda *given: len(find(*given)), many)

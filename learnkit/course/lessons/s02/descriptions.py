"""Lesson 2's games about descriptions: two tools twice, first with poor texts, then with good ones.

Both games have the same question and the same numbers. Only what a model reads differs: names,
descriptions, and what an error says. The tools are here so that a learner doesn't see their code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import learnkit as lk
from learnkit.core.tools import Tool
from learnkit.course.content import Game, Remark
from learnkit.events.text import blocks_of, content_text, count

if TYPE_CHECKING:
    from learnkit.course.games.be_the_model.panel import BeTheModel

QUESTION = "Is Oslo warmer than it was yesterday, and by how much?"
#: °C, as in the example's files: the last reading, and its difference to 24 hours earlier.
LAST = {"beijing": 31.4, "oslo": 16.1}
CHANGE = {"beijing": 1.6, "oslo": -1.4}
#: What the poor tools say of a station that they don't know.
_NOTHING = "error 2"


def poor_tools() -> list[Tool]:
    """Return the tools with names and texts that tell a model next to nothing."""

    def get(x: str) -> str:
        return str(LAST.get(x, _NOTHING))

    def get2(x: str) -> str:
        return str(CHANGE.get(x, _NOTHING))

    return [lk.tool(description="Gets data.")(get), lk.tool(description="Gets more data.")(get2)]


def good_tools() -> list[Tool]:
    """Return the same tools with names and texts that tell a model what it needs."""

    def latest(station: str) -> str:
        """The latest temperature of a weather station, in °C.

        Args:
            station: in lower case: beijing or oslo.
        """
        return _found(LAST, station)

    def day_change(station: str) -> str:
        """How much warmer (+) or colder (-) a station is than 24 hours before, in °C.

        Args:
            station: in lower case: beijing or oslo.
        """
        return _found(CHANGE, station)

    return [lk.tool(latest), lk.tool(day_change)]


def _found(values: dict[str, float], station: str) -> str:
    if station not in values:
        raise lk.ToolError(f"There is no station {station!r}. They are: {', '.join(values)}.")
    return f"{values[station]:+} °C"


def poor() -> Game:
    """Return the game with poor descriptions."""
    calls = [lk.use("get", x="Oslo"), lk.use("get", x="oslo"), lk.use("get2", x="oslo")]
    script = [*calls, lk.say("I have 16.1 and -1.4, but I can't tell what they mean.")]

    def judge(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
        return [
            Remark(
                None, f"This game took {_counted(messages)}. The second game ends with the answer."
            )
        ]

    return Game(QUESTION, lambda _: [lk.Toolbox(*poor_tools())], script, judge=judge)


def good(poor: BeTheModel | None = None) -> Game:
    """Return the game with good descriptions."""
    script = [lk.use("day_change", station="oslo"), lk.say("No, Oslo is 1.4 °C colder.")]

    def judge(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
        took = {"good": _counted(messages)}
        if poor is not None and poor.finished:
            took = {"poor": _counted(poor.messages), **took}
        said = [f"With the {kind} descriptions, it took {calls}." for kind, calls in took.items()]
        return [*(Remark(None, one) for one in said), _ANSWER]

    return Game(QUESTION, lambda _: [lk.Toolbox(*good_tools())], script, judge=judge)


#: What the second game says at its end; at the end of the first one it would spoil the second.
_ANSWER = Remark(None, f"The answer is: no, Oslo is {-CHANGE['oslo']} °C colder than yesterday.")


def _counted(messages: Sequence[Mapping[str, Any]]) -> str:
    """How many calls a game took, and how many of them failed."""
    blocks = [block for message in messages for block in blocks_of(message["content"])]
    results = [block for block in blocks if block["type"] == "tool_result"]
    failed = [
        one
        for one in results
        if one.get("is_error") or content_text(one.get("content")) == _NOTHING
    ]
    return f"{count(len(results), 'call')}; {len(failed) or 'none'} failed"

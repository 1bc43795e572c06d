"""What parent and children say in lesson 4 where only the number of children matters."""

from __future__ import annotations

from collections.abc import Iterable

import learnkit as lk
from learnkit.events.log import Event
from learnkit.events.text import content_text

#: The lines of ``Subagents.task`` that are the lesson's own ``task``, by a part of each.
IN_TASK = (
    *("def task", "child = self._child(", "text = self._handed_down(", "try:"),
    *("outcome = child.run(", "except BaseException", "raise ToolError(f", "report = _report("),
    "return report",
)

_ASK = lk.use("task", prompt="Which stations are there?", description="list stations")

#: A parent that reads two files, and then asks a child about one of them.
READS_AND_ASKS = {
    "lead": [
        lk.use("bash", command="cat stations/cairo.csv"),
        lk.use("bash", command="cat heatwatch/alerts.py"),
        lk.use(
            "task", prompt="Which readings in stations/cairo.csv are missing?", description="gaps"
        ),
        lk.say("done"),
    ],
    "lead.toolu_0003": [lk.say("One.")],
}


def several_children(number: int) -> dict[str, list[lk.Reply]]:
    """Return a script in which a parent asks children in one reply, and each gives its number."""
    children = {f"lead.toolu_{n:04}": [lk.say(f"answer {n}")] for n in range(1, number + 1)}
    return {"lead": [lk.reply(*[_ASK] * number), lk.say("done")], **children}


def four_readers() -> dict[str, list[lk.Reply]]:
    """Return a script in which each of four children reads ten of the forty parsers."""
    files = [f"parsers/station_{number:02}.py" for number in range(1, 41)]
    script = {"lead": [lk.reply(*[_ASK] * 4), lk.say("done")]}
    for child in range(4):
        reads = [lk.use("read_file", path=path) for path in files[child::4]]
        script[f"lead.toolu_{child + 1:04}"] = [lk.reply(*reads), lk.say("Seven don't.")]
    return script


def first_message(events: Iterable[Event], lane: str) -> str:
    """Return the text that an agent started from."""
    added = (e.data["message"] for e in events if e.type == "message.added" and e.lane == lane)
    return content_text(next(added)["content"])

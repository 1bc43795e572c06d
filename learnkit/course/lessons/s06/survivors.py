"""Lesson 6's picture of what survives a summary: by mechanism, and by the length of the summary.

A real model's summaries differ from run to run. Here a rule writes them: of each thing that the
model has said or called, it keeps the first characters. What is left is looked up in the messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.lab import Lab
from learnkit.course.lessons.s06.daily_logs import write_logs
from learnkit.events.text import listed
from learnkit.runtime.notebook import is_live
from learnkit.views.drawing import static
from learnkit.views.drawing.display import NARROW, Canvas
from learnkit.views.words import title

REQUEST = "Report on the logs of three days."
REASON = "We report in °C, because all our readers use it."
PLAN = [
    {"id": str(number), "text": text, "status": "pending"}
    for number, text in enumerate(("read the logs", "write the report"), start=1)
]
#: What may survive -> a text that is in the messages as long as it does.
SIGNS = {
    "your request": REQUEST,
    "the newest result": "day 03, unit",
    "the plan": "write the report",
    "the reason for °C": REASON,
    "what was done": "logs/day_01.txt",
    "older results": "day 01, unit",
}
#: Edge of the first column, width of a column, and of a mechanism's name at least, room between
#: mechanisms, and from row to row, in pixels.
_LEFT, _COLUMN, _NAME, _BETWEEN, _ROW = 124, 30, 104, 6, 26


@dataclass(frozen=True, slots=True)
class Survivors:
    """What is left after a summary; a notebook shows it when it is the value of a cell.

    Attributes:
        left: name of a mechanism -> characters that a summary keeps of each thing -> what is left,
            of :data:`SIGNS`.
    """

    left: Mapping[str, Mapping[int, frozenset[str]]]

    def draw(self) -> Canvas:
        """Draw a row for each thing, and a column for each summary."""
        columns = [max(_COLUMN * len(kept), _NAME) for kept in self.left.values()]
        width = _LEFT + sum(columns) + _BETWEEN * (len(columns) - 1)
        canvas, x = Canvas(max(NARROW, width)), float(_LEFT)
        canvas.text("kept of each", 0, 38, "characters kept", "q")
        for row, what in enumerate(SIGNS):
            canvas.text(what, 0, 66 + row * _ROW, what)
        for name, lengths in self.left.items():
            canvas.text(name, x, 14, name, "b")
            for keep, left in lengths.items():
                middle = x + _COLUMN / 2
                canvas.text(f"{name} {keep}", middle, 38, str(keep), "qc", width=_COLUMN)
                for row, what in enumerate(SIGNS):
                    mark, glyph, word = _LOOKS[what in left]
                    says = f"{what}, {name}, {keep} characters: {word}"
                    key = f"{name} {keep} {what}"
                    canvas.dot(key, middle, 62 + row * _ROW, 10, mark, glyph, says=says)
                x += _COLUMN
            x += _BETWEEN + max(_NAME - _COLUMN * len(lengths), 0)
        canvas.height = 62 + len(SIGNS) * _ROW
        return canvas

    @property
    def title(self) -> str:
        """How many things every summary keeps with each mechanism."""
        each = []
        for name, lengths in self.left.items():
            always = frozenset(SIGNS).intersection(*lengths.values())
            each.append(f"{len(always)} with {name}")
        return title(f"Always left of {len(SIGNS)} things: {listed(each)}.")

    def __str__(self) -> str:
        said = []
        for name, lengths in self.left.items():
            always = [what for what in SIGNS if all(what in left for left in lengths.values())]
            never = [what for what in SIGNS if not any(what in left for left in lengths.values())]
            verbs = {"always keeps": always, "always loses": never}
            told = (f"{verb} {listed(things)}" for verb, things in verbs.items() if things)
            said.append(f"{name} {', and '.join(told)}.")
        return " ".join([*said, "The rest depends on the length of the summary."])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        canvas, said = self.draw(), str(self)
        picture = canvas.inline(said) if is_live() else canvas.img(said)
        shown = static.form(self.title, picture, self.facts(), said)
        return {"text/html": shown, "text/plain": said}

    def facts(self) -> str:
        """Return what the picture shows as an HTML table."""
        columns = [(name, keep) for name, lengths in self.left.items() for keep in lengths]
        head = ["what", *(f"{name}, {keep} characters" for name, keep in columns)]
        rows = [
            [what, *(_LOOKS[what in self.left[name][keep]][2] for name, keep in columns)]
            for what in SIGNS
        ]
        return static.table(head, rows)


_LOOKS = {True: ("done", "✓", "kept"), False: ("failed", "✗", "lost")}


def survivors(
    lab: Lab,
    mechanisms: Mapping[str, Callable[[Path], lk.Mechanism]],
    keeps: Sequence[int] = (40, 80, 160),
) -> Survivors:
    """Run an agent for each mechanism and length until its messages became a summary."""

    def left(make: Callable[[Path], lk.Mechanism], keep: int) -> frozenset[str]:
        with lab.scenario(f"summary {keep}", script=_rule(keep)) as run:
            write_logs(run.workspace, days=3)
            agent = run.agent(
                [
                    lk.CodingTools(run.workspace),
                    lk.Todo(),
                    make(run.workspace / ".transcripts"),
                ]
            )
            agent.run(REQUEST)
        text = json.dumps(agent.messages[:-1], ensure_ascii=False)  # without the last reply
        return frozenset(what for what, sign in SIGNS.items() if sign in text)

    return Survivors(
        {name: {keep: left(make, keep) for keep in keeps} for name, make in mechanisms.items()}
    )


def _rule(keep: int) -> Callable[[dict[str, Any]], lk.Reply]:
    """A model that plans and reads three logs, and whose summaries follow the rule."""
    reads = [lk.use("read_file", path=f"logs/day_{day:02}.txt") for day in (1, 2, 3)]
    turns = iter([lk.use("todo", items=PLAN), reads[0], lk.reply(REASON, reads[1]), reads[2]])

    def answer(request: dict[str, Any]) -> lk.Reply:
        if request.get("tools"):
            return next(turns, lk.say("Where was I?"))
        lines = str(request["messages"][0]["content"]).splitlines()
        return lk.say("\n".join(one[:keep] for one in lines if one.startswith("assistant:")))

    return answer

"""What every view draws of a day on which everything happens, to the pixel.

And what the pictures of more days say, step by step: sentences, labels and colours, and at the end
all of the picture.

The files in ``drawn/`` hold it in words that can be read in a diff. When a picture should look
different: ``DRAWN=new .venv/bin/pytest -n 0 tests/views/test_drawn.py``, and read the diff. That a
picture says the truth is not asserted here, but in the tests of its view.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from canvases import crowded
from every_view import VIEWS
from second_days import ALONE_AGAIN, FORKED, RACING_AGAIN, TOGETHER_AGAIN
from workday import ALONE, RACING, TOGETHER, Step, log_of, wordy

from learnkit import views
from learnkit.events.log import EventLog
from learnkit.views import View, charts
from learnkit.views.drawing.base import ROWS, Diagram
from learnkit.views.drawing.display import NARROW, WIDE

FOLDER = Path(__file__).resolve().parent / "drawn"
OF_TEAMS = {"Protocol", "Tasks", "Team", "Traffic", "Worktrees"}


def drawn(view: View[Any], k: int, rows: int) -> list[str]:
    """Fragments, picture and tables after k events, an element a line."""
    state = view.at(k)
    parts = [f"== after {k} events: {view.finding(state)}"]
    html = [] if isinstance(view, Diagram) else view.frame(state).items()
    parts += [f"-- {key}\n{re.sub(r'>(?=<)', chr(62) + chr(10), one)}" for key, one in html]
    for width in (WIDE, NARROW) if isinstance(view, Diagram) else (WIDE,):
        shapes = view.draw(state, width, rows).frame().items()
        parts += [f"-- {width} pixels, {rows} rows", *(f"{k[2:]}: {v}" for k, v in shapes)]
    return [*parts, "-- tables", *re.sub(r">(?=<)", ">\n", view.facts(state, rows)).split("\n")]


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: str(kind.__name__))
def test_a_day_is_drawn_as_it_was(kind: type[View[Any]]) -> None:
    name = kind.__name__
    steps = RACING if name == "Schedule" else TOGETHER if name in OF_TEAMS else ALONE
    view = kind(log_of(steps))
    # In the middle something runs and waits; at the end there is little room, for lines and words.
    parts = [*drawn(view, 0, 4), *drawn(view, len(steps) // 2, 48), *drawn(view, len(steps), 4)]
    full = drawn(kind(log_of(wordy(steps))), len(steps) - 9, 12)
    text = "\n".join([*parts, *full]) + "\n"
    compared(text, FOLDER / f"{name.lower()}.txt")


def labelled(view: View[Any], state: Any) -> dict[str, str]:
    """What stands in a picture, by key, without its places."""
    if not isinstance(view, Diagram):
        fragments = view.frame(state).items()
        return {
            key: one if len(one) < 900 else f"{one[:450]} … {one[-450:]}" for key, one in fragments
        }
    found = {}
    for one in view.draw(state, WIDE, 48).shapes:
        texts = [f"{text!r}" for text in one.lines]
        said = [f"says {one.says!r}"] * bool(one.says) + [f"pair {one.pair}"] * bool(one.pair)
        found[one.key] = " ".join(filter(None, [one.kind, one.mark, one.style, *texts, *said]))
    return found


def told(view: View[Any]) -> Iterator[str]:
    """For each step: its sentence, that of the whole picture if it is another, and what changed."""
    state = view.init()
    shown, finding = labelled(view, state), view.finding(state)
    yield f"== {finding}"
    for number, event in enumerate(view.events, start=1):
        new = view.step(state, event)
        if new is state:
            continue
        yield f"== {number} {event.type}: {view.told(new, state, event)}"
        if (said := view.finding(new)) != finding:
            yield f"   {said}"
        now = labelled(view, new)
        yield from (f"+ {key}: {one}" for key, one in now.items() if shown.get(key) != one)
        yield from (f"- {key}" for key in shown if key not in now)
        state, shown, finding = new, now, said
    yield from drawn(view, len(view.events), 12)


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: str(kind.__name__))
def test_each_step_of_a_day_says_what_it_said(kind: type[View[Any]]) -> None:
    name = kind.__name__
    days: list[list[Step]] = [ALONE, ALONE_AGAIN]
    if name in OF_TEAMS:
        days = [TOGETHER, TOGETHER_AGAIN]
    elif name == "Schedule":
        days = [RACING, RACING_AGAIN]
    elif name == "Branches":
        days = [ALONE_AGAIN, FORKED]
    text = "\n".join(line for day in days for line in told(kind(log_of(day)))) + "\n"
    compared(text, FOLDER / "steps" / f"{name.lower()}.txt")


def pressed(intent: dict[str, Any]) -> None:
    """Nothing happens."""


BUTTONS = {f"Add a task for the {role}": {"add": role} for role in ("coder", "tester", "lead")}
#: What views draw when they are asked for more than a log.
ASKED: dict[str, View[Any]] = {
    "a team with buttons": views.Team(log_of(TOGETHER), on_intent=pressed, buttons=BUTTONS),
    "a team whose buttons nobody hears": views.Team(log_of(TOGETHER), buttons=BUTTONS),
    "tasks to press": views.Tasks(log_of(TOGETHER_AGAIN), on_intent=pressed),
    "one agent alone": views.Contexts(log_of(ALONE[:-1]), alone=log_of(ALONE_AGAIN)),
    "two runs": views.Timeline({"first": log_of(ALONE), "then": log_of(ALONE_AGAIN)}),
    "two runs, one of them over": views.Timeline({"was": log_of(ALONE_AGAIN), "is": log_of(ALONE)}),
    "no run": views.Timeline({}),
    "the tokens of another": views.Tokens(log_of(ALONE_AGAIN), lane="helper"),
    "the messages of another": views.Compaction(log_of(ALONE_AGAIN), lane="helper"),
    "the time of another": views.Timeline(log_of(ALONE_AGAIN), lane="helper"),
}


def test_what_a_view_is_asked_for_besides_is_drawn_as_it_was() -> None:
    parts = []
    for title, view in ASKED.items():
        parts += [f"##### {title}", *drawn(view, len(view.events), 8)]
    compared("\n".join(parts) + "\n", FOLDER / "asked.txt")


@dataclass
class Trial:
    """A run that a chart compares."""

    passed: bool
    turns: int
    tokens: float
    cost: float


def trials(seed: int) -> list[Trial]:
    return [Trial(n % seed == 0, n % 7 + seed, 90.0 * seed + n, 0.01 * n) for n in range(9)]


def test_charts_are_drawn_as_they_were() -> None:
    log, other = EventLog(), EventLog()
    for length in (100, 900, 1_400, 300):
        log.append("model.replied", usage={"input_tokens": length})
        other.append("model.replied", lane="alice", usage={"input_tokens": 2 * length})
    other.append("model.replied", usage={"input_tokens": 50})
    names = ("from the cache", "written to it", "new or rewritten", "output", *"abcdefgh")
    parts = {name: float(3**number) for number, name in enumerate(names)}
    shown = [
        charts.compare(
            {"off": trials(1), "on": trials(3)}, ["passed", "turns", "cost"], "On wins."
        ),
        charts.compare({"a": trials(2)[:4], "b": trials(1)}, ["tokens"], "B costs less."),
        charts.bars({"one": parts, "two": {"c": 9e6, "z": 2.5}}, "One is long.", "tokens"),
        charts.bars({"nothing": {"a": 0.0}}, "There is nothing."),
        charts.tokens({"short": log, "long": log}, "Both are.", threshold=1_200),
        charts.tokens({"alice": other}, "Alice reads.", lane="alice"),
        charts.tokens({"once": other}, "Once."),
    ]
    text = "\n".join(
        "\n".join([str(chart), *(f"{k[2:]}: {v}" for k, v in chart.canvas.frame().items())])
        for chart in shown
    )
    compared(text + "\n", FOLDER / "charts.txt")


def compared(text: str, file: Path) -> None:
    """Compare a text with the one in a file, or replace that one."""
    if os.environ.get("DRAWN") == "new":
        file.write_text(text, "utf-8")
    assert text.splitlines() == file.read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in VIEWS if issubclass(kind, Diagram)])
def test_no_text_of_that_day_lies_upon_another(kind: type[Diagram[Any]]) -> None:
    name = kind.__name__
    steps = RACING if name == "Schedule" else TOGETHER if name in OF_TEAMS else ALONE
    for log in (log_of(steps), log_of(wordy(steps))):
        view = kind(log)
        for k in range(len(steps) + 1):
            for width in (WIDE, NARROW):
                assert crowded(view.draw(view.at(k), width, ROWS)) == [], (k, width)

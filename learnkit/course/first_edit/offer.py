"""Show the panel of a miss, and run a cell again with replies from a list."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from learnkit.clients.recordings.recording import Recording
from learnkit.clients.recordings.replay import Miss
from learnkit.clients.scripted import Failure, Reply, say
from learnkit.course import files as course_files
from learnkit.course.first_edit import script
from learnkit.course.first_edit.panel import Cell, Panel
from learnkit.course.first_edit.rerun import ending, rerun
from learnkit.course.games.be_the_model.seat import Given, Paused
from learnkit.course.jupyter.edited_cells import RAN
from learnkit.course.jupyter.errors import code_cells
from learnkit.errors import UsageError

Replies = Sequence[Reply | Failure | str]


def offer(miss: Miss, recording: Path, unused: Sequence[str]) -> None:
    """Display the panel of a miss, below the cell that has run last."""
    from learnkit.course.display.card import bundle
    from learnkit.course.first_edit.widget import Place

    panel = panel_of(miss, recording, unused, RAN.id, RAN.text)
    shown = {**bundle(Place(panel).box), "text/plain": repr(panel)}
    display = sys.modules["IPython"].display
    display.clear_output()  # what the cell has shown comes again with each try
    display.display(shown, raw=True)


def panel_of(miss: Miss, recording: Path, unused: Sequence[str], cell: str, ran: str) -> Panel:
    """Return the panel of a miss."""
    loaded = Recording.load(recording)
    lanes = {turn.lane for turn in loaded.turns if turn.scenario == miss.scenario}
    text = script.cell(script.rest_of(loaded, miss, unused), miss)
    return Panel(
        miss,
        Cell(cell, ran, text),
        team=len(lanes) > 1,
        ran=RAN,
        originals=code_cells(course_files.notebook(recording.stem)),
        shell=sys.modules["IPython"].get_ipython(),
    )


def answer_with(replies: Replies | Mapping[str, Replies], cell: str) -> str:
    """Run a cell once more, with replies of the learner's where the recording has none."""
    lanes = replies if isinstance(replies, Mapping) else {"": replies}
    given = Given({lane: [_reply(one) for one in lines] for lane, lines in lanes.items()})
    error = rerun(sys.modules["IPython"].get_ipython(), cell, given)
    if isinstance(error, Paused):
        return (
            f"{error.lane!r} asks once more, and your list has no reply left: add one. A reply "
            "that calls no tool ends the loop."
        )
    left = given.left()
    unused = f"Your list has {left} more than were asked for." if left else ""
    return " ".join(filter(None, [ending(error), unused]))


def _reply(given: Any) -> Reply | Failure:
    if isinstance(given, str):
        return say(given)
    if not isinstance(given, (Reply, Failure)):
        raise UsageError(f"{given!r} is no reply; use lk.use(...), lk.say(...) or lk.reply(...)")
    return given

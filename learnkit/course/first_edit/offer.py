"""Show the panel of a miss."""

from __future__ import annotations

import sys
from pathlib import Path

from learnkit.clients.recordings.recording import Recording
from learnkit.clients.recordings.replay import Miss
from learnkit.course import files as course_files
from learnkit.course.first_edit.panel import Panel
from learnkit.course.jupyter.edited_cells import RAN
from learnkit.course.jupyter.errors import code_cells


def offer(miss: Miss, recording: Path) -> None:
    """Display the panel of a miss, below the cell that has run last."""
    from learnkit.course.display.card import bundle
    from learnkit.course.first_edit.widget import Place

    turns = Recording.load(recording).turns
    lanes = {turn.lane for turn in turns if turn.scenario == miss.scenario}
    originals = code_cells(course_files.notebook(recording.stem))
    panel = Panel(
        miss,
        RAN.id,
        RAN.text,
        team=len(lanes) > 1,
        edited=RAN.edited(originals, miss.changes),
        shell=sys.modules["IPython"].get_ipython(),
    )
    shown = {**bundle(Place(panel).box), "text/plain": repr(panel)}
    display = sys.modules["IPython"].display
    display.clear_output()  # what the cell has shown comes again with each try
    display.display(shown, raw=True)

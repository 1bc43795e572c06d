"""What a learner sees in place of an error when an edit leaves the recording: a panel with buttons.

It shows what has changed, and offers ways on: undo the change, be the model, and ask a model where
one answers. Nothing starts, and no cell is changed, before a button is pressed. Below the panel is
the place for the cell's output when it runs again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from learnkit.clients.recordings.difference import finding
from learnkit.clients.recordings.recording import Recording
from learnkit.clients.recordings.replay import WAYS_ON, Miss
from learnkit.clients.scripted import Source
from learnkit.course import files as course_files
from learnkit.course.display.card import bundle
from learnkit.course.display.page import Page, script_beside
from learnkit.course.first_edit import desk
from learnkit.course.first_edit.answers import Server, server_here
from learnkit.course.first_edit.rerun import ending, rerun
from learnkit.course.first_edit.seat import CellSeat
from learnkit.course.games.be_the_model.widget import SessionPanel
from learnkit.course.jupyter.edited_cells import RAN, Edited
from learnkit.course.jupyter.errors import code_cells
from learnkit.errors import UsageError, lab_extra
from learnkit.views.drawing.base import css_beside

with lab_extra():
    import ipywidgets

Json = dict[str, Any]


class Panel(Page):
    """The panel of one miss.

    Attributes:
        box: the panel with what is below it, to be displayed.
        seat: the model's place, once the learner has taken it.
    """

    _esm = script_beside(__file__)

    def __init__(
        self,
        miss: Miss,
        cell: str,
        ran: str,
        *,
        team: bool,
        edited: Sequence[Edited],
        shell: Any,
    ) -> None:
        self.miss, self.cell, self.team = miss, cell, team
        self._ran, self._edited, self._shell = ran, edited, shell
        self._phase = self._note = ""
        self._server = server_here()
        self._seq = 0
        self._output: ipywidgets.Output | None = None
        self._place: SessionPanel | None = None
        self.seat: CellSeat | None = None
        super().__init__([css_beside(__file__)], self.message(), self.act, desk.opened(self))
        self._below = ipywidgets.VBox([])
        self.box = ipywidgets.VBox([self, self._below])

    def state(self) -> Json:
        """Return what the page shows, ready for JSON."""
        return {
            "title": finding(self.miss.changes),
            "changes": [
                {"where": one.where, "pieces": [list(piece) for piece in one.pieces]}
                for one in self.miss.changes
            ],
            "cell": self.cell,
            "undo": [
                {"id": one.id, "was": one.was, "now": one.now, "lines": one.lines()}
                for one in self._edited
            ],
            "server": self._server[1] if self._server else "",
            "phase": self._phase,
            "note": self._note,
        }

    def message(self) -> Json:
        """Return the state, numbered."""
        self._seq += 1
        return {"seq": self._seq, "state": self.state()}

    def act(self, intent: Json) -> None:
        """Do what a button asks for."""
        if intent.get("want"):
            self._show(self._phase, self._note)
        elif intent.get("server"):
            self.ask_the_server()
        elif intent.get("model"):
            self.be_the_model()

    def ask_the_server(self) -> None:
        """Run the cell again, with a real model from the miss on."""
        if self._server is None:
            raise UsageError("no model answers here: set ANTHROPIC_BASE_URL or ANTHROPIC_API_KEY")
        self._show("runs")
        with closing(Server(self._server[0])) as server:
            error = self._again(server)
        count = "1 request" if server.asked == 1 else f"{server.asked} requests"
        self._show("ran", f"{self._server[1]} answered {count}. {ending(error)}".rstrip())

    def be_the_model(self) -> None:
        """Run the cell again up to the miss, and let the learner answer there."""
        self._show("model")
        self.seat = CellSeat(self._again, self.team)
        self.seat.go()
        self._place = SessionPanel(self.seat.act, self.seat.message(), desk.opened(self.seat))
        self.seat.tell = self._place.send
        self._lay_out()

    def _again(self, rest: Source) -> BaseException | None:
        """Run the cell with its output in a new, empty place; a seat stays above it."""
        last, self._output = self._output, ipywidgets.Output()
        self._lay_out()
        if last is not None:
            last.close()
        return rerun(self._shell, self._ran, rest, self._output)

    def _lay_out(self) -> None:
        self._below.children = [one for one in (self._place, self._output) if one is not None]

    def _show(self, phase: str, note: str = "") -> None:
        self._phase, self._note = phase, note
        self.send(self.message())

    def __repr__(self) -> str:
        ways = "\n".join(f"  - {way}" for way in WAYS_ON)
        return f"{finding(self.miss.changes)}\nWhat you can do:\n{ways}"


def offer(miss: Miss, recording: Path) -> None:
    """Display the panel of a miss, below the cell that has run last."""
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
    shown = {**bundle(panel.box), "text/plain": repr(panel)}
    display = sys.modules["IPython"].display
    display.clear_output()  # what the cell has shown comes again with each try
    display.display(shown, raw=True)

"""What a learner sees in place of an error when an edit leaves the recording: a panel with buttons.

It shows what has changed, and offers ways on: undo the change, be the model, and ask a model where
one answers. Nothing starts, and no cell is changed, before a button is pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

from learnkit.clients.recordings.difference import finding
from learnkit.clients.recordings.replay import WAYS_ON, Miss
from learnkit.course.first_edit import desk
from learnkit.course.first_edit.answers import Rest, Server, server_here
from learnkit.course.first_edit.rerun import ending, rerun
from learnkit.course.first_edit.seat import CellSeat
from learnkit.course.jupyter.edited_cells import Edited
from learnkit.errors import UsageError

Json = dict[str, Any]


class Panel:
    """The panel of one miss.

    Attributes:
        name: under which the page's buttons find it.
        screen: gets each message for the page.
        place: makes an empty place for a cell's output.
        seated: shows the model's place.
    """

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
        self.screen: Callable[[Json], object] = lambda message: None
        self.place: Callable[[], AbstractContextManager[Any]] = nullcontext
        self.seated: Callable[[CellSeat], object] = lambda seat: None
        self.name = desk.opened(self)
        self._phase = self._note = ""
        self._server = server_here()
        self._seq = 0

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
            self._show()
        elif intent.get("server"):
            self.ask_the_server()
        elif intent.get("model"):
            self.be_the_model()

    def ask_the_server(self) -> None:
        """Run the cell again, with a real model from the miss on."""
        if self._server is None:
            raise UsageError("no model answers here: set ANTHROPIC_BASE_URL or ANTHROPIC_API_KEY")
        self._note = ""
        self._show("runs")
        with closing(Server(self._server[0])) as server:
            error = self._again(server)
        count = "1 request" if server.asked == 1 else f"{server.asked} requests"
        self._note = f"{self._server[1]} answered {count}. {ending(error)}".rstrip()
        self._show("ran")

    def be_the_model(self) -> CellSeat:
        """Run the cell again up to the miss, and let the learner answer there."""
        self._note = ""
        self._show("model")
        seat = CellSeat(self._again, self.team)
        seat.go()
        self.seated(seat)
        return seat

    def _again(self, rest: Rest) -> BaseException | None:
        return rerun(self._shell, self._ran, rest, self.place())

    def _show(self, phase: str | None = None) -> None:
        self._phase = self._phase if phase is None else phase
        self.screen(self.message())

    def __repr__(self) -> str:
        ways = "\n".join(f"  - {way}" for way in WAYS_ON)
        return f"{finding(self.miss.changes)}\nWhat you can do:\n{ways}"

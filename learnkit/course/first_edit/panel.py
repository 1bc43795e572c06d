"""What a learner sees in place of an error when an edit leaves the recording: a panel with buttons.

It shows what has changed, and offers four ways on: undo the change, let the stand-in try it, be the
model, or script it. Nothing starts before a button is pressed, and no cell is changed without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from learnkit.clients.recordings.difference import finding
from learnkit.clients.recordings.replay import WAYS_ON, Miss
from learnkit.core.text import listed
from learnkit.course.first_edit import desk
from learnkit.course.first_edit.answers import Rest, StandsIn
from learnkit.course.first_edit.edited_cells import Ran
from learnkit.course.first_edit.rerun import ending, rerun
from learnkit.course.first_edit.seat import Seat
from learnkit.simulation.stand_in.model import BADGE, Explanation

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell that missed: its id, the text that ran, and the text of a cell that scripts it."""

    id: str
    text: str
    script: str


class Panel:
    """The panel of one miss.

    Args:
        miss: why the cell ended.
        cell: the one that missed.
        team: whether the recording has several agents.
        ran: what has run in this kernel.
        originals: the text of each code cell of the lesson, by its id.
        shell: IPython's.

    Attributes:
        name: under which the page's buttons find it.
        screen: gets each message for the page.
        place: makes an empty place for a cell's output.
        seated: shows the model's place.
    """

    def __init__(
        self,
        miss: Miss,
        cell: Cell,
        *,
        team: bool,
        ran: Ran,
        originals: Mapping[str, str],
        shell: Any,
    ) -> None:
        self.miss, self.cell, self.team = miss, cell, team
        self._edited = ran.edited(originals, miss.changes)
        self._shell = shell
        self.screen: Callable[[Json], object] = lambda message: None
        self.place: Callable[[], AbstractContextManager[Any]] = nullcontext
        self.seated: Callable[[Seat], object] = lambda seat: None
        self.name = desk.opened(self)
        self._phase = self._note = ""
        self._steps: list[Explanation] = []
        self._seq = 0

    def state(self) -> Json:
        """Return what the page shows, ready for JSON."""
        return {
            "title": finding(self.miss.changes),
            "changes": [
                {"where": one.where, "pieces": [list(piece) for piece in one.pieces]}
                for one in self.miss.changes
            ],
            "cell": self.cell.id,
            "undo": [
                {"id": one.id, "was": one.was, "now": one.now, "lines": one.lines()}
                for one in self._edited
            ],
            "script": self.cell.script,
            "badge": BADGE,
            "phase": self._phase,
            "note": self._note,
            "steps": self._told(),
        }

    def message(self) -> Json:
        """Return the state, numbered."""
        self._seq += 1
        return {"seq": self._seq, "state": self.state()}

    def act(self, intent: Json) -> None:
        """Do what a button asks for.

        Args:
            intent: ``{"try": true}`` for the stand-in, ``{"model": true}`` for the model's place,
                ``{"want": true}`` for the state; others go to the seat.
        """
        if intent.get("want"):
            self._show()
        elif intent.get("try"):
            self.let_the_stand_in_try()
        elif intent.get("model"):
            self.be_the_model()

    def let_the_stand_in_try(self) -> StandsIn:
        """Run the cell again, with the stand-in from the miss on.

        Returns:
            The stand-in, with its explanations.
        """
        stand_in = StandsIn(self.miss, self.team, lambda: self._show("runs"))
        self._steps, self._note = stand_in.explained, ""
        self._show("runs")
        error = self._again(stand_in)
        self._note = _outcome(stand_in, self.team, error)
        self._show("tried")
        return stand_in

    def be_the_model(self) -> Seat:
        """Run the cell again up to the miss, and let the learner answer there.

        Returns:
            The model's place.
        """
        self._steps, self._note = [], ""
        self._show("model")
        seat = Seat(self._again, self.team)
        seat.go()
        self.seated(seat)
        return seat

    def _again(self, rest: Rest) -> BaseException | None:
        return rerun(self._shell, self.cell.text, rest, self.place())

    def _told(self) -> list[Json]:
        """Each rule of the stand-in, by agent: its words of the prompt, used and ignored."""
        steps: dict[tuple[str, str], Json] = {}
        for one in list(self._steps):  # agents in threads add to it
            lane = one.lane if self.team else ""
            step = steps.setdefault(
                (lane, one.rule),
                {"lane": lane, "rule": one.rule, "used": {}, "ignored": {}, "times": 0},
            )
            step["used"] |= dict.fromkeys(one.used)
            step["ignored"] |= dict.fromkeys(one.ignored)
            step["times"] += 1
        return [
            {**one, "used": " ".join(one["used"]), "ignored": " ".join(one["ignored"])}
            for one in steps.values()
        ]

    def _show(self, phase: str | None = None) -> None:
        self._phase = self._phase if phase is None else phase
        self.screen(self.message())

    def __repr__(self) -> str:
        ways = "\n".join(f"  - {way}" for way in WAYS_ON)
        return f"{finding(self.miss.changes)}\nWhat you can do:\n{ways}"


def _outcome(stand_in: StandsIn, team: bool, error: BaseException | None) -> str:
    """What came of the stand-in's try, in a few sentences."""
    said = stand_in.explained
    mine = [one for one in said if not team or one.lane == said[0].lane]
    told = []
    if stand_in.earlier and said and not team:
        told.append(
            "It can't take over work that is half done, so it began your prompt from its start, "
            "without the recorded replies to it."
        )
    if team:
        told.append("It played every agent of the team.")
    if not said:
        told.append("It was asked nothing: the recording has every reply now.")
    elif mine[-1].done:
        told.append("It says it's done: it handled every clause, and a result confirms each.")
    elif mine[-1].unknown:
        told.append(f"It isn't done: it has no rule for {listed([*map(repr, mine[-1].unknown)])}.")
    else:
        told.append("It isn't done; its last reply says why.")
    return " ".join([*told, *filter(None, [ending(error)])])

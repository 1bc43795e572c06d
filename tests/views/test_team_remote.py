"""Teammates of other processes, as the pictures of a real lead's log show them: joined, lost, back.

The log is what the lead writes when it reads a roster; only the beats are set by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from canvases import words
from teams import say

import learnkit as lk
from learnkit.core.agent import Agent
from learnkit.views import Team, Traffic
from learnkit.views.drawing.display import NARROW, WIDE

SILENCE = 60.0


class Seen:
    """A lead that looks at its roster, and alice, who beats from another machine when told to."""

    def __init__(self, folder: Path) -> None:
        self.clock = lk.VirtualClock()
        backend = lk.open_backend(f"files:{folder}", clock=self.clock)
        self.roster = backend.roster()
        self.team = lk.Team(None, lambda *_: [], backend=backend, silence=SILENCE)
        client = lk.scripted({"lead": say("Hello.")}, clock=self.clock)
        self.lead = Agent(client, [self.team])
        self.lead.run("Hello.")
        self.clock.sleep(5.0)

    def look(self) -> None:
        self.team.read_inbox()

    def alice(self, status: str = "working", incarnation: str = "a1") -> None:
        """She is heard of, and the lead looks."""
        entry = {"name": "alice", "role": "coder", "status": status, "incarnation": incarnation}
        self.roster.note(entry)
        self.roster.beat("alice", incarnation, "host-b")
        self.look()

    def silent(self) -> None:
        """She is not heard of for too long, and the lead looks."""
        self.clock.sleep(SILENCE + 1)
        self.look()

    @property
    def told(self) -> list[str]:
        """The types of the events in her lane."""
        return [one.type for one in self.lead.events if one.lane == "alice"]


def facts(view: Team) -> str:
    return " ".join(re.sub("<[^>]+>", " ", view.facts(view.at(), 60)).split())


@pytest.mark.parametrize("incarnation", ["a1", "a2"])
def test_who_is_heard_of_again_is_back_in_the_picture(tmp_path: Path, incarnation: str) -> None:
    """The same process after a long sleep, and a new one under the same name."""
    seen = Seen(tmp_path)
    team, traffic = Team(seen.lead.events), Traffic(seen.lead.events)

    def pictures(view: Team | Traffic) -> list[str]:
        return [words(view.draw(view.at(), width, 60)) for width in (WIDE, NARROW)]

    assert not [one for one in (*pictures(team), *pictures(traffic)) if "alice" in one]
    seen.alice()
    joined = next(one.time for one in seen.lead.events if one.type == "team.joined")
    assert team.at().spans("alice")[0][1] == joined == seen.clock.time() > 0
    assert team.finding(team.at()).endswith("lead is idle; alice is working.")
    assert "working on host-b" in facts(team)
    canvas = traffic.draw(traffic.at(), WIDE, 60)
    assert canvas["head alice"].y > canvas["head lead"].y, "she joins below what was before"
    assert all("alice" in one for one in (*pictures(team), *pictures(traffic)))

    seen.silent()
    seen.look()
    assert seen.told == ["team.joined", "team.status", "team.lost"], "it is said once"
    assert team.finding(team.at()).endswith("lead is idle; alice is not heard from.")
    assert "not heard from" in team.draw(team.at(), NARROW, 60)["name alice"].says
    assert "not heard from on host-b" in facts(team)

    seen.alice(incarnation=incarnation)
    again = ["team.joined"] if incarnation == "a2" else []
    assert seen.told[3:] == [*again, "team.status"]
    assert "working on host-b" in facts(team)
    assert "not heard from" not in facts(team)
    assert team.finding(team.at()).endswith("alice is working.")

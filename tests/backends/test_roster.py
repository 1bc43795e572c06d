"""Who is in a team: a name has one owner, and a run of it that was replaced changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import learnkit as lk
from learnkit.backends.files.values import members_in
from learnkit.backends.roster import Roster

LOCAL = {"name": "alice", "role": "coder", "status": "idle"}
FIRST = {**LOCAL, "incarnation": "a1"}
SECOND = {**LOCAL, "incarnation": "a2"}


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return members_in(tmp_path, "team", lk.VirtualClock().now)


def test_members_stay_in_the_order_in_which_they_joined(roster: Roster) -> None:
    """A new entry replaces the one with the same name; a lead that begins anew ends its own."""
    for member in ({**LOCAL, "name": "bob"}, FIRST, {**LOCAL, "name": "bob", "role": "tester"}):
        roster.note(member)
    roster.begin()
    bob = {"name": "bob", "role": "tester", "status": "shutdown"}
    assert roster.members() == [bob, FIRST]


def test_what_its_beats_have_said_stays_with_a_run(roster: Roster) -> None:
    with pytest.raises(lk.ToolError, match="no member is called 'alice'; there are: none"):
        roster.beat("alice", "a1", "here")
    roster.note(FIRST)
    roster.beat("alice", "a1", "machine 7")
    roster.note({**FIRST, "status": "working"})
    (found,) = roster.members()
    assert (found["status"], found["where"], found["silent"]) == ("working", "machine 7", "0")
    assert roster.beat("alice", "a2", "machine 8") is False
    roster.note(SECOND)
    assert roster.members() == [SECOND]
    assert roster.beat("alice", "a1", "machine 7") is False
    assert roster.beat("alice", "a2", "machine 8") is True
    assert roster.members()[0]["where"] == "machine 8"
    roster.note(LOCAL)
    assert roster.members() == [LOCAL]


def test_a_member_that_was_replaced_cannot_overwrite_its_successor(roster: Roster) -> None:
    """Whoever names the incarnation that it has seen changes that one's entry, or none."""
    assert roster.note(FIRST, held_by="a1") is False
    assert roster.members() == []
    roster.note(FIRST)
    assert roster.note(SECOND, held_by="a1") is True
    for member, held_by in ((FIRST, "a1"), (LOCAL, "a1"), (LOCAL, "")):
        assert roster.note(member, held_by=held_by) is False
        assert roster.members() == [SECOND]
    assert roster.note(LOCAL, held_by="a2") is True
    assert roster.note(SECOND, held_by="a2") is False
    assert roster.note({**LOCAL, "role": "tester"}, held_by="") is True
    assert roster.members() == [{**LOCAL, "role": "tester"}]

"""Requests and members: each is answered once, and a name has one owner."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from learnkit.backends.interface import Backend
from learnkit.errors import ToolError, extra
from learnkit.testing.case import LONG, SHORT, TEXTS, BackendCase, at_once

with extra("test"):
    import pytest


class RequestTests(BackendCase):
    """What a :class:`~learnkit.backends.interface.RequestBackend` promises."""

    def test_a_request_is_answered_once_and_by_its_addressee(self, backend: Backend) -> None:
        """It has eight characters, and an answer that stays."""
        requests = backend.requests()
        asked = requests.open("shutdown", "lead", "alice", "please")
        assert len(asked.id) == 8
        assert requests.get(asked.id) == asked
        for by in ("lead", "bob", "alice ", ""):
            with pytest.raises(ToolError, match="is for alice to answer"):
                requests.answer(asked.id, by, "approved")
        with pytest.raises(ToolError, match="cannot become changes_requested"):
            requests.answer(asked.id, "alice", "changes_requested")
        answered = requests.answer(asked.id, "alice", "rejected", TEXTS[0])
        assert (answered.state, answered.note) == ("rejected", TEXTS[0])
        with pytest.raises(ToolError, match="already rejected, which cannot be changed"):
            requests.answer(asked.id, "alice", "approved")
        assert requests.get(asked.id) == answered
        with pytest.raises(ToolError, match=f"no request 'r9'; the latest .*: {asked.id}"):
            requests.answer("r9", "lead", "approved")
        with pytest.raises(ToolError, match="no request"):
            backend.requests("none").get("r0000001")

    def test_of_many_who_answer_at_once_one_is_heard(self, backend: Backend) -> None:
        """The others are refused."""
        asked, heard = backend.requests().open("shutdown", "lead", "alice", "please"), list[str]()

        def answer(number: int) -> None:
            with self.second(backend) as second, suppress(ToolError):
                second.requests().answer(asked.id, "alice", "approved", str(number))
                heard.append(str(number))

        at_once(answer)
        assert [backend.requests().get(asked.id).note] == heard

    def test_the_same_is_not_asked_twice_while_it_is_pending(self, backend: Backend) -> None:
        """Nor by several at once."""
        requests, opened = backend.requests(), list[str]()

        def ask(number: int) -> None:
            with self.second(backend) as second, suppress(ToolError):
                opened.append(second.requests().open("plan", "alice", "lead", "a plan").id)

        at_once(ask)
        assert [one.id for one in requests.all()] == opened
        assert len(opened) == 1
        with pytest.raises(ToolError, match=f"{opened[0]} to lead has no answer yet"):
            requests.open("plan", "alice", "lead", "a plan")
        requests.open("plan", "bob", "lead", "another's plan")
        requests.open("shutdown", "lead", "alice", "please")
        requests.answer(opened[0], "lead", "approved")
        assert requests.open("plan", "alice", "lead", "the next").id != opened[0]

    def test_a_request_expires_at_its_deadline(self, backend: Backend) -> None:
        """Also if no one has looked at it since."""
        requests = backend.requests()
        stays = requests.open("shutdown", "lead", "bob", "please", within=LONG)
        asked = requests.open("shutdown", "lead", "alice", "please", within=SHORT)
        assert asked.expires
        self.let_pass(2 * SHORT)
        assert [one.state for one in requests.all()] == ["pending", "expired"]
        with pytest.raises(ToolError, match="already expired"):
            requests.answer(asked.id, "alice", "approved")
        assert requests.open("shutdown", "lead", "alice", "again").state == "pending"
        assert requests.get(stays.id).state == "pending"
        closed = requests.expire(stays.id, "why not")
        assert closed is not None
        assert (closed.state, closed.note) == ("expired", "why not")
        assert requests.expire(stays.id, "again") is None
        with pytest.raises(ToolError, match="no request"):
            requests.expire("r9", "why")

    def test_a_new_assignment_ends_what_was_asked_before(self, backend: Backend) -> None:
        """Of the same teammate only; and its old plan is not the current one any more."""
        requests = backend.requests()
        assert requests.current("bob") is None
        requests.assign("bob")
        old = requests.open("plan", "bob", "lead", "the old one")
        requests.answer(old.id, "lead", "approved")
        late = requests.open("plan", "bob", "lead", "a late one")
        asked = requests.open("shutdown", "lead", "bob", "please")
        other = requests.open("plan", "carol", "lead", "another's")
        assert requests.current("bob") == late
        assert [one.id for one in requests.assign("bob")] == [late.id, asked.id]
        assert requests.current("bob") is None
        assert requests.current("carol") == other
        with pytest.raises(ToolError, match="already expired"):
            requests.answer(late.id, "lead", "approved")
        new = requests.open("plan", "bob", "lead", "the new one")
        assert new.assignment == late.assignment + 1
        assert [one.id for one in requests.expire_all("bob", "bob has ended")] == [new.id]
        assert requests.expire_all("bob", "again") == []
        assert requests.get(other.id).state == "pending"

    def test_whether_a_plan_is_needed_is_known_everywhere(self, backend: Backend) -> None:
        """And what is said last counts."""
        requests = backend.requests()
        assert requests.requires_plan() is False
        for required in (True, True, False, True):
            requests.require_plan(required)
            with self.second(backend) as second:
                assert second.requests().requires_plan() is required
                assert second.requests("other").requires_plan() is False
        assert requests.all() == []


class RosterTests(BackendCase):
    """What a :class:`~learnkit.backends.interface.RosterBackend` promises."""

    def test_members_stay_in_the_order_in_which_they_joined(self, backend: Backend) -> None:
        """A new entry replaces the one with the same name."""
        roster = backend.roster()
        assert roster.members() == []
        for name in ("bob", "alice"):
            roster.note({"name": name, "role": "coder", "status": "working"})
        roster.note({"name": "bob", "role": "tester", "status": "idle"})
        expected = [
            {"name": "bob", "role": "tester", "status": "idle"},
            {"name": "alice", "role": "coder", "status": "working"},
        ]
        assert roster.members() == expected

    def test_a_member_in_a_process_of_its_own_is_heard_of(self, backend: Backend) -> None:
        """Its beats say where it is; a later incarnation takes the name over."""
        roster = backend.roster()
        member = {"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"}
        with pytest.raises(ToolError, match="no member is called 'alice'; there are: none"):
            roster.beat("alice", "a1", "here")
        roster.note(member)
        assert roster.members() == [member]
        assert roster.beat("alice", "a1", "machine 7") is True
        (found,) = roster.members()
        assert (found["where"], int(found["silent"]) < 60) == ("machine 7", True)
        heard = datetime.fromisoformat(found["heard"])
        assert heard.tzinfo is not None
        self.let_pass(SHORT)
        roster.note({**member, "status": "working"})
        (found,) = roster.members()
        assert (found["status"], found["where"]) == ("working", "machine 7")
        assert datetime.fromisoformat(found["heard"]) == heard
        assert roster.beat("alice", "a1", "machine 7") is True
        assert datetime.fromisoformat(roster.members()[0]["heard"]) > heard
        assert roster.beat("alice", "a2", "machine 8") is False
        roster.note({**member, "incarnation": "a2"})
        assert "where" not in roster.members()[0]
        assert roster.beat("alice", "a1", "machine 7") is False
        assert roster.beat("alice", "a2", "machine 8") is True
        assert roster.members()[0]["where"] == "machine 8"

    def test_a_member_that_was_replaced_cannot_overwrite_its_successor(
        self, backend: Backend
    ) -> None:
        """Whoever names the incarnation that it has seen changes that one's entry, or none."""
        roster = backend.roster()
        member = {"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"}
        ended = {**member, "status": "shutdown"}
        assert roster.note(ended, held_by="a1") is False
        assert roster.members() == []
        assert roster.note(member) is True
        assert roster.beat("alice", "a1", "machine 7") is True
        assert roster.note({**member, "status": "working"}, held_by="a1") is True
        assert [roster.members()[0][key] for key in ("status", "where")] == ["working", "machine 7"]
        successor = {**member, "incarnation": "a2"}
        assert roster.note(successor) is True
        assert roster.note(ended, held_by="a1") is False
        local = {"name": "alice", "role": "coder", "status": "shutdown"}
        assert roster.note(local, held_by="a1") is False
        assert roster.note(local, held_by="") is False
        assert roster.members() == [successor]
        assert roster.note(local, held_by="a2") is True
        assert roster.note(successor, held_by="a2") is False
        assert roster.note({**local, "status": "idle"}, held_by="") is True
        assert roster.members() == [{**local, "status": "idle"}]

    def test_a_new_process_of_the_lead_ends_the_members_of_the_last(self, backend: Backend) -> None:
        """But not those that live in processes of their own."""
        roster = backend.roster()
        roster.note({"name": "alice", "role": "coder", "status": "working"})
        roster.note({"name": "bob", "role": "coder", "status": "idle", "incarnation": "b1"})
        with self.second(backend) as second:
            second.roster().begin()
        assert [one["status"] for one in roster.members()] == ["shutdown", "idle"]

"""Requests and members: of all who change them at once one is heard, on the backend's clock.

Their rules are the same everywhere; what a backend brings is a value that processes share.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from learnkit.backends.interface import Backend
from learnkit.errors import ToolError, extra
from learnkit.testing.case import LONG, SHORT, TEXTS, BackendCase, at_once

with extra("test"):
    import pytest


class RequestTests(BackendCase):
    """What a backend's requests and members promise."""

    def test_of_many_who_answer_at_once_one_is_heard(self, backend: Backend) -> None:
        """The others are refused; and of many who ask the same, too, one is."""
        requests, opened, heard = backend.requests(), list[str](), list[str]()

        def ask(number: int) -> None:
            with self.second(backend) as second, suppress(ToolError):
                opened.append(second.requests().open("plan", "alice", "lead", TEXTS[0]).id)

        def answer(number: int) -> None:
            with self.second(backend) as second, suppress(ToolError):
                second.requests().answer(opened[0], "lead", "approved", f"{TEXTS[1]} {number}")
                heard.append(f"{TEXTS[1]} {number}")

        at_once(ask)
        at_once(answer)
        assert [(one.id, one.content, one.note) for one in requests.all()] == [
            (*opened, TEXTS[0], *heard)
        ]

    def test_a_request_expires_at_its_deadline(self, backend: Backend) -> None:
        """On the backend's clock, and also if no one has looked at it since."""
        requests = backend.requests()
        stays = requests.open("shutdown", "lead", "bob", "please", within=LONG)
        asked = requests.open("shutdown", "lead", "alice", "please", within=SHORT)
        self.let_pass(2 * SHORT)
        assert [one.state for one in requests.all()] == ["pending", "expired"]
        with pytest.raises(ToolError, match="already expired"):
            requests.answer(asked.id, "alice", "approved")
        assert requests.get(stays.id) == stays

    def test_a_member_in_a_process_of_its_own_is_heard_of(self, backend: Backend) -> None:
        """Its beats say where it is, and when that was, until a later run takes the name over."""
        roster = backend.roster()
        member = {"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"}
        assert roster.note(member) is True
        assert roster.beat("alice", "a1", "machine 7") is True
        (first,) = roster.members()
        assert (first["where"], int(first["silent"]) < 60) == ("machine 7", True)
        self.let_pass(SHORT)
        assert roster.beat("alice", "a1", "machine 7") is True
        assert _heard(roster.members()[0]) > _heard(first)
        with self.second(backend) as second:
            assert second.roster().note({**member, "incarnation": "a2"}) is True
        assert roster.beat("alice", "a1", "machine 7") is False
        assert roster.members() == [{**member, "incarnation": "a2"}]


def _heard(member: dict[str, str]) -> datetime:
    return datetime.fromisoformat(member["heard"])

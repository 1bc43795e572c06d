"""What a backend promises, as tests that any backend can be put through.

Subclass :class:`BackendTests` in a test module, give it a fixture ``backend``, and pytest runs one
test for each promise of ``learnkit.backends.interface``::

    class TestMine(BackendTests):
        @pytest.fixture
        def backend(self, tmp_path):
            with closing(MyBackend(tmp_path)) as backend:
                yield backend
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from learnkit.backends.interface import Backend
from learnkit.testing.board import BoardTests
from learnkit.testing.case import LONG, BackendCase
from learnkit.testing.leases import LeaseTests
from learnkit.testing.mail import MailTests
from learnkit.testing.requests import RequestTests

__all__ = [
    "BackendCase",
    "BackendTests",
    "BoardTests",
    "LeaseTests",
    "MailTests",
    "RequestTests",
]


class BackendTests(MailTests, BoardTests, LeaseTests, RequestTests):
    """A test for each promise; subclass it, and give it a fixture ``backend``.

    The backend that the fixture returns is empty.
    """

    def test_teams_know_nothing_of_each_other(self, backend: Backend) -> None:
        """Whatever happens in one team, another with the same names and numbers stays as it is."""
        begun = [_begun(backend, team) for team in ("one", "two")]
        without_times = [re.sub(r"20\d\d-[^']*", "", str(state)) for state in begun]
        assert without_times[0] == without_times[1]
        mail, board = backend.mail("two"), backend.board("two")
        requests, roster = backend.requests("two"), backend.roster("two")
        reader = mail.reader("alice")
        reader.take()
        reader.commit()
        mail.broadcast("lead", "hello")
        board.update(1, "completed", by="alice")
        board.claim(2, "alice", incarnation="a1", lease=LONG)
        assert board.renew("alice", "a1", 2 * LONG) == [2]
        assert [task.id for task in board.release("alice", "a1")] == [2]
        board.update(3, remove_blocked_by=[2], add_blocked_by=[1])
        board.update(2, "deleted")
        (asked,) = requests.all()
        requests.answer(asked.id, "lead", "approved")
        requests.require_plan(False)
        roster.begin()
        assert _state(backend, "one") == begun[0]
        assert _state(backend, "two") != begun[1]

    def test_what_is_stored_is_there_for_another_process(self, backend: Backend) -> None:
        """A second way to the same place sees all of it."""
        begun = _begun(backend, "night")
        with self.second(backend) as second:
            assert second.address == backend.address != ""
            assert _state(second, "night") == begun


def _begun(backend: Backend, team: str) -> dict[str, Any]:
    """Give a team some of everything, and return what it has then."""
    mail, board, requests = backend.mail(team), backend.board(team), backend.requests(team)
    for name in ("alice", "lead"):
        mail.open(name)
    mail.send("lead", "alice", "hello")
    for subject in ("a task", "another", "a third"):
        board.create(subject)
    board.update(2, add_blocked_by=[1], add_blocks=[3])
    board.claim(1, "alice", incarnation="a1", lease=LONG)
    requests.open("plan", "alice", "lead", "a plan")
    requests.require_plan(True)
    backend.roster(team).note({"name": "bob", "role": "coder", "status": "idle"})
    return _state(backend, team)


def _state(backend: Backend, team: str) -> dict[str, Any]:
    """What a team has, apart from numbers that teams may share."""
    mail, board, requests = backend.mail(team), backend.board(team), backend.requests(team)
    return {
        "mail": [(name, [one.content for one in mail.unread(name)]) for name in mail.names],
        "tasks": [task.to_json() for task in board.tasks()],
        "ready": [task.id for task in board.ready()],
        "requests": [replace(one, id="") for one in requests.all()],
        "plan required": requests.requires_plan(),
        "members": backend.roster(team).members(),
    }

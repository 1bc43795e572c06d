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

from learnkit.backends.interface import (
    Backend,
    BoardBackend,
    InboxReader,
    MailBackend,
    RequestBackend,
    RosterBackend,
)
from learnkit.testing.board import BoardTests
from learnkit.testing.case import BackendCase
from learnkit.testing.leases import LeaseTests
from learnkit.testing.mail import MailTests
from learnkit.testing.requests import RequestTests, RosterTests

__all__ = [
    "BackendCase",
    "BackendTests",
    "BoardTests",
    "LeaseTests",
    "MailTests",
    "RequestTests",
    "RosterTests",
]


class BackendTests(MailTests, BoardTests, LeaseTests, RequestTests, RosterTests):
    """A test for each promise; subclass it, and give it a fixture ``backend``.

    The backend that the fixture returns is empty.
    """

    def test_it_has_the_methods_of_its_interfaces(self, backend: Backend) -> None:
        """Each part has all methods."""
        mail = backend.mail()
        mail.open("alice")
        assert isinstance(backend, Backend)
        assert isinstance(mail, MailBackend)
        assert isinstance(mail.reader("alice"), InboxReader)
        assert isinstance(backend.board(), BoardBackend)
        assert isinstance(backend.requests(), RequestBackend)
        assert isinstance(backend.roster(), RosterBackend)
        assert backend.address

    def test_teams_know_nothing_of_each_other(self, backend: Backend) -> None:
        """What is stored for one team is not seen by another."""
        backend.mail("one").open("alice")
        backend.board("one").create("a task")
        backend.requests("one").open("plan", "alice", "lead", "a plan")
        backend.roster("one").note({"name": "alice", "role": "coder", "status": "idle"})
        assert backend.mail("two").names == []
        assert backend.board("two").tasks() == []
        assert backend.requests("two").all() == []
        assert backend.roster("two").members() == []
        backend.mail("two").open("alice")
        backend.mail("two").broadcast("lead", "hello")
        assert backend.mail("one").unread("alice") == []
        assert backend.board("two").create("another").id == 1
        assert [task.subject for task in backend.board("one").tasks()] == ["a task"]

    def test_what_is_stored_is_there_for_another_process(self, backend: Backend) -> None:
        """A second way to the same place sees all of it."""
        backend.mail().open("alice")
        sent = backend.mail().send("lead", "alice", "hello")
        task = backend.board().create("a task", "to be done", tags=["coder"])
        request = backend.requests().open("plan", "alice", "lead", "a plan")
        backend.roster().note({"name": "alice", "role": "coder", "status": "idle"})
        with self.second(backend) as second:
            assert second.mail().unread("alice") == [sent]
            assert second.board().tasks() == [task]
            assert second.requests().all() == [request]
            assert [one["name"] for one in second.roster().members()] == ["alice"]

"""Mail: nothing is lost, and nothing comes twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from learnkit.backends.interface import Backend, InboxReader
from learnkit.backends.mail import MAX_CONTENT
from learnkit.errors import ToolError, extra
from learnkit.testing.case import TEXTS, WORKERS, BackendCase, at_once, inboxes

with extra("test"):
    import pytest


class MailTests(BackendCase):
    """What a :class:`~learnkit.backends.interface.MailBackend` promises."""

    def test_messages_are_read_in_the_order_of_sending(self, backend: Backend) -> None:
        """``take`` returns each message once, and ``look`` changes nothing."""
        mail = inboxes(backend)
        reader = mail.reader("alice")
        sent = [mail.send("lead", "alice", str(number)) for number in range(20)]
        assert reader.look() == reader.look() == sent
        assert reader.take() == sent
        assert reader.take() == reader.look() == []
        more = mail.send("bob", "alice", "more")
        assert reader.take() == [more]
        assert len({one.id for one in [*sent, more]}) == 21

    def test_what_was_not_committed_comes_again(self, backend: Backend) -> None:
        """A reader that died between ``take`` and ``commit`` loses nothing.

        What its successor has seen, since the transcript has it, is committed with the rest.
        """
        mail = inboxes(backend)
        one, two = (mail.send("lead", "alice", text) for text in ("one", "two"))
        first = mail.reader("alice")
        assert first.take() == mail.unread("alice") == [one, two]
        with self.second(backend) as second:
            assert second.mail().reader("alice").take() == [one, two]
        successor = mail.reader("alice", seen=[one.id])
        successor.commit()
        assert successor.take() == [two]
        successor.commit()
        successor.commit()
        assert mail.unread("alice") == mail.reader("alice").take() == []

    def test_only_what_was_taken_is_committed(self, backend: Backend) -> None:
        """What comes between ``take`` and ``commit`` is not lost."""
        mail = inboxes(backend)
        reader = mail.reader("alice")
        mail.send("lead", "alice", "one")
        reader.take()
        two = mail.send("lead", "alice", "two")
        assert reader.look() == [two]
        reader.commit()
        assert mail.unread("alice") == mail.reader("alice").take() == reader.take() == [two]

    def test_what_was_put_back_comes_again(self, backend: Backend) -> None:
        """A message that did not reach the agent is taken a second time."""
        mail = inboxes(backend)
        one, two, three = (mail.send("lead", "alice", text) for text in ("one", "two", "three"))
        reader = mail.reader("alice")
        assert reader.take() == [one, two, three]
        reader.put_back([two.id])
        reader.commit()
        assert reader.look() == reader.take() == [two]
        reader.commit()
        assert mail.reader("alice").take() == []

    def test_a_message_keeps_all_that_it_had(self, backend: Backend) -> None:
        """Texts, type, sender and further fields come back as they were."""
        mail = inboxes(backend)
        now = datetime.now(UTC)
        for text in (*TEXTS, "x" * MAX_CONTENT):
            more = {"request_id": "r1", "deep": {"list": [1, None, True], "text": text[:100]}}
            sent = mail.send("lead", "alice", text, "shutdown_request", at=now, **more)
            (found,) = mail.unread("alice")
            assert found == sent
            assert (found.content, found.more, found.sender, found.to, found.type) == (
                *(text, more, "lead", "alice", "shutdown_request"),
            )
            assert datetime.fromisoformat(found.timestamp).tzinfo is not None
            reader = mail.reader("alice")
            reader.take()
            reader.commit()

    def test_a_message_that_cannot_be_sent_says_why(self, backend: Backend) -> None:
        """Unknown and impossible names, empty and long texts are refused, and nothing is sent."""
        mail, long = inboxes(backend), "x" * (MAX_CONTENT + 1)
        known = "no inbox for 'carol'; there are inboxes for: alice, bob"
        refused: list[tuple[Callable[[], object], str]] = [
            (lambda: mail.send("lead", "carol", "hello"), known),
            (lambda: mail.unread("carol"), known),
            (lambda: mail.reader("carol"), known),
            (lambda: mail.open("../alice"), "is not a valid name"),
            (lambda: mail.send("lead", "alice", " \n"), "is empty"),
            (lambda: mail.send("lead", "alice", long), "20,001 characters"),
            (lambda: mail.broadcast("lead", ""), "is empty"),
            (lambda: mail.broadcast("lead", long), "20,001 characters"),
        ]
        for act, problem in refused:
            with pytest.raises(ToolError, match=problem):
                act()
        assert mail.names == ["alice", "bob", "lead"]
        assert mail.unread("alice") == mail.unread("bob") == []

    def test_an_inbox_is_opened_once(self, backend: Backend) -> None:
        """Opening it again leaves it as it is, also when several do so at once."""
        mail = inboxes(backend)
        mail.send("lead", "alice", "x")
        mail.open("alice")
        assert len(mail.unread("alice")) == 1
        at_once(lambda number: mail.open("a" * 40))
        assert mail.names == ["a" * 40, "alice", "bob", "lead"]

    def test_a_broadcast_reaches_everyone_but_its_sender(self, backend: Backend) -> None:
        """Each gets a message with an id of its own; a lone sender reaches no one."""
        mail = inboxes(backend)
        sent = mail.broadcast("alice", "phase 1 is done")
        assert [(one.to, one.type) for one in sent] == [("bob", "broadcast"), ("lead", "broadcast")]
        assert len({one.id for one in sent}) == 2
        assert mail.unread("alice") == []
        assert [mail.unread("bob"), mail.unread("lead")] == [[sent[0]], [sent[1]]]
        alone = backend.mail("alone")
        alone.open("lead")
        assert alone.broadcast("lead", "hello?") == []

    def test_of_many_writers_no_message_is_lost_or_read_twice(self, backend: Backend) -> None:
        """A reader that reads while all of them write gets each message exactly once."""
        mail, read, writing = inboxes(backend), list[str](), {*range(1, WORKERS)}

        def act(number: int) -> None:
            with self.second(backend) as second:
                if number == 0:
                    collect(second.mail().reader("alice"))
                    return
                try:
                    for count in range(10):
                        second.mail().send(f"w{number}", "alice", f"{number}-{count}")
                    second.mail().broadcast(f"w{number}", f"{number}-all")
                finally:
                    writing.remove(number)

        def collect(reader: InboxReader) -> None:
            while writing or reader.look():
                read.extend(one.content for one in reader.take())
                reader.commit()

        at_once(act)
        sent = {n: [f"{n}-{what}" for what in (*range(10), "all")] for n in range(1, WORKERS)}
        assert sorted(read) == sorted(text for texts in sent.values() for text in texts)
        for number, texts in sent.items():  # what one writer has sent stays in its order
            assert [one for one in read if one.startswith(f"{number}-")] == texts
        assert mail.unread("alice") == []
        assert len(mail.unread("bob")) == len(sent)

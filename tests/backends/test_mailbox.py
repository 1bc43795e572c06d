"""Mailboxes: many writers in many processes, readers that are killed, names that want to escape."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import dying
import mail_worker
import pytest

from learnkit.backends.files.mailbox import Inbox, Mail, Mailbox
from learnkit.backends.files.store import Journal
from learnkit.errors import ToolError


@pytest.fixture
def box(tmp_path: Path) -> Mailbox:
    box = Mailbox(tmp_path / "inbox")
    for name in ("alice", "bob", "lead"):
        box.open(name)
    return box


def worker(act: Callable[..., None], *arguments: Any, **options: Any) -> SpawnProcess:
    process = SpawnProcess(target=act, args=arguments, kwargs=options)
    process.start()
    return process


# Sending and reading


def test_a_message_is_a_line_that_everybody_can_read(box: Mailbox) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    box.send("lead", "alice", "Grüße", at=at, request_id="r1")
    line = (box.folder / "alice.jsonl").read_text(encoding="utf-8")
    assert "Grüße" in line
    assert json.loads(line) == {
        "id": "m1",
        "type": "message",
        "from": "lead",
        "to": "alice",
        "content": "Grüße",
        "timestamp": "2026-01-01T00:00:00+00:00",
        "request_id": "r1",
    }


@pytest.mark.parametrize(
    ("counter", "number"),
    [(9, 9), (6, 6), (5, 6), (1, 6), (None, 6)],
    ids=["beyond", "next", "behind", "at the start", "none"],
)
def test_a_counter_that_a_message_contradicts_is_not_believed(
    box: Mailbox, counter: int | None, number: int
) -> None:
    sent = Mail("m5", "message", "lead", "bob", "numbered by hand", "")
    Journal(box.folder / "bob.jsonl").append({**sent.to_json(), "id": "m2"}, sent.to_json())
    if counter is not None:
        (box.folder / "mail.json").write_text(f'{{"next_id": {counter}}}')
    again = Mailbox(box.folder)
    assert [again.send("lead", "alice", "x").id for _ in range(2)] == [
        f"m{number}",
        f"m{number + 1}",
    ]
    assert Mailbox(box.folder).send("lead", "bob", "x").id == f"m{number + 2}"
    Journal(box.folder / "bob.jsonl").append({**sent.to_json(), "id": "m40"})  # while they run
    assert [one.send("lead", "bob", "x").id for one in (again, box)] == ["m41", "m42"]


# What is refused


@pytest.mark.parametrize(
    "name", ["", "../alice", "a/b", "Alice", "1a", "a b", "a" * 41, "alice\n", "..", "a.b", "\0"]
)
def test_a_name_cannot_leave_the_folder(box: Mailbox, name: str) -> None:
    for act in (
        lambda: box.open(name),
        lambda: box.send("lead", name, "x"),
        lambda: box.unread(name),
        lambda: Inbox(box, name),
    ):
        with pytest.raises(ToolError, match="is not a valid name"):
            act()
    assert box.names == ["alice", "bob", "lead"]


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"id": "m1"},
        {"id": "m1", "type": "order", "from": "a", "to": "b", "content": "x", "timestamp": ""},
        {"id": 1, "type": "message", "from": "a", "to": "b", "content": "x", "timestamp": ""},
    ],
)
def test_a_line_that_is_no_message_is_passed_over(box: Mailbox, line: dict[str, Any]) -> None:
    Journal(box.folder / "alice.jsonl").append(line)
    box.send("lead", "alice", "real")
    assert [mail.content for mail in Inbox(box, "alice").take()] == ["real"]


def test_an_inbox_that_was_replaced_by_a_shorter_one_is_read_from_its_beginning(
    box: Mailbox,
) -> None:
    inbox = box.reader("alice")
    for text in ("one", "two"):
        box.send("lead", "alice", text)
    inbox.take()
    inbox.commit()
    new = Mail("m9", "message", "lead", "alice", "new", "")
    (box.folder / "alice.jsonl").write_text(json.dumps(new.to_json()) + "\n")
    assert inbox.take() == [new]
    inbox.commit()
    assert box.unread("alice") == []


# Real processes


@pytest.mark.slow
def test_nothing_is_lost_or_read_twice_with_writers_in_processes_and_readers_killed(
    tmp_path: Path,
) -> None:
    box, chance = Mailbox(tmp_path), random.Random(11)
    for name in ("alice", "bob"):
        box.open(name)
    writers = [worker(mail_worker.write, tmp_path, f"w{number}", 60) for number in range(4)]
    while any(one.is_alive() for one in writers):
        readers = [worker(mail_worker.read, tmp_path, name) for name in ("alice", "bob")]
        time.sleep(chance.uniform(0.1, 0.3))
        for reader in readers:
            reader.kill()
            reader.join()
    assert [one.exitcode for one in writers] == [0] * 4
    sent = [(w, t, n) for w in range(4) for t in range(2) for n in range(60)]
    for place, name in enumerate(("alice", "bob")):
        mail_worker.read(tmp_path, name, to_the_end=True)
        lines, _ = Journal(tmp_path / "transcripts" / f"{name}.jsonl").read()
        mail = [found for found in map(Mail.from_json, lines) if found]
        wanted = {f"w{w}-{t}-{n}" for w, t, n in sent if n % 2 == place}
        wanted |= {f"w{w}-{t}-{n}-all" for w, t, n in sent if n % 10 == 0}
        assert sorted(one.content for one in mail) == sorted(wanted)
        assert len({one.id for one in mail}) == len(mail)
        assert all(one.content.startswith(one.sender) for one in mail)
        assert box.unread(name) == []


@pytest.mark.slow
def test_a_broadcast_that_is_killed_has_reached_everybody_or_nobody(box: Mailbox) -> None:
    met = []
    inboxes = [box.reader("alice"), box.reader("bob")]
    for _ in dying.at_every_step(lambda: box.broadcast("lead", "killed")):
        if len(met) % 2:
            box.send("lead", "bob", "from another, at once")
        inboxes.reverse()  # whoever looks first finds it finished
        counts = [[one.content for one in inbox.take()].count("killed") for inbox in inboxes]
        assert len({*counts}) == 1
        met.append(counts[0])
        for inbox in inboxes:
            inbox.commit()
    assert {*met} == {0, 1}
    ids = [one.id for name in box.names for one in box.all(name)]
    assert len({*ids}) == len(ids)


@pytest.mark.parametrize(
    ("there", "kept"),
    [
        ("", []),
        ('{"id": "m1", "ty', []),
        ('{"id": "m1", "type": "message", "from"', []),
        ("LINE", []),
        ("LINE\n", []),
        ('LINE\n{"of": "another"}\n', [{"of": "another"}]),
        ('{"of": "another"}\n', [{"of": "another"}]),
        ('{"of": "ano', []),
    ],
)
def test_what_a_dead_writer_had_begun_to_append_is_completed_once(
    box: Mailbox, there: str, kept: list[Any]
) -> None:
    mail = Mail("m1", "message", "lead", "bob", "decided", "")
    line = json.dumps(mail.to_json())
    path = box.folder / "bob.jsonl"
    path.write_text(there.replace("LINE", line))
    decided = {"bob.jsonl": {"start": 0, "lines": line + "\n"}}
    (box.folder / ".together.json").write_text(json.dumps({"version": 1, "appends": decided}))
    assert box.reader("bob").take() == [mail]
    others = [entry for entry in Journal(path).read()[0] if entry != mail.to_json()]
    assert others == kept
    assert not (box.folder / ".together.json").exists()

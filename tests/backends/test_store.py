"""Documents and journals, shared by real processes that die at any moment."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import dying
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads import all_at_once

from learnkit.backends.files.store import (
    Document,
    Journal,
    counted,
    locked,
    next_number,
    recover,
    write_in_place,
    write_together,
)
from learnkit.errors import UsageError


def store(document: Document, value: Any) -> None:
    write_together(document.path.parent, {document.path.name: value})


def parts(folder: Path) -> list[Path]:
    return list(folder.glob(".*.part"))


# Killed at every step


def test_a_document_is_the_old_or_the_new_one_at_whatever_step_its_writer_dies(
    tmp_path: Path,
) -> None:
    document = Document(tmp_path / "a.json")
    old, new = {"text": "old"}, {"text": "new" * 1000}
    store(document, old)
    met = []
    for _ in dying.at_every_step(lambda: store(document, new)):
        met.append(document.read())
        assert met[-1] in (old, new)
        store(document, old)
    assert old in met
    assert document.read() == new


@pytest.mark.parametrize("size", [0, 1, 100, 5_000])
def test_a_document_survives_a_death_in_the_middle_of_its_bytes(tmp_path: Path, size: int) -> None:
    document = Document(tmp_path / "a.json")
    store(document, {"text": "old"})
    assert dying.while_writing(lambda: store(document, {"text": "new" * 2000}), size)
    assert document.read() == {"text": "old"}
    assert len(parts(tmp_path)) == 1
    recover(tmp_path)
    assert parts(tmp_path) == []


@pytest.mark.parametrize("size", range(0, 60, 7))
def test_a_torn_line_costs_only_itself(tmp_path: Path, size: int) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    journal.append({"n": 1})
    room = journal.path.stat().st_size + size
    assert dying.while_writing(lambda: journal.append({"n": 2, "text": "x" * 100}), room)
    assert journal.read()[0] == [{"n": 1}]
    journal.append({"n": 3})
    assert journal.read()[0] == [{"n": 1}, {"n": 3}]


@pytest.mark.parametrize("name", ["x" * 300, "\ud800", "a.folder"])
@pytest.mark.parametrize("form", ["remove", "rename"])
def test_a_change_that_the_system_refuses_names_the_decision(
    tmp_path: Path, name: str, form: str
) -> None:
    """It was edited by hand, or something stands in the way since: both files are named."""
    (tmp_path / "a.folder").mkdir()
    (tmp_path / ".store-1.part").write_text("5")
    path = tmp_path / ".together.json"
    decided: dict[str, dict[str, Any]] = {
        "remove": {"version": 1, "renames": {name: None}},
        "rename": {"version": 1, "renames": {name: ".store-1.part"}},
    }
    path.write_text(json.dumps(decided[form]))
    problem = rf"{re.escape(str(path))} holds a change that cannot be made \(.*; mend it or remove"
    with pytest.raises(UsageError, match=problem) as caught:
        recover(tmp_path)
    assert name in str(caught.value) or ascii(name)[1:-1] in str(caught.value)
    path.unlink()
    recover(tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"a.folder", ".lock"}


# Documents


def test_the_default_is_not_shared(tmp_path: Path) -> None:
    default: dict[str, Any] = {}
    with Document(tmp_path / "a.json").change(default) as value:
        value["n"] = 1
    assert default == {}


@pytest.mark.parametrize("value", [{"n": float("nan")}, {"n": object()}, {"n": {1, 2}}])
def test_what_json_cannot_hold_is_refused_and_the_old_value_stays(
    tmp_path: Path, value: Any
) -> None:
    document = Document(tmp_path / "a.json")
    store(document, {"n": 1})
    with pytest.raises(UsageError, match="cannot be stored as JSON"):
        store(document, value)
    with pytest.raises(UsageError, match="cannot be stored as JSON"):
        write_together(tmp_path, {"a.json": 5, "b.json": value})
    assert document.read() == {"n": 1}
    assert {one.name for one in tmp_path.iterdir()} == {"a.json", ".lock"}


def test_threads_take_turns_and_a_holder_may_ask_again(tmp_path: Path) -> None:
    document = Document(tmp_path / "a.json")

    def count(_: object) -> None:
        for _ in range(50):
            with locked(tmp_path), document.change({"n": 0}) as value:
                value["n"] += 1

    all_at_once(count, *range(4))
    assert document.read() == {"n": 200}


def test_a_counter_is_written_in_place(tmp_path: Path) -> None:
    """A shorter number leaves blanks behind it, and a file that is missing is made."""
    path = tmp_path / "n.json"
    write_in_place(path, counted(99_999))
    long = '{\n  "next_id": 100000,\n  "version": 1\n}\n'
    assert (path.read_text(), next_number(path)) == (long, 100_000)
    file = path.stat().st_ino
    write_in_place(path, counted(8))
    short = '{\n  "next_id": 9,\n  "version": 1\n}\n'
    assert (path.read_text(), next_number(path)) == (short.ljust(len(long)), 9)
    assert path.stat().st_ino == file
    write_in_place(path, counted(9_999_999))
    assert path.read_text() == long.replace("100000", "10000000")


# Journals

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)
)
entries = st.dictionaries(st.text(), values, max_size=3)


@given(st.lists(st.lists(entries, max_size=3), max_size=4), st.binary(max_size=40))
def test_a_journal_gives_back_what_was_appended_whatever_stands_between(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, Any]]], torn: bytes
) -> None:
    journal = Journal(tmp_path_factory.mktemp("j") / "a.jsonl")
    torn = b"\xff" + torn.replace(b"\n", b"")  # no JSON begins so
    for batch in batches:
        journal.append(*batch)
        with journal.path.open("ab") as file:
            file.write(torn)
    assert journal.read()[0] == [
        json.loads(json.dumps(entry)) for batch in batches for entry in batch
    ]


def test_a_line_that_is_not_complete_stays_unread_until_it_is(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    journal.path.write_text('{"n": 1}\n{"n": 2}')
    found, place = journal.read()
    assert found == [{"n": 1}]
    with journal.path.open("a") as file:
        file.write("\n")
    assert journal.read(place)[0] == [{"n": 2}]

"""The vocabulary of the log: what is declared can be read, and what is odd does no harm."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import conformity
import pytest
import random_events
from conformity import PACKAGE
from every_view import VIEWS
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

import learnkit as lk
from learnkit.core import event_types, vocabulary
from learnkit.core.event_types import Declaration, detail, details_of, event
from learnkit.core.events import Event, EventLog
from learnkit.core.sentences import filled, stopped
from learnkit.core.vocabulary import (
    BoardOpened,
    MailData,
    MailSent,
    ModelReplied,
    SkillsListed,
    TaskCompleted,
    TaskData,
    TaskEvent,
    UsageData,
)
from learnkit.errors import UsageError
from learnkit.views.words import describe


def test_numbers_lists_and_reasons_are_put_into_words() -> None:
    run = SimpleNamespace(turns=3, calls=["ls", "cat"])
    assert filled("{turns:turn}, {calls:call}", run) == "3 turns, 2 calls"
    reasons = [stopped(reason) for reason in ("cancelled", "out_of_paper", None)]
    assert reasons == ["cancelled", "out_of_paper", "no reason given"]


def logged(type: str, **data: Any) -> Event:
    return Event(0, 0.0, "lead", type, data)


def read(type: str, **data: Any) -> object | None:
    return vocabulary.read(logged(type, **data))


@pytest.fixture
def own_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types that a test declares are gone after it."""
    monkeypatch.setattr(event_types, "_DECLARED", {**event_types._DECLARED})


def test_an_event_is_read_with_its_parts() -> None:
    task = {"id": 3, "subject": "Parse", "status": "completed", "blockedBy": [1, 2], "mine": 1}
    typed = read("task.completed", task=task, freed=[4])
    expected = TaskData(3, "completed", "Parse", blocked_by=(1, 2))
    assert typed == TaskCompleted(expected, freed=(4,))
    assert isinstance(typed, TaskEvent)
    mail = read("mail.sent", mail={"from": "bob", "to": "alice", "content": "hi"})
    assert mail == MailSent(MailData("bob", "alice", "hi"))


def test_what_is_read_cannot_be_changed() -> None:
    typed = read("skills.listed", skills={"pdf": 12}, preloaded=["pdf"])
    assert isinstance(typed, SkillsListed)
    with pytest.raises(FrozenInstanceError):
        typed.catalogue = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        typed.skills["pdf"] = 13  # type: ignore[index]
    assert typed.preloaded == ("pdf",)


@pytest.mark.parametrize(
    ("type", "data"),
    [
        ("lesson.invented", {}),
        ("task.completed", {}),
        ("task.completed", {"task": {"subject": "no number"}}),
        ("task.completed", {"task": {"id": True, "status": "pending"}}),
        ("team.status", {"name": "bob", "status": "asleep"}),
        ("tokens.estimated", {"tokens": 10**30}),
    ],
)
def test_without_what_it_needs_nothing_is_read(type: str, data: dict[str, Any]) -> None:
    assert read(type, **data) is None
    assert describe(logged(type, **data)) == f"{type}."


def test_what_is_odd_gets_its_default() -> None:
    assert read("model.replied", turn="two", usage=7, seconds=float("nan")) == ModelReplied()
    usage = {"input_tokens": 3, "service_tier": "standard", "cache_read_input_tokens": None}
    assert read("model.replied", usage=usage) == ModelReplied(usage=UsageData(3))
    tasks = [{"id": 1, "status": "pending"}, "a task", {"id": "2", "status": "pending"}]
    assert read("board.opened", tasks=tasks) == BoardOpened((TaskData(1, "pending"),))


def test_a_type_belongs_to_one_class() -> None:
    with pytest.raises(UsageError, match=r"'run\.started' is declared already, by RunStarted"):

        @event("run.started", sentence="Again.")
        class Again:
            """It begins again."""


def test_a_declaration_says_when_it_happens_and_what_can_be_read() -> None:
    with pytest.raises(UsageError, match="Silent has no docstring; say when it happens"):

        @event("silence.kept", sentence="Nothing.")
        class Silent:
            pass

    with pytest.raises(UsageError, match=r"Odd has a field of type .*set.*, which cannot be read"):

        @event("odd.happened", sentence="Something.")
        class Odd:
            """Something odd."""

            what: set[str] = detail(default=())

    assert vocabulary.declaration("silence.kept") is None
    assert vocabulary.declaration("odd.happened") is None


@settings(max_examples=examples(300))
@given(random_events.events())
def test_no_details_break_a_reader_or_a_sentence(step: tuple[str, dict[str, Any]]) -> None:
    typed = vocabulary.read(logged(step[0], **step[1]))
    said = describe(logged(step[0], **step[1]))
    assert said
    assert "\n" not in said
    if typed is not None:
        assert said != f"{step[0]}."
        assert type(typed) is declared(step[0]).cls
        assert all(is_fixed(getattr(typed, one.name)) for one in details_of(type(typed)))


@settings(max_examples=examples(300))
@given(random_events.events(strange=False))
def test_what_is_logged_as_declared_can_always_be_read(step: tuple[str, dict[str, Any]]) -> None:
    name, details = step
    assert conformity.problems(name, details) == []
    known = vocabulary.declaration(name)
    assert type(vocabulary.read(logged(name, **details))) is (known.cls if known else type(None))


@settings(max_examples=examples(100))
@given(random_events.events(strange=False), st.data())
def test_one_odd_detail_takes_nothing_from_the_others(
    step: tuple[str, dict[str, Any]], data: st.DataObject
) -> None:
    name, details = step
    known = vocabulary.declaration(name)
    whole = vocabulary.read(logged(name, **details))
    fields = details_of(known.cls) if known else []
    if not fields:
        return
    field = data.draw(st.sampled_from(fields))
    typed = vocabulary.read(logged(name, **{**details, field.key: object()}))
    if field.needed:
        assert typed is None
        return
    for one in fields:
        value = getattr(typed, one.name)
        if one != field:
            assert value == getattr(whole, one.name)
        elif one.type is not Any:
            assert value == one.default


def declared(name: str) -> Declaration:
    known = vocabulary.declaration(name)
    assert known is not None
    return known


def is_fixed(value: Any) -> bool:
    """Whether nobody can change it; a message or a block is as the log has it."""
    if isinstance(value, tuple):
        return all(map(is_fixed, value))
    if is_dataclass(value):
        return all(is_fixed(getattr(value, one.name)) for one in fields(value))
    return isinstance(value, str | int | float | None | dict | list | MappingProxyType)


def test_the_watch_sees_every_fault_of_the_package() -> None:
    code = compile("log.append('mail.read', ids=['1', 2], who='bob')", f"{PACKAGE}/m.py", "exec")
    exec(code, {"log": EventLog()})
    (found,) = conformity.found
    conformity.found.clear()
    for wrong in ("mail.read.ids[1] is 2", "mail.read.by is missing", "who is not declared"):
        assert wrong in found


@pytest.mark.usefixtures("own_types")
def test_a_mechanism_declares_a_type_of_its_own_which_views_ignore() -> None:
    @lk.event("memory.stored", sentence="{key} is remembered: {text:quoted}.")
    class MemoryStored:
        """The model has stored something for later runs."""

        key: str
        text: str = ""

    class Memory(lk.Mechanism):
        """Keeps notes."""

        @lk.tool
        def remember(self, key: str, text: str) -> str:
            """Remember something.

            Args:
                key: to find it again.
                text: what to remember.
            """
            self.emit("memory.stored", key=key, text=text)
            return "stored"

        @property
        def tools(self) -> list[lk.Tool]:
            return [self.remember]

    replies = [lk.use("remember", key="port", text="8080"), lk.say("ok")]
    agent = lk.Agent(lk.scripted(replies), [Memory()])
    agent.run("Remember the port.")
    (stored,) = (one for one in agent.events if one.type == "memory.stored")
    assert vocabulary.read(stored) == MemoryStored("port", "8080")
    assert describe(stored) == "port is remembered: “8080”."
    for kind in VIEWS:
        assert kind(agent.events).html()


@pytest.mark.usefixtures("own_types")
def test_a_notebooks_cell_may_declare_its_type_again() -> None:
    for _ in range(2):

        @event("cell.run", sentence="The cell runs.")
        class CellRun:
            """A cell runs."""

    assert declared("cell.run").cls is CellRun

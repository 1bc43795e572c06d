"""The vocabulary of the log: what is declared can be read, and what is odd does no harm."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
import random_events
from every_view import VIEWS
from hypothesis import given, settings
from profiles import examples

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.events import declaration, vocabulary
from learnkit.events.declaration import Declaration, detail, details_of, event
from learnkit.events.log import Event, EventLog
from learnkit.events.loop import MessageAdded, ModelReplied, UsageData
from learnkit.events.sentences import filled, stopped
from learnkit.events.tasks import BoardOpened, TaskData, TaskRefused
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
    monkeypatch.setattr(declaration, "_DECLARED", {**declaration._DECLARED})


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
    assert read("model.replied", seconds=2) == ModelReplied(seconds=2.0)  # which is not odd
    usage = {"input_tokens": 3, "service_tier": "standard", "cache_read_input_tokens": None}
    assert read("model.replied", usage=usage) == ModelReplied(usage=UsageData(input_tokens=3))
    tasks = [{"id": 1, "status": "pending"}, "a task", {"id": "2", "status": "pending"}]
    assert read("board.opened", tasks=tasks) == BoardOpened(
        tasks=(TaskData(id=1, status="pending"),)
    )


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
def test_what_is_logged_as_declared_can_be_read_and_logged_again(
    step: tuple[str, dict[str, Any]],
) -> None:
    name, details = step
    log, known = EventLog(), vocabulary.declaration(name)
    first = log.append(name, **details)
    typed = vocabulary.read(first)
    assert type(typed) is (known.cls if known else type(None))
    if typed is not None:
        again = log.append(typed)
        assert (again.type, vocabulary.read(again)) == (name, typed)
        assert again.data.keys() <= first.data.keys()


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


def test_an_event_is_logged_in_the_order_of_its_fields_and_without_what_does_not_apply() -> None:
    log = EventLog()
    log.append(MessageAdded(message={"role": "user"}, index=0))
    log.append(MessageAdded(injected=True, message={"role": "user"}, index=1), "bob", 2.5)
    assert [*map(list, (event.data for event in log))] == [
        ["index", "message"],
        ["index", "message", "injected"],
    ]
    assert log[1][1:4] == (2.5, "bob", "message.added")


def test_only_what_is_declared_can_be_logged_as_an_object() -> None:
    log = EventLog()
    with pytest.raises(UsageError, match="is no event; give the name of a type and its details"):
        log.append({"type": "note.taken"})
    with pytest.raises(UsageError, match="has its details already; leave out seconds"):
        log.append(TaskRefused(problem="x"), seconds=3)
    assert len(log) == 0


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
            self.emit(MemoryStored(key=key, text=text))
            return "stored"

        @property
        def tools(self) -> list[lk.Tool]:
            return [self.remember]

    replies = [lk.use("remember", key="port", text="8080"), lk.say("ok")]
    agent = lk.Agent(lk.scripted(replies), [Memory()])
    agent.run("Remember the port.")
    (stored,) = (one for one in agent.events if one.type == "memory.stored")
    assert vocabulary.read(stored) == MemoryStored(key="port", text="8080")
    assert describe(stored) == "port is remembered: “8080”."
    for kind in VIEWS:
        assert kind(agent.events).html()

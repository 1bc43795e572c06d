"""The vocabulary of the log: what is declared can be read, and what is odd does no harm."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from learnkit.core import vocabulary
from learnkit.core.event_types import detail, event
from learnkit.core.events import Event
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


def logged(type: str, **data: Any) -> Event:
    return Event(0, 0.0, "lead", type, data)


def read(type: str, **data: Any) -> object | None:
    return vocabulary.read(logged(type, **data))


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

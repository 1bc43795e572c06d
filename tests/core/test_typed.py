"""Typed answers: the outcome has an object of the type, or the model hears what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pydantic
import pytest

import learnkit as lk


class City(pydantic.BaseModel):
    name: str
    warmest: float = pydantic.Field(gt=-90, lt=60)


@dataclass
class Pair:
    a: int
    b: list[str]


def test_the_outcome_has_the_answer_as_an_object() -> None:
    agent = lk.Agent(lk.scripted([lk.say('{"name": "Rome", "warmest": 31.4}')]))
    assert agent.run("?", output=City).output == City(name="Rome", warmest=31.4)


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        (Pair, '{"a": 1, "b": ["x"]}', Pair(1, ["x"])),
        (list[int], "[1, 2]", [1, 2]),
        (Pair, '```json\n{"a": 1, "b": []}\n```', Pair(1, [])),
    ],
)
def test_types_and_fences(type: Any, text: str, value: Any) -> None:
    assert lk.Agent(lk.scripted([lk.say(text)])).run("?", output=type).output == value


def test_an_answer_that_does_not_fit_goes_back_with_the_reason() -> None:
    sent: list[dict[str, Any]] = []
    answers = iter(
        ["It is warm.", '{"name": "Rome", "warmest": 99}', '{"name": "R", "warmest": 9}']
    )

    def model(request: dict[str, Any]) -> Any:
        sent.append(request)
        return lk.say(next(answers))

    outcome = lk.Agent(lk.scripted(model)).run("?", output=City)
    assert outcome.output == City(name="R", warmest=9)
    assert "less than 60" in str(sent[2]["messages"][-1])
    schema = sent[0]["output_config"]["format"]["schema"]
    assert set(schema["properties"]) == {"name", "warmest"}


def test_after_three_answers_it_ends_without_an_output() -> None:
    outcome = lk.Agent(lk.scripted([lk.say("no")] * 3)).run("?", output=City)
    assert (outcome.output, outcome.turns, outcome.text) == (None, 3, "no")


def test_the_next_run_asks_for_no_type() -> None:
    sent: list[dict[str, Any]] = []

    def model(request: dict[str, Any]) -> Any:
        sent.append(request)
        return lk.say("[1]")

    agent = lk.Agent(lk.scripted(model))
    agent.run("?", output=list[int])
    assert agent.run("?").output is None
    assert "output_config" not in sent[1]


def test_calls_come_before_the_answer() -> None:
    @lk.tool
    def look() -> str:
        """Look."""
        return "31.4"

    agent = lk.Agent(lk.scripted([lk.use("look"), lk.say("[31]")]), tools=[look])
    assert agent.run("?", output=list[int]).output == [31]


def test_what_is_no_type_is_refused_before_anything_is_sent() -> None:
    agent = lk.Agent(lk.scripted([lk.say("x")]))
    with pytest.raises(lk.UsageError, match="no type"):
        agent.run("?", output=threading_lock())
    assert len(agent.events) == 0


def threading_lock() -> Any:
    import threading

    return type(threading.Lock())

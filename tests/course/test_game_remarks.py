"""What the games of lessons 1 to 3 say at their end: the truth about how they were played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.content import Game, load
from learnkit.course.lab import Lab

LATEST = lk.use("bash", command="python -m heatwatch latest beijing")
HOT = lk.use("bash", command="python -m heatwatch mail me 'It is hot'")
MAIL = lk.use("bash", command="python -m heatwatch mail me 'Beijing: 31.4 °C'")


@pytest.fixture
def lab(no_thread_is_left: None) -> Iterator[Lab]:
    made = lk.lesson("s01")
    yield made
    made.remove()


def own(lesson: str) -> Game:
    game = load(lesson).game
    assert game is not None
    return game


def said(lab: Lab, game: Game, *script: Any) -> list[str]:
    """What is said about a script that plays a game, and ends with a text."""
    return [str(one) for one in lab.be_the_model(replace(game, script=[*script, "Done."])).remarks]


ORDER, CONTENT = 0, 1


@pytest.mark.parametrize(
    ("script", "knew", "told"),
    [
        ([LATEST, MAIL], "✓ The email is in the outbox", "✓ The email says “Beijing: 31.4 °C”"),
        ([LATEST, HOT], "✓ The email is in the outbox", "✗ The email says “It is hot”: 31.4"),
        ([HOT], "✗ The email was a guess: no result had said 31.4", "✗ The email says “It is hot”"),
        ([lk.reply(LATEST, MAIL)], "✗ The email was a guess", "✓ The email says"),
    ],
)
def test_lesson_1_says_whether_the_temperature_came_before_the_email(
    lab: Lab, script: Sequence[Any], knew: str, told: str
) -> None:
    remarks = said(lab, own("s01"), *script)
    assert knew in remarks[ORDER]
    assert told in remarks[CONTENT]
    assert remarks[-1].startswith(f"· This game took {len(script) + 1} turns.")


def put(text: str, to: str) -> Any:
    return lk.use("put", x=text, y=to)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ([], ["✗ The outbox is empty, and Bob is waiting."]),
        ([put("bob", "No.")], ["✗ A mail went to “No.”. It says “bob”. Bob got nothing."]),
        ([put("No, 1.4 °C colder", "Bob")], ["✓ A mail went to “Bob”. It says “No, 1.4 °C"]),
        (
            [put("Yes, by 17.5 °C", "bob")],
            ["✗ A mail went to “bob”. It says “Yes, by 17.5 °C”. In"],
        ),
        ([put("bob", "x"), put("-1.4", "bob@heatwatch")], ["✗ A mail went to “x”", "✓ A mail"]),
    ],
)
def test_lesson_2_says_who_got_which_mail(
    lab: Lab, script: Sequence[Any], told: Sequence[str]
) -> None:
    remarks = said(lab, own("s02"), lk.use("get", x="Oslo"), *script)
    for remark, beginning in zip(remarks, told, strict=False):
        assert remark.startswith(beginning)
    calls = ["1 call", "2 calls", "3 calls"][len(script)]
    assert remarks[len(told) :] == [f"· This game took {calls}; 1 got “error 2”."]


def items(*statuses: str) -> Any:
    states = enumerate(statuses, start=1)
    return lk.use("todo", items=[{"id": str(n), "text": f"{n}", "status": s} for n, s in states])


def test_lesson_3_says_what_came_of_the_task_and_of_the_list(lab: Lab) -> None:
    game, look = own("s03"), lk.use("bash", command="ls")
    write = lk.use("write_file", path="watch.txt", content="Oslo")
    remarks = said(lab, game, items("pending", "completed"), look, look, write)
    assert remarks == [
        "✗ watch.txt doesn't name cairo alone.",
        "· The list says 1 of 2 completed. You ended with items open, and nothing asked "
        "(your before_stop does).",
    ]
    guess = lk.use("write_file", path="watch.txt", content="cairo")
    lucky = (
        "✗ watch.txt names cairo, the hottest station. A lucky guess: no result had said how hot"
    )
    assert said(lab, game, guess)[0] == f"{lucky} it is in beijing or cairo or oslo."
    late = lk.use("bash", command="cat stations/beijing.csv stations/cairo.csv stations/oslo.csv")
    assert said(lab, game, guess, late)[0].startswith(lucky)
    assert said(lab, game, late, guess)[0].endswith("and no guess.")
    assert said(lab, game, items("pending"), look, items("completed")) == [
        "✗ There is no watch.txt.",
        "✓ The list says 1 of 1 completed.",
    ]
    assert said(lab, game, look)[1:] == [
        "✗ There was no list, so no reminder could come: "
        "the harness reminds only of items that are open.",
    ]


@pytest.mark.slow
def test_the_recorded_game_of_each_lesson_is_played_well(lab: Lab) -> None:
    for lesson in ("s01", "s03"):  # that of s02 is lost
        remarks = lab.be_the_model(own(lesson)).remarks
        assert remarks
        assert all(one.good is not False for one in remarks), remarks

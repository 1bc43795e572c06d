"""What the games of lessons 1 to 3 say at their end: the truth about how they were played."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

import learnkit as lk
from learnkit.core.interface import Call
from learnkit.course.content import Game, load
from learnkit.course.games.be_the_model.panel import BeTheModel
from learnkit.course.lab import Lab
from learnkit.course.lessons.s03.game import permission

LATEST = lk.use("bash", command="python -m heatwatch latest beijing")
HOT = lk.use("bash", command="python -m heatwatch mail me 'It is hot'")
BY_HAND = lk.use("bash", command="echo 31 > outbox/1.txt")
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
        ([HOT, LATEST], "✗ The email was a guess", "✗ The email says"),
        ([lk.reply(LATEST, MAIL)], "✗ The email was a guess", "✓ The email says"),
        (
            [lk.use("bash", command="cat stations/*"), MAIL],
            "✓ The email is in the outbox",
            "✓ The email says",
        ),
        ([LATEST, BY_HAND], "✓ The email is in the outbox", "✗ The email says “31”"),
        (
            [BY_HAND],
            "✗ The email was a guess",
            "says “31”",
        ),
    ],
)
def test_lesson_1_says_whether_the_temperature_came_before_the_email(
    lab: Lab, script: Sequence[Any], knew: str, told: str
) -> None:
    remarks = said(lab, own("s01"), *script)
    assert knew in remarks[ORDER]
    assert told in remarks[CONTENT]
    assert remarks[-1].startswith(f"· This game took {len(script) + 1} turns.")


def test_lesson_1_misses_an_email_and_counts_too_many(lab: Lab) -> None:
    assert said(lab, own("s01"))[0].startswith("✗ It's 31.4 °C in Beijing, and the user wanted")
    check = lk.use("bash", command="python -m heatwatch check")
    assert "✗ There are 2 emails; the user asked for one." in said(lab, own("s01"), check)


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


def test_lesson_3_says_what_came_of_the_reminders_and_of_the_list(lab: Lab) -> None:
    game, look = own("s03"), lk.use("bash", command="ls")
    write = lk.use("write_file", path="watch.txt", content="Oslo")
    remarks = said(lab, game, items("pending", "completed"), look, look, write)
    assert remarks == [
        "✗ watch.txt doesn't name cairo alone.",
        "· 1 reminder came, and 0 had an update in the next reply.",
        "✓ The list says 1 of 2 completed. You ended with items open, and nothing asked about "
        "them (exercise 1 does).",
    ]
    heard = said(lab, game, items("pending"), look, look, items("completed"))
    assert heard == [
        "✗ There is no watch.txt.",
        "· 1 reminder came, and 1 had an update in the next reply.",
        "✓ The list says 1 of 1 completed.",
    ]
    again = said(lab, game, items("pending"), look, look, items("pending"))
    assert again[1] == "· 1 reminder came, and 0 had an update in the next reply."
    assert said(lab, game, look)[1:] == [
        "✗ There was no list, so no reminder could come: "
        "the harness reminds only of items that are open.",
    ]
    assert said(lab, game, items("completed"), look, look)[1] == (
        "· No reminder came: the list was never left for two rounds with an item open."
    )


@pytest.mark.parametrize(
    "command",
    [
        *("rm -rf stations", "ls; rm -rf ~", "ls && rm x", "cat < /etc/passwd", "cat ../../x"),
        *("cat /etc/passwd", "cat ~/x", "grep -f/etc/passwd x", "grep --file=/x", "ls $(rm x)"),
        *("ls `rm x`", "ls\nrm x", "ls 'open", "cat {/etc/passwd,x}", "python x", "", "ls > x"),
    ],
)
def test_the_agent_of_lesson_3_s_game_refuses_what_deletes_or_leaves(command: str) -> None:
    assert permission(Call("1", "bash", {"command": command}))[0] == "deny"


def test_lesson_3_s_game_runs_what_its_steps_need_and_shows_a_refusal(lab: Lab) -> None:
    for command in ("python -m heatwatch latest cairo", "cat stations/*", "grep -r 35 stations"):
        assert permission(Call("1", "bash", {"command": command}))[0] == "allow", command
    code = lk.use("write_file", path="json.py", content="x")
    script = [lk.use("bash", command="rm -rf stations"), code, lk.use("bash", command="ls"), "."]
    played = lab.be_the_model(replace(own("s03"), script=script))
    results = [message["content"][0] for message in played.messages[2::2]]
    assert [one.get("is_error", False) for one in results] == [True, True, False]
    assert "Permission denied: bash runs one command, inside of its folder" in str(results[0])
    assert "stations" in str(results[2])


@pytest.mark.slow
def test_the_recorded_game_of_each_lesson_is_played_well(lab: Lab) -> None:
    for lesson in ("s01", "s03"):  # that of s02 is lost
        remarks = lab.be_the_model(own(lesson)).remarks
        assert remarks
        assert all(one.good is not False for one in remarks), remarks


def test_the_card_has_the_remarks_and_so_has_the_page_at_the_end(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = lab.be_the_model(own("s01"))._repr_mimebundle_()["text/html"]
    assert "<ul><li>✓ The email is in the outbox, and no guess" in html
    lab.static = False
    game = lab.be_the_model(own("s01"))
    game.start()
    assert game.phase == "yours"
    assert game.state()["remarks"] == []
    game.send("Nothing to do.")
    assert game.phase == "ended"
    good, text = game.state()["remarks"][0]
    assert (good, text) == (False, str(game.remarks[0])[2:])


def test_the_list_of_lesson_3_can_be_filled_in_and_then_the_last_one(lab: Lab) -> None:
    lab.static = False
    game = lab.be_the_model(own("s03"))
    game.start()
    assert game.phase == "yours"
    first = ready(game)
    assert [one["status"] for one in first] == ["pending"] * 5
    game.send(lk.use("todo", items=[{**first[0], "status": "completed"}, *first[1:]]))
    assert game.phase == "yours"
    assert ready(game)[0]["status"] == "completed"
    assert ready(game)[1:] == first[1:]
    game.send(lk.use("todo", items=first[:1]))
    assert game.phase == "yours"
    assert ready(game) == first[:1], "the last one, not the first"


def ready(game: BeTheModel) -> list[dict[str, str]]:
    """What the button puts into the list's form; it is in no other form."""
    forms = {one["name"]: one["ready"] for one in game.state()["tools"]}
    assert [name for name, texts in forms.items() if texts] == ["todo"]
    return list(json.loads(forms["todo"]["items"]))


def test_calls_and_results_are_marked_when_the_game_is_over_and_not_before(lab: Lab) -> None:
    lab.static = False
    game = lab.be_the_model(own("s01"))
    game.start()
    assert game.phase == "yours"
    game.send(lk.use("bash", command="python -m heatwatch average"))
    assert game.phase == "yours"
    frame = dict(game.state()["frame"])
    assert "[exit code 2]" in frame["message 2"]
    marks = ("completed", "is_error")  # a model gets neither
    assert not any(mark in "".join(frame.values()) for mark in marks)
    game.send("I give up.")
    assert game.phase == "ended"
    frame = dict(game.state()["frame"])
    assert "completed" in frame["message 1"], "the command has run"
    assert "reads like a failure, but is_error is not set" in frame["message 2"]

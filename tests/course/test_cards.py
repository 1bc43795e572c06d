"""What the lab shows: static for everyone, a widget for whoever sits in front of it."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from learnkit.course import exercise_checks
from learnkit.course.content import Exercise, Option, Prediction, Question
from learnkit.course.display import card as display_card
from learnkit.course.display.card import STYLE, Card, badge, verdict
from learnkit.course.display.question_cards import (
    exercise_card,
    prediction_card,
    quiz_card,
    reveal_card,
)
from learnkit.course.display.question_widgets import Questions, prediction_box
from learnkit.course.exercise_checks import checked, judge
from learnkit.views.drawing import theme

HOSTILE = "<script>alert(1)</script> & `<b>`"
OPTIONS = {
    "a": Option("it stops", "a reply without a call ends the loop"),
    "b": Option("it goes on", f"it would, with a call {HOSTILE}"),
}
SETUP = {"setup": f"a reply ends {HOSTILE}", "cases": [HOSTILE], "steps": ["a call", "✗ killed"]}
PREDICTION = Prediction(f"what then? {HOSTILE}", OPTIONS, "a", **SETUP)
QUIZ = {f"q{n + 1}": Question(f"number {n}?", OPTIONS, "ab"[n % 2]) for n in range(4)}


def ignore(*_: object) -> None:
    """An on_answer that nobody listens to."""


class Tags(HTMLParser):
    """Collects the tags of a card, and whether they are closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.attributes: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += [name for name, _ in attrs]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


STATIC: dict[str, Callable[[], Card]] = {
    "badge": lambda: badge(HOSTILE, "replay"),
    "predict": lambda: prediction_card(PREDICTION),
    "reveal": lambda: reveal_card(PREDICTION, "b"),
    "reveal, unanswered": lambda: reveal_card(PREDICTION, None),
    "quiz": lambda: quiz_card(QUIZ),
}


@pytest.mark.parametrize("name", STATIC)
def test_a_static_card_is_plain_html_and_a_few_lines_and_the_same_every_time(name: str) -> None:
    shown = STATIC[name]()._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    assert shown == STATIC[name]()._repr_mimebundle_()
    tags = Tags(shown["text/html"])
    assert tags.open == []
    assert tags.attributes == []
    assert tags.seen <= {
        *("p", "strong", "ul", "ol", "li", "br", "code", "pre", "details", "summary"),
    }
    assert shown["text/plain"].count("\n") < 6
    assert len(shown["text/plain"]) < 200


def test_a_prediction_explains_nothing_before_the_reveal() -> None:
    card = prediction_card(PREDICTION)
    assert "it goes on" in card.html
    assert not any(option.why[:20] in card.html for option in OPTIONS.values())


def test_what_a_question_is_about_stands_between_its_title_and_the_answers() -> None:
    live = prediction_box(PREDICTION, ignore).start["html"]
    assert "<div class=lk-steps>" in live
    assert "<li class=lk-error>killed" in live, "a mark on the line of the steps"
    for html in (prediction_card(PREDICTION).html, live):
        places = [html.index(one) for one in ("what then?", "a reply ends", "<ol>", "killed")]
        assert places == sorted(places)


def test_the_reveal_explains_every_option_and_marks_the_learners() -> None:
    card = reveal_card(PREDICTION, "b")
    assert card.text == "You said b; it is a: it stops"
    assert "<strong>a</strong> (✓ right)" in card.html
    assert "<strong>b</strong> (● your answer, ✗ wrong)" in card.html
    assert reveal_card(PREDICTION, "a").text == "✓ You said a, and so it is."
    assert reveal_card(PREDICTION, "a", repaired=True).text == (
        "✓ You said a, and so it was before your repair."
    )
    assert reveal_card(PREDICTION, "b", repaired=True).text == (
        "You said b; before your repair it was a: it stops"
    )


# Exercises


def exercise(check: Callable[[Any], str | None]) -> Exercise:
    return Exercise("double it", "f", ("one", "two", "three"), "f = 2", check)


def said(check: Callable[[Any], str | None], thing: Any, capsys: Any) -> str:
    checked(2, exercise(check))(thing)
    return str(capsys.readouterr().out)


def test_a_decorated_function_stays_and_its_verdict_is_shown_above_the_hints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @checked(2, exercise(lambda f: None if f() == 4 else "4 is wanted"))
    def f() -> int:
        return 3

    assert f() == 3
    assert capsys.readouterr().out == "not yet: 4 is wanted.\n"
    html = exercise_card(exercise(lambda f: None), "not yet: <b>").html
    assert re.findall("<summary>(.+?)</summary>", html) == [
        *(f"hint {n}" for n in "123"),
        "solution",
    ]
    assert "not yet: &lt;b&gt;" in html
    assert "<pre>f = 2</pre>" in html
    assert "<details>" not in exercise_card(exercise(lambda f: None), "✓ exercise 2").html


def test_each_right_answer_counts(capsys: pytest.CaptureFixture[str]) -> None:
    counted: list[bool] = []
    smaller = exercise(lambda n: None if n < 5 else "too large")
    for number in (9, 4, 0):
        checked(2, smaller, lambda: counted.append(True))(number)
    assert counted == [True, True]
    passed = "✓ exercise 2: double it"
    assert capsys.readouterr().out.splitlines() == ["not yet: Too large.", passed, passed]


def test_what_the_learners_code_raises_is_said_with_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def faulty(n: int) -> float:
        return n / 0

    def check(f: Any) -> None:
        try:
            f(1)
        except ZeroDivisionError as error:
            error.add_note("for 1")
            raise

    line = faulty.__code__.co_firstlineno + 1
    assert said(check, faulty, capsys).endswith(
        f"It raised ZeroDivisionError: division by zero, in line {line} of your code: "
        "return n / 0, for 1\n"
    )


def fails(f: object = None) -> None:
    raise ValueError("e" * 999)


class Odd:
    """An object that can't be shown."""

    def __repr__(self) -> str:
        raise ValueError


#: What ends a verdict about an object that the check can't use.
LOOK = ": look again at the names and the arguments that the exercise asks for"


@pytest.mark.parametrize(
    ("check", "thing", "verdict"),
    [
        # Of a long error or value, its beginning.
        (lambda f: f(), fails, f"It raised ValueError: {'e' * 239}…, in line "),
        (lambda text: text.name, "v" * 999, f"This is '{'v' * 58}… (of type str), and the check"),
        # Whatever object it is.
        (lambda n: n + 1, "x", f"This is 'x' (of type str), and the check can't use it{LOOK}"),
        (lambda f: f(1, 2), None, "This is None, and"),
        (lambda f: f(1, 2), ..., "This is Ellipsis, and"),
        (lambda f: f(1, 2).name, 3, "This is 3 (of type int), and"),
        (lambda f: f(1, 2).name, type, "This is <class 'type'> (of type type), and"),
        (
            lambda f: f(1, 2),
            len,
            "This is <built-in function len> (of type builtin_function_or_method), and the check "
            f"can't use it (len() takes exactly one argument (2 given)){LOOK}",
        ),
        (lambda f: f(), lambda: sys.exit(3), "It raised SystemExit: 3"),
        (lambda f: f() + 1, lambda: Odd(), "`<lambda>` returned something that can't be shown"),
        # Sentences.
        (lambda _: "your function returned 3", None, "Your function returned 3."),
        (lambda _: "Your function returned 'a.'", None, "Your function returned 'a.'."),
        (lambda _: "f(2) gives 2, not 4", None, "f(2) gives 2, not 4."),
        (lambda _: "../key.txt leads out", None, "../key.txt leads out."),
        (lambda _: "for a log, it's {}. Why?", None, "For a log, it's {}. Why?"),
        (lambda _: "`f` is no class", None, "`f` is no class."),
    ],
)
def test_a_verdict_says_what_the_learner_can_do_something_about(
    check: Any, thing: Any, verdict: str
) -> None:
    said = str(judge(check, thing))
    assert said == verdict if verdict.endswith((".", "?")) else said.startswith(verdict)


ENDLESS = "Your code does not come to an end: it was stopped"


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True:\n  try:\n   x = 1\n  except Exception: x = 2",
        "while True:\n  try:\n   x = 1\n  except: x = 2",
        "while True:\n  try:\n   sum(range(10**5)); time.sleep(0.01)\n  except: x = 2",
        "time.sleep(1e6)",
        "threading.Event().wait()",
        "lock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        "subprocess.run(['sleep', '60'])",
        "one = threading.Thread(target=spin); one.start(); one.join()",
        "threading.Thread(target=spin).start()",
        "threading.Thread(target=catch).start()",
    ],
)
def test_whatever_goes_on_for_ever_is_stopped_and_no_thread_is_left(
    body: str, no_thread_is_left: None, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = body.replace("\n", "\n ")
    source = (
        "import subprocess, threading, time\n"
        "def spin():\n while True: pass\n"
        "def catch():\n while True:\n  try:\n   x = 1\n  except BaseException: x = 2\n"
        f"def f():\n {lines}\n"
    )
    names: dict[str, Any] = {}
    exec(compile(source, "<cell>", "exec"), names)
    before = signal.getsignal(signal.SIGALRM), sys.gettrace(), threading.excepthook
    began = time.monotonic()
    check: Any = partial(lambda f: f())
    check.own = 1
    assert str(judge(check, names["f"])).startswith(ENDLESS)
    assert time.monotonic() - began < 30
    assert (signal.getsignal(signal.SIGALRM), sys.gettrace(), threading.excepthook) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_computing_of_the_learners_code_is_limited_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exercise_checks, "_LOOK", 0.02)
    busy = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end:\n pass\n"
    code = compile(busy, exercise_checks.__file__, "exec")
    monkeypatch.setattr(exercise_checks, "WORK", 0.1)
    assert judge(lambda _: exec(code, {}), None) is None  # what the check prepares
    assert str(judge(lambda f: f(), lambda: exec(code, {}))).startswith(ENDLESS)


def test_what_a_check_has_made_is_removed_when_the_learners_code_was_stopped(
    tmp_path: Path,
) -> None:
    def check(f: Any) -> None:
        (tmp_path / "made").touch()
        try:
            f()
        finally:
            end = time.monotonic() + 5 * exercise_checks._AGAIN
            while time.monotonic() < end:
                pass
            (tmp_path / "made").unlink()

    def loop() -> None:
        while True:
            time.sleep(0)

    check.own = 0.1  # type: ignore[attr-defined]
    assert str(judge(check, loop)).startswith(ENDLESS)
    assert list(tmp_path.iterdir()) == []


def test_a_check_puts_back_the_tracers_the_alarm_and_the_hook_that_were_there() -> None:
    def ours(*_: object) -> None: ...

    def there() -> tuple[object, ...]:
        alarm = signal.getsignal(signal.SIGALRM)
        return sys.gettrace(), threading.gettrace(), alarm, threading.excepthook

    traced, hook = (sys.gettrace(), threading.gettrace()), threading.excepthook
    alarm = signal.signal(signal.SIGALRM, ours)
    sys.settrace(ours)
    threading.settrace(ours)
    try:
        judge(lambda f: None, 1)
        assert there() == (ours, ours, ours, hook)
    finally:
        sys.settrace(traced[0])
        threading.settrace(traced[1])  # type: ignore[arg-type]
        signal.signal(signal.SIGALRM, alarm)
        threading.excepthook = hook


# Live


def pressed(box: Questions, name: str, value: str) -> dict[str, str]:
    """What a card shows after a row was pressed."""
    box.answer({"name": name, "value": value})
    return box.parts()


def states(rows: str) -> list[str]:
    """Of each row: its mark, tag, letter, and word."""
    found = re.findall(r"<li(.*?)><(\w+) .*?<i>(\w)</i>.*?</span> (?:<b>(.*?)</b>)?</", rows)
    return [" ".join(one).strip() for one in found]


def test_choosing_commits_before_anything_is_said_and_only_once() -> None:
    said: list[str] = []
    box = prediction_box(PREDICTION, lambda one: said.append(box.parts()["prediction said"] + one))
    assert states(box.parts()["prediction"]) == ["button a", "button b"]
    after = pressed(box, "prediction", "b")
    assert "noted: b" in after["prediction said"]
    assert states(after["prediction"]) == [
        "div a",
        "class=lk-cause button b ● your answer",
    ]
    assert not any(option.why[:20] in str(after) for option in OPTIONS.values())
    assert "<script>" not in box.start["html"] + str(after)
    assert pressed(box, "prediction", "a") == pressed(box, "elsewhere", "b") == after
    assert said == ["b"]


def test_the_live_quiz_answers_at_once_and_keeps_the_score() -> None:
    noted: list[tuple[str, str]] = []
    box = Questions(QUIZ, lambda name, letter: noted.append((name, letter)))
    for number, name in enumerate(QUIZ, start=1):
        assert f"right, {5 - number} to answer" in box.parts()["score"]
        assert f"{number} of 4<" in box.start["html"]
        assert OPTIONS["a"].why not in box.parts()[name]
        after = pressed(box, name, "a")
        assert OPTIONS["a"].why in after[name]
        assert ("✗ it is b" if number % 2 == 0 else "✓ right") in after[f"{name} said"]
        assert "<script>" not in str(after)
    assert noted == [("q1", "a"), ("q2", "a"), ("q3", "a"), ("q4", "a")]
    assert "2 of 4 right, 0 to answer<" in after["score"]
    assert re.findall(r"<i class=\"lk-(\w+)\">(.)</i>", after["score"]) == [
        *[("done", "✓"), ("error", "✗")] * 2
    ]


def test_chosen_right_and_wrong_each_have_a_sign_a_word_and_a_colour() -> None:
    """A wrong choice had a tick before."""

    def shown(letter: str) -> list[str]:
        box = Questions({"q1": Question("what then?", OPTIONS, "a")}, ignore)
        return states(pressed(box, "q1", letter)["q1"])

    assert shown("b") == [
        "class=lk-done div a ✓ right",
        "class=lk-error button b ✗ your answer",
    ]
    assert shown("a") == ["class=lk-done button a ✓ your answer", "div b"]
    for mark in (theme.CAUSE, theme.DONE, theme.ERROR):
        for tone in (mark.light, mark.dark):
            assert f"--lk-{mark.key}-fg:{tone.fg};--lk-{mark.key}-bg:{tone.bg}" in STYLE


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("✓ It ends.", '<p class="lk-verdict lk-done"><i>✓</i> <span>It ends.</span></p>'),
        (
            "not yet: `f` <b>.",
            '<p class="lk-verdict lk-error"><i>✗</i> <span>not yet: <code>f</code> &lt;b&gt;.'
            "</span></p>",
        ),
    ],
)
def test_a_verdict_is_a_line_with_a_sign_in_an_open_notebook_and_bold_elsewhere(
    said: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = verdict(said, "<p>more</p>")
    assert card.html.startswith("<p><strong>")
    assert "lk-" not in card.html
    monkeypatch.setattr(display_card, "is_live", lambda: True)
    shown = card._repr_mimebundle_()
    assert shown["text/html"].endswith(f"{line}<p>more</p></div>")
    assert shown["text/plain"] == said

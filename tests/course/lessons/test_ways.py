"""Lesson 4's three tasks: what each way really leads to, and who is told that no plan is faster."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.lab import Lab
from learnkit.course.lessons.s04 import ways
from learnkit.errors import UsageError


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    before = set(threading.enumerate())
    made = lk.lesson("s04")
    yield made
    made.remove()
    assert set(threading.enumerate()) <= before


@pytest.fixture(scope="module")
def done(lab: Lab) -> dict[tuple[str, str], ways.Done]:
    return {(n, way): ways.carried_out(lab, n, way) for n in ways.TASKS for way in ways.WAYS}


@pytest.mark.slow
def test_one_agent_is_right_but_has_no_room_for_many_files(done: Any) -> None:
    assert not any(done[name, "alone"].wrong for name in ways.TASKS)
    assert [done[name, "alone"].counts for name in ways.TASKS] == [False, True, False]


def test_children_in_series_are_always_right_and_slowest(done: Any) -> None:
    for name in ways.TASKS:
        assert done[name, "series"].counts
        assert done[name, "series"].seconds == max(done[name, way].seconds for way in ways.WAYS)


def test_children_in_parallel_overwrite_each_other_and_know_no_report(done: Any) -> None:
    assert done["limits", "parallel"].counts
    assert done["rules", "parallel"].wrong == "1 of 2 new rules are in docs/rules.md"
    assert done["gaps", "parallel"].wrong == "0 of 5 parsers are in docs/todo.md"


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (("alone", "alone", "alone"), "1 of 3 tasks count"),
        (("parallel", "parallel", "parallel"), "1 of 3 tasks count"),
        (("series", "series", "series"), "All count, in 32 s. Another plan takes 18 s."),
        (("parallel", "alone", "series"), "All count, in 18 s. No plan is faster."),
    ],
)
def test_a_plan_is_judged_by_what_it_led_to(
    done: Any,
    lab: Lab,
    plan: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(ways, "carried_out", lambda _, name, way: done[name, way])
    ways.carry_out(lab, dict(zip(ways.TASKS, plan, strict=True)))
    assert capsys.readouterr().out.splitlines()[-1].startswith(says)


def test_a_mistyped_plan_is_told_so(lab: Lab) -> None:
    with pytest.raises(UsageError, match="'gaps' is 'serial'; give one of alone, series, parallel"):
        ways.carry_out(lab, {"limits": "alone", "rules": "alone", "gaps": "serial"})
    with pytest.raises(UsageError, match="no task 'gap'; the tasks are limits, rules, gaps"):
        ways.carried_out(lab, "gap", "alone")
    with pytest.raises(UsageError, match="says nothing about rules, gaps"):
        ways.carry_out(lab, {"limits": "alone"})

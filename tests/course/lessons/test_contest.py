"""Lesson 5's contest: two rounds that differ in the descriptions, and a score for each."""

from __future__ import annotations

import html as pages
import re

import pytest

from learnkit.course.lessons.s05 import contest
from learnkit.course.lessons.s05.contest import ROUNDS, SKILLS, TASKS, Contest


def press(shown: Contest, skill: str) -> None:
    shown.buttons["abcde"[list(SKILLS).index(skill)]].click()


def html(shown: Contest) -> str:
    (box,) = shown.box.children
    return pages.unescape("\n".join(getattr(child, "value", "") for child in box.children))


def pressed(shown: Contest) -> list[str]:
    return [button.description for button in shown.buttons.values()]


def words(text: str) -> set[str]:
    return set(re.findall("[a-z]{4,}", text.lower()))


def test_the_rounds_ask_three_tasks_each_and_none_twice() -> None:
    first, second = ROUNDS
    assert len(first.tasks) == len(second.tasks) == 3
    assert sorted(first.tasks + second.tasks) == sorted(TASKS)
    assert {task.skill for task in TASKS.values()} == set(SKILLS)
    for one in ROUNDS:
        asked = [TASKS[task].skill for task in one.tasks]
        assert len(set(asked)) == len(asked)
        assert asked != sorted(asked)  # or the order would tell


def test_neither_a_name_nor_a_vague_line_has_a_word_of_a_task() -> None:
    asked = set().union(*map(words, TASKS))
    assert len({name.rstrip("abcde") for name in SKILLS}) == 1
    for name, (vague, _) in SKILLS.items():
        assert not words(f"{name} {vague}") & asked


@pytest.mark.parametrize("task", TASKS)
def test_the_words_that_decide_are_in_one_clear_line_and_in_no_other(task: str) -> None:
    wanted = TASKS[task]
    assert [name for name, (_, clear) in SKILLS.items() if wanted.words in clear] == [wanted.skill]
    assert SKILLS[wanted.skill][1].count(wanted.words) == 1


@pytest.mark.parametrize("right", [True, False])
def test_each_answer_is_judged_at_once_and_the_end_has_a_score(right: bool) -> None:
    shown = Contest()
    for number, one in enumerate(ROUNDS):
        for place, task in enumerate(one.tasks, start=1):
            wanted = TASKS[task]
            assert shown.task == task
            assert f"Round {number + 1}: {one.title}. Task {place} of 3" in html(shown)
            for name, lines in SKILLS.items():  # what is pressed says what is chosen
                assert any(f"{name}: {lines[one.place]}" in text for text in pressed(shown))
            assert not any(mark in html(shown) for mark in "✓✗")
            other = next(name for name in SKILLS if name != wanted.skill)
            press(shown, wanted.skill if right else other)
            assert "lk-choice" in shown.box.children[0]._dom_classes
            said = html(shown)
            assert ("✓ right" if right else f"✗ it's {wanted.skill}") in said
            assert (f"<strong>{wanted.words}</strong>" in said) == (number == 1)
            assert (SKILLS[wanted.skill][0] in said) == (number == 0)
            shown.next.click()
    n = 3 if right else 0
    said = f"Vague descriptions: {n} of 3 right; clear descriptions: {n} of 3 right."
    assert shown.task == ""
    assert said in html(shown)


def test_it_can_be_played_again_with_nothing_chosen() -> None:
    shown = Contest()
    for skill, vague in (("guide-c", 1), ("guide-a", 0)):
        for task in (*ROUNDS[0].tasks, *ROUNDS[1].tasks):
            assert shown.task == task
            press(shown, skill)
            shown.next.click()
        said = f"Vague descriptions: {vague} of 3 right; clear descriptions: 1 of 3 right."
        assert said in html(shown)
        shown.next.click()
    assert shown.task == ROUNDS[0].tasks[0]
    assert shown.next not in shown.box.children[0].children


def test_an_answer_counts_once() -> None:
    shown = Contest()
    press(shown, "guide-a")
    press(shown, "guide-c")  # which is right, but too late
    assert "✗ it's guide-c" in html(shown)
    for _ in range(2):
        shown.next.click()
        press(shown, "guide-a")
    shown.next.click()
    assert shown.task == ROUNDS[1].tasks[0]


@pytest.mark.parametrize("one", ROUNDS)
def test_without_a_page_everything_can_be_read(one: contest.Round) -> None:
    card = contest.contest()
    assert card.text == "contest: 2 rounds of 3 tasks"
    for text in (*(texts[one.place] for texts in SKILLS.values()), *one.tasks):
        assert text in pages.unescape(card.html)

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
    return pages.unescape("\n".join(getattr(child, "value", "") for child in shown.box.children))


def words(text: str) -> set[str]:
    return set(re.findall("[a-z]{4,}", text.lower()))


def test_both_rounds_ask_the_same_and_each_skill_is_right_once() -> None:
    first, second = ROUNDS
    assert sorted(first.tasks) == sorted(second.tasks) == sorted(TASKS)
    assert all(a != b for a, b in zip(first.tasks, second.tasks, strict=True))
    assert sorted(task.skill for task in TASKS.values()) == sorted(SKILLS)
    for one in ROUNDS:  # or the order would tell
        assert [TASKS[task].skill for task in one.tasks] != list(SKILLS)


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


def test_one_task_after_the_other_and_nothing_is_told_before_the_end() -> None:
    shown = Contest()
    first, second = ROUNDS
    for number, task in enumerate(first.tasks, start=1):
        assert shown.task == task
        assert f"Round 1: vague descriptions. Task {number} of 5" in html(shown)
        assert SKILLS["guide-a"][0] in html(shown)
        press(shown, "guide-a")
    for task in second.tasks:
        assert shown.task == task
        assert "✓" not in html(shown)
        assert "✗" not in html(shown)
        assert SKILLS["guide-a"][0] not in html(shown)
        press(shown, TASKS[task].skill)
    said = html(shown)
    assert shown.task == ""
    assert "Vague descriptions: 1 of 5 right; clear descriptions: 5 of 5 right." in said
    assert said.count("✗ guide-a by the vague line, ✓ guide-") == 4
    assert said.count("✓ guide-a by the vague line, ✓ guide-a by the clear line") == 1
    for task, wanted in TASKS.items():
        row = said[said.index(f"<strong>{task}</strong>") :]
        assert f"<strong>{wanted.words}</strong>" in row[: row.index("</li>")]


def test_it_can_be_played_again_with_nothing_chosen() -> None:
    shown = Contest()
    for skill in ("guide-b", "guide-c"):
        for one in ROUNDS:
            for task in one.tasks:
                assert shown.task == task
                press(shown, skill)
        assert html(shown).count(f"✗ {skill} by the clear line") == 4
        assert shown.again in shown.box.children
        shown.again.click()
    assert shown.task == ROUNDS[0].tasks[0]
    assert shown.again not in shown.box.children


def test_an_answer_counts_once() -> None:
    shown = Contest()
    button = shown.buttons["a"]
    button.click()
    button.click()  # a second click of a mouse, before the page has changed
    assert shown.task == ROUNDS[0].tasks[1]


@pytest.mark.parametrize("one", ROUNDS)
def test_without_a_page_everything_can_be_read(one: contest.Round) -> None:
    card = contest.contest()
    assert card.text == "contest: 2 rounds of 5 tasks"
    for text in (*(texts[one.place] for texts in SKILLS.values()), *one.tasks):
        assert text in pages.unescape(card.html)

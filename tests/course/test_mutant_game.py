"""Kill the mutants, as a learner meets it: a run, and lines of code, one of which is pressed."""

from __future__ import annotations

import importlib
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.course.games import start
from learnkit.course.games.mutants import game
from learnkit.course.games.mutants.card import mutants_card
from learnkit.course.games.mutants.catalogue import MUTANTS
from learnkit.course.games.mutants.game import MutantGame
from learnkit.course.games.mutants.mutant import LINES, Mutant
from learnkit.course.games.mutants.panel import MutantsPanel
from learnkit.course.games.start import Start
from learnkit.course.progress import Progress
from learnkit.views.drawing.text import esc

THREE = MUTANTS[:3]


@pytest.fixture
def answers() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def box(answers: list[tuple[str, str]]) -> Iterator[MutantsPanel]:
    made = MutantsPanel(MutantGame(THREE, {}, lambda *given: answers.append(given)))
    yield made
    made.close()


def spoken(box: MutantsPanel) -> str:
    return str(box._score.value)


def test_the_committed_form_folds_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for mutant in THREE:
        html = mutants_card(MutantGame([mutant])).html
        before, _, answer = html.partition("<summary>answer</summary>")
        assert esc(mutant.new) in before
        assert esc(mutant.old) not in before
        assert "Right" not in before
        assert "- " in answer
        assert len(html.encode()) < 25_000
    assert list(tmp_path.iterdir()) == []


def test_an_answer_shows_the_line_and_the_sound_run(
    box: MutantsPanel, answers: list[tuple[str, str]]
) -> None:
    mutant = THREE[0]
    assert "0 of 3 mutants killed, 0 tried" in spoken(box)
    players = len(box._players)
    _, wrong = mutant.lines()
    assert mutant.new in box.choice.buttons[str(wrong)].description
    box.choice.buttons[str(wrong)].click()
    assert answers == [("m01", "found")]
    assert "✓ right" in box.choice.buttons[str(wrong)].description
    assert "1 of 3 mutants killed, 1 tried" in spoken(box)
    assert "✓ killed" in box.choice.status.value
    assert "self.calls[:1]" in box.choice.status.value
    assert len(box._players) == players + 1
    faulty, sound = (len(player._view.events) for player in box._players)
    assert sound > faulty, "without the fault the run goes on"
    assert box.chooser.value == 0
    assert box.chooser.label == "✓ 1"


def test_a_wrong_answer_counts_as_tried(box: MutantsPanel, answers: list[tuple[str, str]]) -> None:
    lines, fault = THREE[0].lines()
    other = next(number for number in lines if number != fault)
    box.choice.buttons[str(other)].click()
    assert "0 of 3 mutants killed, 1 tried" in spoken(box)
    assert f"✗ it is line {fault}" in box.choice.status.value
    assert box.choice.buttons[str(other)].description.startswith("● ✗ wrong · ")
    assert "✓" not in box.choice.buttons[str(other)].description
    assert box.choice.buttons[str(fault)].description.startswith("✓ right · ")
    assert box.chooser.label == "✗ 1"
    assert answers == [("m01", "missed")]


def test_the_next_one_comes_and_after_the_last_the_first(box: MutantsPanel) -> None:
    scenes = []
    for _ in range(4):
        scenes.append(box._shown.children[0].value)
        box.next.click()
    assert scenes[0] == scenes[3]
    assert len(set(scenes)) == 3
    assert len(box._players) == 1, "players of other mutants are gone"


def test_what_was_found_before_is_marked() -> None:
    given = {"m01": THREE[0].right, "m02": "found", "m03": "missed"}
    box = MutantsPanel(MutantGame(THREE, given))
    assert [label for label, _ in box.chooser.options] == ["✓ 1", "✓ 2", "✗ 3"]
    box.close()


def test_a_run_is_played_once_however_often_it_is_shown() -> None:
    game = MutantGame(THREE)
    mutants_card(game)
    box = MutantsPanel(game)
    assert box._players[0]._view is game.view(THREE[0])
    box.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=[one.name for one in MUTANTS])
def test_the_lines_to_press_have_the_fault_and_are_the_modules(mutant: Mutant) -> None:
    lines, wrong = mutant.lines()
    source = inspect.getsource(importlib.import_module(mutant.module)).split("\n")
    assert len(lines) == LINES
    assert lines[wrong].strip() == mutant.new
    assert source[wrong - 1].strip() == mutant.old
    others = {number: line for number, line in lines.items() if number != wrong}
    assert all(source[number - 1].endswith(line) for number, line in others.items())
    assert not [line for line in lines.values() if line.lstrip().startswith(("#", '"""'))]


def test_the_fault_is_not_always_in_the_same_place() -> None:
    places = {list(lines).index(wrong) for lines, wrong in (one.lines() for one in MUTANTS)}
    assert len(places) > LINES // 2


def test_none_is_refused() -> None:
    with pytest.raises(lk.UsageError, match="no mutant"):
        MutantGame([])


def test_a_lab_remembers_which_mutants_were_found() -> None:
    lab = lk.lesson("s12")
    try:
        assert lab.mutants().text.startswith("0 of 24 mutants killed, 0 tried. mutant 1: ")
        lab.static = False
        lab.remember("play", "m01", MUTANTS[0].right)
        assert lab.mutants().text == "1 of 24 mutants killed, 1 tried."
    finally:
        Progress().forget()
        lab.close()


def test_no_run_is_played_before_start_and_the_lab_may_be_closed_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[str] = []
    sound = game.play
    monkeypatch.setattr(game, "play", lambda one: played.append(one.name) or sound(one))
    starts: list[Start] = []
    monkeypatch.setattr(start, "Start", lambda *given: starts.append(Start(*given)) or starts[-1])
    lab = lk.lesson("s12")
    lab.static = False
    card = lab.mutants()
    assert card.live is not None
    card.live()
    lab.close()
    assert played == []
    (button,) = starts
    button.press()
    assert played == ["m01"]
    (shown,) = button.below.children
    assert "lk-choice" in shown._dom_classes
    assert button.button.description == "Start again"

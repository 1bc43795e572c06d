"""Games wait for Start, outlive the lab that shows them, and leave nothing."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.content import Game
from learnkit.course.lab import Lab


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def lab(
    tmp_path: Path, folders: Path, monkeypatch: pytest.MonkeyPatch, no_thread_is_left: None
) -> Iterator[Lab]:
    monkeypatch.setenv("LEARNKIT_WORKBOOK", str(tmp_path / "workbook"))
    monkeypatch.setenv("LEARNKIT_PACE", "0")
    made = lk.lesson("s01")
    made.static = False
    yield made
    made.remove()
    assert list(folders.iterdir()) == []


def test_a_game_does_nothing_before_start(lab: Lab, folders: Path) -> None:
    before = set(threading.enumerate())
    game = lab.be_the_model()
    state = game.state()
    assert (state["phase"], state["again"], state["frame"]) == ("ready", "Start", [])
    assert state["tools"] == [{"name": "bash"}]
    assert str(game) == "be the model: You are the model: do it without a guess"
    assert [message["role"] for message in game.messages] == ["user"]
    assert (len(game.events), game.error) == (0, None)
    with pytest.raises(lk.UsageError, match="no request waits"):
        game.answer(lk.say("Hello."))
    assert (set(threading.enumerate()), list(folders.iterdir())) == (before, [])


def test_after_run_all_every_game_can_be_played(lab: Lab, folders: Path) -> None:
    games = [lab.be_the_model() for _ in range(2)]
    lab.close()
    for game in games:
        game.act({"start": True})
        game.answer(lk.use("bash", command="python -m heatwatch latest beijing"))
        assert "31.4" in str(game.messages[-1])
        assert list(folders.iterdir()) == [], "nothing is left while it waits"
        game.answer(lk.say("It is 31.4 °C."))
        assert game.phase == "ended"
    assert games[0].state()["again"] == "Play again"


def test_a_mechanism_that_cannot_be_made_is_told_on_the_page(lab: Lab) -> None:
    def mechanisms(workspace: Path) -> Any:
        raise ZeroDivisionError("no tools")

    game = lab.be_the_model(Game("Go.", mechanisms, []))
    game.act({"start": True})
    assert game.state()["phase"] == "broken"
    assert game.head == "The game broke off: ZeroDivisionError: no tools"

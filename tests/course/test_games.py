"""Games wait for Start, survive the end of the lab, and leave nothing when they end."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

import learnkit as lk
from learnkit.course.games.playing import PLAYING
from learnkit.course.jupyter.edited_cells import RAN
from learnkit.course.lab import Lab

SOON = 30.0


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
    made.reset()
    made.remove()
    assert len(PLAYING) == 0
    assert list(folders.iterdir()) == []


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes it another cell that runs."""
    return lambda cell: monkeypatch.setattr(RAN, "id", cell)


def until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + SOON
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


# Be the model.


def test_a_game_does_nothing_before_start(lab: Lab, folders: Path) -> None:
    before = set(threading.enumerate())
    game = lab.be_the_model()
    state = game.state()
    assert (state["phase"], state["again"], state["frame"]) == ("ready", "Start", [])
    assert str(game) == "be the model: it waits for you to press Start in its cell."
    assert [message["role"] for message in game.messages] == ["user"]
    assert (len(game.events), game.finished, game.error) == (0, False, None)
    for early in (lambda: game.outcome, game.wait, game.take_back, lambda: game.send("Hello.")):
        with pytest.raises(lk.UsageError, match="press Start in its cell"):
            early()
    game.close()
    assert (set(threading.enumerate()), list(folders.iterdir())) == (before, [])


@pytest.mark.slow
def test_after_run_all_every_game_can_be_played(
    lab: Lab, ran: Callable[[str], None], folders: Path
) -> None:
    games = []
    for cell in ("c1", "c2"):
        ran(cell)
        games.append(lab.be_the_model())
    lab.close()
    for game in games:
        game.act({"start": True})
        assert game.wait(SOON) == "yours"
        game.act({"start": True})  # a second click
    assert len(PLAYING) == len(list(folders.iterdir())) == 2
    for game in games:
        game.send(lk.use("bash", command="python -m heatwatch latest beijing"))
        assert game.wait(SOON) == "yours"
        assert "31.4" in str(game.messages[-1])
        game.send("It is 31.4 °C.")
        assert game.wait(SOON) == "ended"
    assert len(PLAYING) == 0
    assert list(folders.iterdir()) == []
    assert games[0].state()["again"] == "Play again"
    games[0].act({"start": True})
    assert games[0].wait(SOON) == "yours"
    assert games[0].state()["ask"] == 3, "no answer to the game before is taken for one to this"
    assert len(games[0].messages) == 1


@pytest.mark.parametrize("how", ["left", "reset", "cell", "exit", "broken"])
def test_what_ends_a_game_leaves_nothing_of_it(
    lab: Lab, ran: Callable[[str], None], folders: Path, how: str
) -> None:
    ran("c1")
    game = lab.be_the_model()
    game.start()
    assert game.wait(SOON) == "yours"
    started = threading.Event()
    game.events.subscribe(lambda e: started.set() if e.type == "tool.started" else None)
    game.send(lk.use("bash", command="sleep 600"))
    assert started.wait(SOON)
    if how == "left":
        game.act({"stop": True})
        assert game.wait(SOON) == "left"
    elif how == "reset":
        lab.reset()
    elif how == "cell":
        lab.be_the_model()
    elif how == "exit":
        PLAYING.end_all()
    else:
        game._run._change("broken", "as if a mechanism had failed")  # type: ignore[union-attr]
        game.close()
    assert len(PLAYING) == 0
    assert list(folders.iterdir()) == []
    assert [one for one in psutil.Process().children(recursive=True) if "sleep" in one.name()] == []


def test_of_two_games_of_a_cell_only_the_later_one_goes_on(lab: Lab) -> None:
    games = lab.be_the_model(), lab.be_the_model()
    for game in games:
        game.start()
        assert game.wait(SOON) == "yours"
    assert [game.wait(SOON) for game in games] == ["left", "yours"]
    PLAYING.end_all()


# The end of the kernel.

GAMES = """
import learnkit as lk, threading
from learnkit import lesson
lab = lesson("s01")
game = lab.be_the_model()
game.start()
assert game.wait(30) == "yours"
started = threading.Event()
game.events.subscribe(lambda e: started.set() if e.type == "tool.started" else None)
game.send(lk.use("bash", command="sleep 987"))
assert started.wait(30)
lab.close()
import os, tempfile
print("temporary:", sorted(one.partition("-")[0] for one in os.listdir(tempfile.gettempdir())))
"""


def sleeping(kernel: psutil.Process) -> list[str]:
    """How long the kernel's commands sleep."""
    lines = []
    for one in kernel.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            lines.append(one.cmdline())
    return sorted(line[1] for line in lines if len(line) == 2 and line[0] == "sleep")


@pytest.mark.slow
def test_a_game_ends_with_the_kernel(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    live = {key: value for key, value in os.environ.items() if key != "LEARNKIT_STATIC"}
    live |= {"TMPDIR": str(folder), "LEARNKIT_WORKBOOK": str(tmp_path / "workbook")}
    manager, client = start_new_kernel(kernel_name="python3", env=live)
    printed: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        printed.append(str(message["content"].get("text", "")))

    try:
        reply = client.execute_interactive(GAMES, output_hook=hear, timeout=90)
        assert reply["content"]["status"] == "ok", reply["content"]
        found = "".join(printed).partition("temporary:")[2]
        assert found.count("learnkit") == 1, found
        kernel = psutil.Process(manager.provisioner.pid)  # type: ignore[union-attr]
        until(lambda: sleeping(kernel) == ["987"], "no command runs")
        started = kernel.children(recursive=True)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    assert list(folder.iterdir()) == []
    assert not [one for one in started if one.is_running() and one.status() != "zombie"]

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
from learnkit.course.content import Game
from learnkit.course.games import stage as stages
from learnkit.course.games.playing import PLAYING
from learnkit.course.games.stage import Stage
from learnkit.course.jupyter.edited_cells import RAN
from learnkit.course.lab import Lab
from learnkit.course.scenario import Run

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


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Stage]:
    """The stages that cells have shown."""
    made: list[Stage] = []

    def keep(*given: Any) -> Stage:
        made.append(Stage(*given))
        return made[-1]

    monkeypatch.setattr(stages, "Stage", keep)
    monkeypatch.setattr("IPython.display.display", lambda box: None)
    return made


def until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + SOON
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class Crew:
    """An agent that works until somebody says that it is enough; it keeps its runs."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.enough = threading.Event()

    def play(self, run: Run) -> Any:
        self.runs.append(run)
        agent = run.agent([lk.CodingTools(run.workspace)], max_turns=100_000)
        return lambda: agent.run("Go."), lambda intent: self.enough.set()

    def model(self, request: Any) -> lk.Reply:
        return lk.say("Enough.") if self.enough.is_set() else lk.use("bash", command="true")

    def show(self, lab: Lab) -> None:
        options: Any = {"buttons": {}, "script": self.model}
        lab.stage("crew", self.play, lk.views.Messages, **options)


class Pressable(lk.views.Messages):
    """A view that hands its clicks on."""

    def __init__(self, events: Any, *, buttons: Any, on_intent: Any) -> None:
        super().__init__(events)
        self.on_intent = on_intent


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Crew:
    monkeypatch.setattr(lk.views, "Messages", Pressable)
    return Crew()


# A stage.


@pytest.mark.slow
@pytest.mark.parametrize("closed", [False, True])
def test_a_stage_does_nothing_before_start_and_everything_after_it(
    lab: Lab, crew: Crew, shown: list[Stage], folders: Path, closed: bool
) -> None:
    before = set(threading.enumerate())
    crew.show(lab)
    if closed:
        lab.close()
    (stage,) = shown
    assert (crew.runs, set(threading.enumerate()), list(folders.iterdir())) == ([], before, [])
    stage.press()
    (run,) = crew.runs
    assert (run.workspace / "README.md").exists()
    (player,) = stage._start.below.children
    until(lambda: len(run.events) > 20, "nothing happens on the stage")
    player._heard(player, {"intent": {"any": "click"}}, [])
    until(lambda: not stage._thread.is_alive(), "it goes on")  # type: ignore[union-attr]
    assert (len(PLAYING), list(folders.iterdir())) == (0, [])
    assert run.events[-1].data["reason"] == "end_turn"
    assert "This run is over, after " in stage._start._about.value
    crew.enough.clear()
    player._heard(player, {"intent": {"too": "late"}}, [])
    assert not crew.enough.is_set()
    (over,) = stage._start.below.children
    assert over._view.on_intent is None, "a button that does nothing is not drawn"


@pytest.mark.slow
def test_a_started_stage_survives_the_lab_and_says_so(
    lab: Lab, crew: Crew, shown: list[Stage], capsys: pytest.CaptureFixture[str]
) -> None:
    crew.show(lab)
    shown[0].press()
    capsys.readouterr()
    lab.close()
    assert capsys.readouterr().out.startswith(
        "Closed: no thread, process or workspace is left, except those of the game that you are "
        "playing."
    )
    (run,) = crew.runs
    now = len(run.events)
    until(lambda: len(run.events) > now, "it has ended with the lab")
    crew.enough.set()
    until(lambda: len(PLAYING) == 0, "it goes on")
    lab.close()
    assert "playing" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("how", ["again", "reset", "cell", "close", "exit"])
def test_what_ends_a_stage_leaves_nothing_of_it(
    lab: Lab, crew: Crew, shown: list[Stage], ran: Callable[[str], None], how: str
) -> None:
    ran("c1")
    crew.show(lab)
    ran("c2")
    other = Crew()
    other.show(lab)
    for stage in shown:
        stage.press()
    (run,), (others,) = crew.runs, other.runs
    if how == "again":
        shown[0].press()
        assert len(crew.runs) == 2
    elif how == "reset":
        lab.reset()
    elif how == "cell":
        ran("c1")
        lk.lesson("s01")  # the set-up cell has run again, too
        crew.show(lab)
    elif how == "close":
        shown[0].close()
        shown[0].close()
    else:
        PLAYING.end_all()
    assert not run.workspace.exists()
    assert run.events[-1].data["reason"] == "cancelled"
    assert others.workspace.exists() == (how not in ("reset", "exit")), "another cell's"
    assert len(PLAYING) == {"again": 2, "cell": 1, "close": 1}.get(how, 0)
    PLAYING.end_all()


@pytest.mark.slow
def test_a_stage_that_fails_says_so_where_it_is(
    lab: Lab, shown: list[Stage], folders: Path, crew: Crew
) -> None:
    def play(run: Run) -> Any:
        return lambda: run.agent().run("Go."), lambda intent: None

    def faulty(run: Run) -> Any:
        raise ZeroDivisionError("no <crew>")

    options: dict[str, Any] = {"buttons": {}, "script": []}
    lab.stage("crew", play, lk.views.Messages, **options)
    lab.stage("crew", faulty, lk.views.Messages, **options)
    shown[0].press()
    until(lambda: "one more reply" in shown[0]._start._about.value, "nobody says so")
    until(lambda: len(PLAYING) == 0, "it goes on")
    shown[1].press()
    assert "✗ ZeroDivisionError: no &lt;crew&gt;" in shown[1]._start._about.value
    assert len(PLAYING) == 0
    assert list(folders.iterdir()) == []


def test_without_a_person_planned_clicks_come_at_their_time_or_at_once(
    lab: Lab, crew: Crew, folders: Path
) -> None:
    lab.static = True
    heard: list[tuple[float, Any]] = []

    def play(run: Run) -> Any:
        def pressed(intent: dict[str, Any]) -> None:
            heard.append((run.clock.time(), intent["takes"]))
            run.clock.sleep(intent["takes"])

        return lambda: run.agent().run("Go."), pressed

    clicks = [(1.0, {"takes": 3.0}), (2.0, {"takes": 1.0}), (8.0, {"takes": 0.5})]
    script = [lk.say("done", latency=9.0)]
    lab.stage("crew", play, lk.views.Messages, buttons={}, clicks=clicks, script=script)
    assert heard == [(1.0, 3.0), (4.0, 1.0), (8.0, 0.5)]
    assert list(folders.iterdir()) == []


@pytest.mark.slow
def test_the_seconds_are_counted_while_nothing_happens(
    lab: Lab, shown: list[Stage], crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A paced clock would jump over an idle time, and a click would be logged at its end."""
    monkeypatch.setenv("LEARNKIT_PACE", "0.005")
    seen: list[str] = []
    runs: list[Run] = []

    def play(run: Run) -> Any:
        runs.append(run)
        return lambda: run.clock.sleep(12.0), lambda intent: None

    lab.stage("idle", play, lk.views.Messages, buttons={}, script=[], slower=2)
    (stage,) = shown
    stage._start._about.observe(lambda change: seen.append(change["new"]), "value")
    stage.press()
    until(lambda: len(PLAYING) == 0, "it goes on")
    said = [f"{second} s on the clock" for second in range(12)]
    assert [one for one in seen if one in said] == said
    assert "This run is over, after 12 s on the clock." in stage._start._about.value
    assert runs[0].clock.pace == 0.01  # type: ignore[attr-defined]


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


def test_a_mechanism_that_cannot_be_made_is_told_on_the_page(lab: Lab) -> None:
    def mechanisms(workspace: Path) -> Any:
        raise ZeroDivisionError("no tools")

    game = lab.be_the_model(Game("Go.", mechanisms, []))
    seen: list[Any] = []
    game.watch(seen.append)
    game.act({"start": True})
    assert seen == [{"problem": "ZeroDivisionError: no tools"}]
    assert game.state()["phase"] == "ready"


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
"""
CREW = """
from learnkit.course.jupyter.edited_cells import RAN
from learnkit.course.games import stage as stages
RAN.id = "c2"  # a client without a page sends no ids of cells
made = []
class Kept(stages.Stage):
    def __init__(self, *given):
        super().__init__(*given)
        made.append(self)
stages.Stage = Kept
def play(run):
    agent = run.agent([lk.CodingTools(run.workspace)], max_turns=100_000)
    return lambda: agent.run("Go."), lambda intent: None
lab.stage("crew", play, lambda log, **rest: lk.views.Messages(log), buttons={},
    script=lambda request: lk.use("bash", command="sleep 988"))
made[0].press()
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
def test_games_end_with_the_kernel(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    live = {key: value for key, value in os.environ.items() if key != "LEARNKIT_STATIC"}
    live |= {"TMPDIR": str(folder), "LEARNKIT_WORKBOOK": str(tmp_path / "workbook")}
    manager, client = start_new_kernel(kernel_name="python3", env=live)
    printed: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        printed.append(str(message["content"].get("text", "")))

    try:
        for code in (GAMES, CREW):
            reply = client.execute_interactive(code, output_hook=hear, timeout=90)
            assert reply["content"]["status"] == "ok", reply["content"]
        found = "".join(printed).partition("temporary:")[2]
        assert found.count("learnkit") == 2, found
        kernel = psutil.Process(manager.provisioner.pid)  # type: ignore[union-attr]
        until(lambda: sleeping(kernel) == ["987", "988"], "no command runs in both")
        started = kernel.children(recursive=True)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    assert list(folder.iterdir()) == []
    assert not [one for one in started if one.is_running() and one.status() != "zombie"]

"""The lab: each scenario starts afresh, and nothing stays behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from messages_server import serving

import learnkit as lk
from learnkit.clients.recordings.replay import Miss
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.content import Repair, load
from learnkit.course.display import card as display_card
from learnkit.course.display.card import inline
from learnkit.course.first_edit.answers import answering
from learnkit.course.first_edit.panel import offer
from learnkit.course.games.be_the_model.seat import Given
from learnkit.course.games.night.panel import NightPanel
from learnkit.course.lab import Lab, recordings
from learnkit.course.progress import Progress
from learnkit.course.scenario import Run, workspace
from learnkit.errors import UsageError
from learnkit.runtime.notebook import PACE


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setenv("LEARNKIT_WORKBOOK", str(tmp_path / "workbook"))  # no other test's notes
    made = lk.lesson("s01")
    yield made
    made.close()


@pytest.fixture
def widgets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The widgets that cards show in an open notebook."""
    made: list[Any] = []
    monkeypatch.setattr(display_card, "bundle", lambda widget: made.append(widget) or {})
    return made


#: What lesson 1 sends with these scenarios.
SYSTEM = "You are a coding agent in the project's folder. Use your tools. Act; don't explain."
HELLO = "Create hello.py that prints Hello World."


def solver(run: Run, **options: Any) -> lk.Agent:
    """An agent that sends what lesson 1's file sends."""

    @lk.tool
    def bash(command: str) -> str:
        """Run a bash command in the project's folder and return its output."""
        return run.shell.run(command, run.workspace).output

    return run.agent([lk.Toolbox(bash)], system=SYSTEM, **options)


def solve(lab: Lab, task: str) -> None:
    with lab.scenario("hello") as run:
        solver(run).run(task)


def test_a_scenario_starts_afresh_each_time(lab: Lab) -> None:
    seen = []
    for _ in range(2):
        with lab.scenario("hello") as run:
            assert run.clock.time() == 0
            assert len(run.events) == 0
            assert not (run.workspace / "hello.py").exists()
            agent = solver(run)
            agent.run(HELLO)
            assert (run.workspace / "hello.py").exists()
            seen.append((agent.messages, str(run.events), str(run.meter())))
        assert not run.workspace.exists()
    assert seen[0] == seen[1]


def test_an_error_in_a_scenario_cleans_up_and_comes_through(lab: Lab) -> None:
    workspaces = []

    def fail() -> None:
        with lab.scenario("x", script=["y"]) as run:
            workspaces.append(run.workspace)
            run.clock.spawn("left over", run.clock.wait, run.clock.signal("never"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not workspaces[0].exists()
    assert [t for t in threading.enumerate() if t.name == "left over"] == []


def test_a_tool_that_leaves_the_folder_takes_nobody_with_it(lab: Lab) -> None:
    here = Path.cwd()
    agent: Any = SimpleNamespace(client=None, MODEL="", ROOT=here)
    with lab.scenario("hello", script=[]) as run, run.serves(agent):
        os.chdir(agent.ROOT)
    assert Path.cwd() == here


def test_a_changed_prompt_misses(lab: Lab) -> None:
    with pytest.raises(Miss, match="prints Hello World"):
        solve(lab, "Which branch?")
    lab.static = False
    with pytest.raises(Miss), lab.scenario("hello") as run, contextlib.suppress(Miss):
        run.agent(system=SYSTEM).run("Which branch?")  # also if the cell swallows it


@pytest.mark.parametrize("static", [True, False])
def test_a_miss_offers_its_panel_only_in_an_open_notebook(lab: Lab, static: bool) -> None:
    lab.static = static
    with pytest.raises(Miss) as caught:
        solve(lab, "Which branch?")
    panel: Any = caught.value.offer
    if static:
        assert panel is None
    else:
        assert panel.func is offer
        assert panel.args == (caught.value, recordings() / "s01.yaml")


def test_after_run_all_a_cell_can_still_be_changed_and_run(lab: Lab) -> None:
    solve(lab, HELLO)
    lab.close()
    with lab.scenario("x", script=["y"]) as run:
        own = lk.EventLog()
        assert run.agent(events=own).run("Which branch?").text == "y"
        assert own
        assert not run.events
        assert (run.workspace / ".git").is_dir()
        again = run.workspace
    assert lab.folder("board").is_dir()
    lab.close()
    assert not again.exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda lab: lab.predict("p9"), "no prediction 'p9'; there are: p1, p2"),
        (lambda lab: lab.reveal("p9"), "no prediction 'p9'; there are: p1, p2"),
        (lambda lab: lab.exercise(4), "no exercise '4'; there are: 1, 2"),
        (lambda lab: lk.lesson("s04").be_the_model(), "no game of its own"),
        (lambda lab: lk.lesson("s99"), "no lesson 's99'; there are: s01"),
        (lambda lab: lk.lesson("s01", mode="dream"), "not 'dream'"),
        (lambda lab: lab.scenario("none").__enter__(), "no scenario 'none'; it has: mail"),
    ],
)
def test_what_there_is_not_is_answered_with_what_there_is(lab: Lab, call: Any, words: str) -> None:
    lab.static = False
    with pytest.raises(lk.UsageError, match=words):
        call(lab)
    assert "not predicted" in lab.reveal("p1").text
    assert not any(Progress().of("s01").values())


def test_the_static_form_remembers_nothing_and_the_open_notebook_everything(
    lab: Lab, widgets: list[Any]
) -> None:
    lab.remember("quiz", "q1", "a")
    assert not any(Progress().of("s01").values())
    lab.static = False
    for letter in "ac":  # the last answer counts
        card = lab.predict("p1")
        assert card.live is not None
        card.live()
        asked = load("s01").predictions["p1"]
        assert inline(asked.question) in widgets[-1].start["html"]
        assert inline(asked.options[letter].text) in widgets[-1].parts()["prediction"]
        widgets[-1].answer({"name": "prediction", "value": letter})
        widgets[-1].answer({"name": "prediction", "value": "b"})  # too late
    quiz = lab.quiz()
    assert quiz.live is not None
    quiz.live()
    widgets[-1].answer({"name": "q2", "value": "a"})
    noted = Progress().of("s01")
    assert noted["quiz"] == {"q2": "a"}
    assert lab.reveal("p1").text.startswith("You said c; it is b")
    assert "(● your answer" in lab.reveal("p1").html


def test_a_folder_of_the_labs_own_is_empty_each_time_and_gone_in_the_end(lab: Lab) -> None:
    folder = lab.folder("board")
    (folder / "x").write_text("x")
    assert lab.folder("other") != folder
    assert (folder / "x").exists()
    assert lab.folder("board") == folder
    assert list(folder.iterdir()) == []
    for name in ("a/b", "..", ""):
        with pytest.raises(lk.UsageError, match="no plain name for a folder"):
            lab.folder(name)
    lab.close()
    assert not folder.exists()


def test_what_is_recorded_is_replayed_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEARNKIT_RECORDINGS", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local-test-key")

    def ask(mode: str, prompt: str = "Hello?") -> tuple[str, type]:
        lab = lk.lesson("s01", mode=mode)
        with lab.scenario("talk") as run:
            text = run.agent().run(prompt).text
            kind = type(run.clock)
        lab.close()
        return text, kind

    with serving(["Hi.", "Hello."]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert ask("live") == ("Hi.", lk.SystemClock)
        assert ask("record") == ("Hello.", lk.SystemClock)
    assert ask("replay") == ("Hello.", lk.VirtualClock)
    assert ask("keep", "Good morning?") == ("Hello.", lk.VirtualClock)
    assert ask("replay", "Good morning?") == ("Hello.", lk.VirtualClock)


@pytest.mark.parametrize(("said", "pace"), [("", PACE), ("0", 0.0), ("0.05", 0.05)])
def test_only_what_a_user_watches_is_paced(
    lab: Lab, said: str, pace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEARNKIT_PACE", said)
    lab.static = False
    paces: list[float] = []
    with lab.scenario("hello") as run:
        paces.append(run.clock.pace)  # type: ignore[attr-defined]
    with lab.scenario("mine", script=[]) as run:
        paces.append(run.clock.pace)  # type: ignore[attr-defined]
    with answering(Given({})), lab.scenario("hello") as run:
        paces.append(run.clock.pace)  # type: ignore[attr-defined]
    assert paces == [pace, 0.0, 0.0]


def test_without_git_there_is_no_workspace_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bash").symlink_to(str(shutil.which("bash")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(lk.UsageError, match="git repository could not be made"), workspace():
        pass
    assert list(tmp_path.iterdir()) == [tmp_path / "bash"]


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that lesson 3 begins with."""
    monkeypatch.setitem(sys.modules, "agent", None)
    return AgentCells("s03", None).module


def test_a_repair_is_tried_in_the_learners_file(
    lab: Lab, agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Repair(lambda agent: None if agent.path_in else "it is missing", "It is there.")
    repairs = SimpleNamespace(REPAIRS={"path_in": check})
    monkeypatch.setitem(sys.modules, "learnkit.course.lessons.s01.repairs", repairs)
    assert str(lab.repaired("path_in")) == "✓ It is there."
    agent.path_in = None
    assert str(lab.repaired("path_in")) == "not yet: It is missing."
    for name in ("run_call", "path_in", "a_helper"):
        monkeypatch.setattr(sys.modules["__main__"], name, lambda: None, raising=False)
    assert str(lab.repaired("path_in")) == (
        "not yet: It is missing. (run_call is also in the notebook: does its cell begin with "
        "%%agent?)"
    )
    lab._cells = AgentCells("s03", None)
    with pytest.raises(SyntaxError):
        lab._cells.run("", "def path_in(agent, path:\n    return path\n")
    assert "that you ran last has failed" in str(lab.repaired("path_in"))
    lab._cells.run("", "def path_in(agent, path):\n    return path\n")
    assert str(lab.repaired("path_in")) == "✓ It is there."
    with pytest.raises(UsageError, match="no repair 'x'; there are: path_in"):
        lab.repaired("x")
    monkeypatch.delitem(sys.modules, "agent")
    with pytest.raises(UsageError, match="begin with %%agent"):
        lab.repaired("path_in")


def test_a_night_in_an_open_notebook_is_played_by_a_panel(lab: Lab, widgets: list[Any]) -> None:
    lab.static = False
    card = lab.night()
    assert card.live is not None
    card.live()
    assert isinstance(widgets[0], NightPanel)


def test_the_messages_of_an_agent_are_shown_with_the_requests_that_sent_them(lab: Lab) -> None:
    agent = SimpleNamespace(system="Act.", specs=[{"name": "bash"}])
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [{"type": "text", "text": "Gone."}]},
    ]
    assert lab.show(messages).at().requests == ()
    (request,) = lab.show(messages, agent).at().requests
    assert (request.messages, request.tokens) == (1, request.new)

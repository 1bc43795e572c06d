"""The panel of a miss: what each button does, from the cell's text to the files on disk."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

import learnkit as lk
from learnkit.clients.recordings.difference import Change
from learnkit.clients.recordings.replay import Miss
from learnkit.clients.scripted import Reply
from learnkit.course.content import load
from learnkit.course.first_edit.panel import Panel
from learnkit.course.jupyter.edited_cells import Ran
from learnkit.course.lab import Lab

RECORDED = [
    lk.use("bash", command="echo hello > hello.txt && cat hello.txt"),
    lk.say("hello.txt is there."),
]
#: What the learner ran; in the lesson the prompt was another one.
CELL = """
seen.append("begin")
with lab.scenario("hello") as run:
    places.append(run.workspace)
    agent = run.agent([lk.CodingTools(run.workspace)])
    outcome = agent.run("{prompt}")
    made = sorted(path.name for path in run.workspace.glob("*.txt"))
"""
#: A loop of the learner's own, which forgets the results of calls.
OWN = """
with lab.scenario("hello") as run:
    messages = [{"role": "user", "content": "Create bye.txt."}]
    for _ in range(2):
        reply = run.client.messages.create(
            model=run.client.model, max_tokens=99, messages=messages, tools=TOOLS
        )
        messages.append({"role": "assistant", "content": reply.content})
        messages.append({"role": "user", "content": "Go on."})
"""
FIRST = "Create hello.txt with hello in it."


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setenv("LEARNKIT_PACE", "0")
    client = lk.connect(
        "record", recording=tmp_path / "s01.yaml", scenario="hello", upstream=RECORDED
    )
    maker = Lab(load("s01"), "replay", tmp_path / "s01.yaml", static=False)
    with maker.scenario("hello", script=RECORDED) as run:  # the same workspace as in the tests
        agent = lk.Agent(client, [lk.CodingTools(run.workspace)])
        agent.run(FIRST)
    yield maker
    maker.remove()


@pytest.fixture
def shell(lab: Lab) -> Iterator[InteractiveShell]:
    main = sys.modules["__main__"]
    made = InteractiveShell()  # which puts a module of its own in its place
    made.user_ns.update(lab=lab, lk=lk, seen=[], places=[])
    yield made
    made.reset()
    made.history_manager.end_session()
    sys.modules["__main__"] = main


def missed(shell: InteractiveShell, text: str) -> Miss:
    """What the cell raised when it ran for the first time."""
    caught: list[Any] = []
    shell.set_custom_exc((Exception,), lambda _, kind, error, *more, **rest: caught.append(error))
    shell.run_cell(text, store_history=False)
    (miss,) = caught
    assert isinstance(miss, Miss)
    return miss


def panel_of(shell: InteractiveShell, text: str, **more: Any) -> Panel:
    given = {"team": False, "edited": [], **more}
    return Panel(missed(shell, text), "c1", text, shell=shell, **given)


def screen(panel: Panel) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = []
    panel.send = lambda message: states.append(message["state"])  # type: ignore[assignment]
    return states


BYE = CELL.format(prompt="Create bye.txt with bye in it.")


def test_a_miss_ends_the_scenario_and_leaves_nothing_behind(
    shell: InteractiveShell, no_thread_is_left: None
) -> None:
    panel = panel_of(shell, BYE)
    (place,) = shell.user_ns["places"]
    assert not place.exists(), "no workspace waits for a button"
    state = panel.state()
    assert state["title"] == "No recorded reply fits this request, because it changes your prompt."
    ((change),) = state["changes"]
    assert ["gone", " hello"] in change["pieces"]
    assert ["new", " bye"] in change["pieces"]
    assert state["phase"] == "", "nothing starts unasked"
    assert shell.user_ns["seen"] == ["begin"]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """The requests that a model on this machine has answered; it does what the prompt says."""
    requests: list[dict[str, Any]] = []

    def model(request: dict[str, Any]) -> Reply:
        requests.append(request)
        if "tool_result" in str(request["messages"][-1]):
            return lk.say("Written.")
        name, text = re.findall(r"Create (\S+) with (\S+) in it", str(request["messages"]))[-1]
        return lk.use("bash", command=f"echo {text} > {name}")

    with lk.MessagesServer(model) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield requests


def test_a_model_that_answers_here_is_asked_with_the_edited_prompt(
    served: list[dict[str, Any]], shell: InteractiveShell
) -> None:
    panel = panel_of(shell, BYE)
    assert panel.state()["server"].endswith(", on this machine")
    states = screen(panel)
    panel.act({"server": True})
    assert shell.user_ns["made"] == ["bye.txt", "requirements.txt"]
    assert shell.user_ns["outcome"].text == "Written."
    assert [one["phase"] for one in states] == ["runs", "ran"]
    assert states[-1]["note"].endswith("on this machine answered 2 requests.")
    assert len(served) == 2


def test_without_a_model_nobody_is_asked(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://models.example")
    panel = panel_of(shell, BYE)
    assert panel.state()["server"] == ""
    with pytest.raises(lk.UsageError, match="set ANTHROPIC_BASE_URL or ANTHROPIC_API_KEY"):
        panel.act({"server": True})
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-none")
    assert panel_of(shell, BYE).state()["server"].endswith("with your key: it costs tokens")


@pytest.mark.slow
def test_a_server_that_refuses_is_told_in_a_sentence(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lk.MessagesServer([lk.fail(400, "no such model")]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        panel = panel_of(shell, BYE)
        panel.act({"server": True})
    assert "answered 0 requests. Then the cell stopped: " in panel.state()["note"]
    assert "no such model" in panel.state()["note"]


@pytest.mark.slow
def test_the_model_s_place_runs_the_cell_again_for_each_reply(shell: InteractiveShell) -> None:
    panel = panel_of(shell, BYE)
    panel.act({"model": True})
    seat = panel.seat
    assert seat is not None
    state = seat.state()
    assert (state["phase"], state["ask"]) == ("yours", 1)
    assert "Create bye.txt" in str(state["frame"])
    assert "bash" in [tool["name"] for tool in state["tools"]]
    values = {"command": "echo mine > mine.txt"}
    seat.act({"ask": 1, "reply": [{"tool": "bash", "values": values}]})
    assert (seat.phase, seat.state()["ask"]) == ("yours", 2)
    seat.act({"ask": 2, "reply": [{"text": "It is there."}]})
    assert seat.phase == "ended"
    assert shell.user_ns["made"] == ["mine.txt", "requirements.txt"]
    assert shell.user_ns["outcome"].text == "It is there."
    assert len(set(shell.user_ns["places"])) == 4, "each run has a fresh workspace"
    assert not any(place.exists() for place in shell.user_ns["places"])


@pytest.mark.slow
def test_a_refused_reply_is_taken_back(shell: InteractiveShell) -> None:
    shell.user_ns["TOOLS"] = [lk.Toolbox(lk.CodingTools(Path()).bash).tools[0].spec()]
    panel = panel_of(shell, OWN)
    panel.be_the_model()
    seat = panel.seat
    assert seat is not None
    told: list[dict[str, Any]] = []
    seat.tell = told.append
    seat.act({"ask": 1, "reply": [{"tool": "bash", "values": {"command": "ls"}}]})
    assert seat.phase == "refused"
    assert "400" in str(seat.state()["frame"])
    assert "tool_result" in str(seat.state()["frame"])
    assert seat.state()["undo"]
    seat.act({"back": True})
    assert (seat.phase, seat.replies) == ("yours", [])
    seat.act({"back": True})
    assert told[-1] == {"problem": "there is no reply to take back"}
    seat.act({"ask": 1, "reply": [{"text": "late"}]})
    assert "earlier request" in told[-1]["problem"]
    seat.act({"stop": True})
    assert seat.phase == "left"


TEAM = """
with lab.scenario("hello") as run, lk.Team(run.workspace / ".team", lambda *_: []) as team:
    view = lk.views.Traffic(run.events)
    outcome = run.agent([team]).run("Start alice and bob.")
    late.append("after the run")
"""


def test_a_teammate_that_waits_for_your_reply_has_not_failed(shell: InteractiveShell) -> None:
    shell.user_ns["late"] = []
    panel = panel_of(shell, TEAM, team=True)
    panel.be_the_model()
    seat = panel.seat
    assert seat is not None
    given = {"name": "alice", "role": "coder", "prompt": "Begin."}
    seat.act({"ask": 1, "reply": [{"tool": "spawn_teammate", "values": given}]})
    said = {}
    for ask in (2, 3):  # the lead and alice ask at the same moment
        said[seat.lane] = str(shell.user_ns["view"])
        if seat.lane == "alice":
            break
        seat.act({"ask": ask, "reply": [{"text": "I wait for her."}]})
    assert seat.phase == "yours"
    assert said["alice"] == (
        "inbox traffic: alice waits for your reply. No message has been sent yet."
    )
    assert "shuts down" not in shell.user_ns["view"].html()
    assert shell.user_ns["late"] == [], "the lead stops as well"
    events = shell.user_ns["run"].events
    paused = [event.data["waits"] for event in events if event.type == "model.paused"]
    assert paused[0] == "alice"
    assert not [event for event in events if event.type in ("mail.sent", "model.failed")]
    assert "shutdown" not in {event.data.get("status") for event in events}
    seat.act({"ask": ask, "reply": [{"text": "I have begun."}]})
    assert "alice writes to lead" in str(shell.user_ns["view"])


@pytest.mark.slow
def test_one_agent_s_miss_ends_the_run_of_all(shell: InteractiveShell, lab: Lab) -> None:
    text = """
with lab.scenario("hello") as run:
    def ask(name, prompt):
        try:
            run.agent([lk.CodingTools(run.workspace)], name=name).run(prompt)
        except Exception as error:
            seen.append(type(error).__name__)
    ask("alice", "Not recorded.")
    ask("lead", "Create hello.txt with hello in it.")
"""
    miss = missed(shell, text)
    assert miss.lane == "alice", "the first one is shown, although the cell swallowed it"
    assert shell.user_ns["seen"] == ["Miss", "Miss"]


# Undo


def info(id: str, text: str, history: bool = True) -> ExecutionInfo:
    return ExecutionInfo(text, history, False, True, id, {})


def test_the_cell_that_may_have_caused_the_change_is_offered() -> None:
    ran = Ran()
    originals = {"a": "SYSTEM = 'Be brief.'", "b": "run(SYSTEM)", "c": "stub()", "d": "never run"}
    for id, text in (("a", "SYSTEM = 'Be verbose.'"), ("c", "mine = 1"), ("b", "run(SYSTEM)")):
        ran.note(info(id, text))
    assert (ran.id, ran.text) == ("b", "run(SYSTEM)")
    change = Change("the system prompt", (("same", "Be "), ("gone", "brief"), ("new", "verbose")))
    (one,) = ran.edited(originals, [change])
    assert (one.id, one.was, one.now) == ("a", originals["a"], "SYSTEM = 'Be verbose.'")
    assert one.lines() == [("gone", originals["a"]), ("new", one.now)]


def test_a_cell_with_no_word_but_those_of_a_likelier_one_is_not_offered() -> None:
    ran = Ran()
    originals = {"prompt": "say('Count lines')", "answer": "...", "tools": "tools = []"}
    for id, text in (
        ("answer", "def solved(lines, stations): ..."),
        ("tools", "tools = ['deploy']"),
        ("prompt", "say('Count stations')"),
    ):
        ran.note(info(id, text))
    prompt = Change("message 1", (("gone", "lines"), ("new", "stations")))
    tools = Change("the tools", (("new", "deploy"),))
    assert [one.id for one in ran.edited(originals, [prompt])] == ["prompt"]
    assert [one.id for one in ran.edited(originals, [prompt, tools])] == ["prompt", "tools"]


# The way from the page


def test_each_try_shows_its_output_in_place_of_the_one_before(shell: InteractiveShell) -> None:
    panel = panel_of(shell, BYE)
    below, shown = panel.box.children[1], []
    for _ in range(2):
        panel.be_the_model()
        shown.append(below.children)
    assert [len(one) for one in shown] == [2, 2]
    assert shown[0][1] is not shown[1][1]

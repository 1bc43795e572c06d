"""Carrying on after an edit: the recorded calls are made, whatever is asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.clients.recordings.recording import Recording
from learnkit.clients.recordings.replay import Miss
from learnkit.course.lab import Lab
from learnkit.course.lessons import load

RECORDINGS = Path(__file__).parents[2] / "notebooks" / "recordings"


def record(path: Path, workspace: Path, prompt: str) -> list[dict]:
    script = [
        lk.reply(lk.use("write_file", path="a.txt", content="1"), lk.use("bash", command="ls")),
        lk.use("bash", command="ls"),
        lk.use("read_file", path="a.txt"),
        lk.say("a.txt holds 1."),
    ]
    client = lk.connect("record", recording=path, scenario="s", upstream=script)
    agent = lk.Agent(client, [lk.CodingTools(workspace)])
    agent.run(prompt)
    return agent.messages


def test_after_an_edit_the_recorded_calls_really_run(tmp_path: Path) -> None:
    record(tmp_path / "s.yaml", tmp_path / "one", "Write a file.")
    replayed = lk.Agent(
        lk.connect(recording=tmp_path / "s.yaml"), [lk.CodingTools(tmp_path / "miss")]
    )
    with pytest.raises(Miss, match="mechanical"):
        replayed.run("Please write a file.")
    client = lk.scripted(lk.models.following(tmp_path / "s.yaml"))
    agent = lk.Agent(client, [lk.CodingTools(tmp_path / "two")])
    outcome = agent.run("Please write a file.")
    assert outcome.text == "a.txt holds 1."
    assert (tmp_path / "two" / "a.txt").read_text() == "1"
    names = [e.data["name"] for e in agent.events if e.type == "tool.started"]
    assert names == ["write_file", "bash", "read_file"]


def test_a_conversation_goes_on_after_its_end(tmp_path: Path) -> None:
    record(tmp_path / "s.yaml", tmp_path / "one", "Write a file.")
    agent = lk.Agent(
        lk.scripted(lk.models.following(tmp_path / "s.yaml")), [lk.CodingTools(tmp_path / "two")]
    )
    agent.run("a")
    assert agent.run("b").text == "a.txt holds 1."


def test_a_scenario_that_is_not_there_is_refused(tmp_path: Path) -> None:
    record(tmp_path / "s.yaml", tmp_path / "one", "Write a file.")
    with pytest.raises(lk.UsageError, match="no scenario 't'; it has: s"):
        lk.models.following(tmp_path / "s.yaml", "t")
    Recording().save(tmp_path / "empty.yaml")
    with pytest.raises(lk.UsageError, match="none"):
        lk.models.following(tmp_path / "empty.yaml")


def test_the_lab_offers_it_for_its_own_recording(tmp_path: Path) -> None:
    shutil.copy(RECORDINGS / "s01.yaml", tmp_path / "s01.yaml")
    lab = Lab(load("s01"), "replay", tmp_path / "s01.yaml", static=True)
    scenario = Recording.load(tmp_path / "s01.yaml").scenarios[0]
    with lab.scenario(scenario, script=lab.mechanical(scenario)) as run:
        agent = run.agent([lk.CodingTools(run.workspace)])
        assert agent.run("Something that nobody has recorded.").reason == "end_turn"
    lab.close()

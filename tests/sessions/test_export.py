"""A log as ATIF: valid by the schema, readable by others, and nothing lost when opened again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from claude_lines import Lines, text, use
from hypothesis import HealthCheck, given, settings
from random_events import logs
from sessions_read import contents, typed

import learnkit as lk
from learnkit.events import loop
from learnkit.events.log import LANE
from learnkit.events.sessions import SessionOpened
from learnkit.sessions.export import to_atif

VIEWS = ("Messages", "Tokens", "Contexts", "Dispatch", "Timeline", "Compaction")


def pictures(log: lk.EventLog) -> dict[str, Any]:
    """What each view shows of a log, and says of it."""
    return {name: getattr(lk.views, name)(log)._repr_mimebundle_() for name in VIEWS}


def again(made: dict[str, Any], folder: Path) -> lk.EventLog:
    """The log of a trajectory that was written to a file and is opened."""
    path = folder / "trajectory.json"
    path.write_text(json.dumps(made), "utf-8")
    return lk.open_session(path)


def without_extra(made: Any) -> Any:
    """A trajectory as a program writes it that knows nothing of learnkit."""
    if isinstance(made, list):
        return [without_extra(one) for one in made]
    if not isinstance(made, dict):
        return made
    named = {"name": "other"} if made.get("name") == "learnkit" else {}
    return {k: without_extra(v) for k, v in made.items() if k != "extra"} | named


def is_summary(one: object) -> bool:
    """Whether it is the reply to a request for a summary, which is no turn of the conversation."""
    return isinstance(one, loop.ModelReplied) and one.purpose == "summary"


@pytest.fixture
def run(tmp_path: Path) -> lk.EventLog:
    """A run with two subagents at once, a summary, an error, a refusal and thinking."""

    @lk.tool
    def look(at: str) -> str:
        """Look."""
        if at == "c":
            raise lk.ToolError("there is no c")
        return at * 900

    def thinks(*blocks: Any) -> Any:
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        return lk.reply(thought, *blocks)

    def task(what: str) -> Any:
        return lk.use("task", prompt=f"Look at {what}", description=what)

    lead = [
        thinks(lk.use("look", at="a"), lk.use("look", at="c"), lk.use("nothing")),
        lk.reply(task("x"), task("y")),
        lk.reply(lk.use("look", at="b"), lk.use("compact")),
        lk.say("A summary of it"),
        lk.say("Done."),
        lk.say("Again."),
    ]
    child = [lk.use("look", at="d"), lk.say("Seen.")]
    scripts = {"lead": lead}

    def answer(request: Any) -> Any:
        return scripts.setdefault(LANE.get(), list(child)).pop(0)

    client = lk.scripted(answer, clock=lk.VirtualClock())
    tools = [lk.Toolbox(look), lk.Subagents(lambda: [lk.Toolbox(look)])]
    agent = lk.Agent(
        client, [*tools, lk.Compaction(1_000, transcripts=tmp_path)], system="Be brief."
    )
    agent.run("Look around")
    agent.run("Once more")
    return agent.events


def test_the_pictures_of_a_run_are_those_of_its_export(tmp_path: Path, run: lk.EventLog) -> None:
    happened = {event.type for event in run}
    assert happened >= {"subagent.ended", "compaction.cleared", "compaction.summarised"}
    made = to_atif(run)
    log = again(made, tmp_path)
    assert [event[1:] for event in log[1:]] == [event[1:] for event in run]
    assert pictures(log) == pictures(run)


def test_an_export_is_valid_and_says_all_to_other_programs(
    tmp_path: Path, run: lk.EventLog
) -> None:
    made = to_atif(run)
    assert made["schema_version"] == "ATIF-v1.7"
    trajectory = Trajectory.model_validate(made)
    children = trajectory.subagent_trajectories or []
    assert len(children) == 2
    refs = [
        ref.trajectory_id
        for step in trajectory.steps
        for result in (step.observation.results if step.observation else [])
        for ref in result.subagent_trajectory_ref or []
    ]
    assert refs == [child.trajectory_id for child in children]

    log = again(without_extra(made), tmp_path)
    assert {event.lane for event in log} == {event.lane for event in run}
    for lane in {event.lane for event in run}:
        for kind in (loop.ModelReplied, loop.ToolEnded):
            ours = [one for one in typed(run, kind, lane) if not is_summary(one)]
            theirs = typed(log, kind, lane)
            assert len(ours) == len(theirs)
            for one, other in zip(ours, theirs, strict=True):
                if isinstance(one, loop.ModelReplied):
                    assert one.usage.sent == other.usage.sent
                else:
                    assert (one.id, one.name, one.output) == (other.id, other.name, other.output)


def test_a_session_of_another_agent_comes_out_the_same_way(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    lines.reply("m1", use("t1"), text("So"))
    lines.result("t1", "half a pair: \ud800")
    lines.reply("m2", text("Done."), stop="end_turn")
    lines.user("And then?")
    log = lk.open_session(lines.write(tmp_path / "s.jsonl"))
    made = to_atif(log)
    Trajectory.model_validate_json(json.dumps(made))
    assert made["session_id"] == "s"
    assert [step["source"] for step in made["steps"]] == ["user", "agent", "agent", "user"]
    assert made["steps"][1]["timestamp"] == "2026-11-01T00:00:01+00:00"
    assert made["steps"][1]["metrics"]["prompt_tokens"] == 120
    back = again(made, tmp_path)
    assert contents(back)[3] == [text("Done.")]
    assert len(typed(back, SessionOpened)) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logs())
def test_any_log_is_a_valid_trajectory_and_comes_back(tmp_path: Path, log: lk.EventLog) -> None:
    made = to_atif(log)
    Trajectory.model_validate_json(json.dumps(made))
    back = again(made, tmp_path)[1:]
    assert [(one.time, one.lane, one.type) for one in back] == [
        (one.time, one.lane, one.type) for one in log if one.type != "session.opened"
    ]

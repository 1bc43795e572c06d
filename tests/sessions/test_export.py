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
from learnkit.events.log import LANE
from learnkit.events.loop import ModelReplied, ToolEnded
from learnkit.sessions.export import to_atif

EMPTY: dict[str, list[Any]] = {"results": []}
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


@pytest.fixture
def run(tmp_path: Path) -> lk.EventLog:
    """A run with two subagents at once, a summary, an error, a refusal and thinking."""

    @lk.tool
    def look(at: str) -> str:
        """Look."""
        if at == "c":
            raise lk.ToolError("there is no c")
        return at * 900

    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    tasks = [lk.use("task", prompt=f"Look at {one}", description=one) for one in "xy"]
    lead = [
        lk.reply(thought, lk.use("look", at="a"), lk.use("look", at="c"), lk.use("nothing")),
        lk.reply(*tasks),
        lk.reply(lk.use("look", at="b"), lk.use("compact")),
        *map(lk.say, ("A summary of it", "Done.", "Again.")),
    ]
    scripts = {"lead": lead}

    def answer(request: Any) -> Any:
        child = [lk.use("look", at="d"), lk.say("Seen.")]
        return scripts.setdefault(LANE.get(), child).pop(0)

    client = lk.scripted(answer, clock=lk.VirtualClock())
    tools = [lk.Toolbox(look), lk.Subagents(lambda: [lk.Toolbox(look)])]
    tools.append(lk.Compaction(1_000, transcripts=tmp_path))
    agent = lk.Agent(client, tools, system="Be brief.")
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
    children = Trajectory.model_validate(made).subagent_trajectories or []
    calls = [one for step in made["steps"] for one in step.get("observation", EMPTY)["results"]]
    refs = [one["subagent_trajectory_ref"] for one in calls if "subagent_trajectory_ref" in one]
    assert refs == [[{"trajectory_id": child.trajectory_id}] for child in children]
    assert len(children) == 2

    log = again(without_extra(made), tmp_path)
    for lane in {event.lane for event in run}:
        replies = [one for one in typed(run, ModelReplied, lane) if one.purpose != "summary"]
        sent = [one.usage.sent for one in typed(log, ModelReplied, lane)]
        assert sent == [one.usage.sent for one in replies]
        ends, ours = (
            [(one.id, one.name, one.output) for one in typed(events, ToolEnded, lane)]
            for events in (log, run)
        )
        assert ends == ours


def test_a_session_of_another_agent_comes_out_the_same_way(tmp_path: Path) -> None:
    lines = Lines()
    lines.user("Look")
    lines.reply("m1", use("t1"), text("So"))
    lines.result("t1", "half a pair: \ud800")
    lines.reply("m2", text("Done."), stop="end_turn")
    lines.user("And then?")
    made = to_atif(lk.open_session(lines.write(tmp_path / "s.jsonl")))
    assert made["session_id"] == "s"
    assert [step["source"] for step in made["steps"]] == ["user", "agent", "agent", "user"]
    assert made["steps"][1]["timestamp"] == "2026-11-01T00:00:01+00:00"
    assert made["steps"][1]["metrics"]["prompt_tokens"] == 120
    assert contents(again(made, tmp_path))[3:] == [[text("Done.")], "And then?"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logs())
def test_any_log_is_a_valid_trajectory_and_comes_back(tmp_path: Path, log: lk.EventLog) -> None:
    made = to_atif(log)
    Trajectory.model_validate_json(json.dumps(made))
    back = again(made, tmp_path)[1:]
    assert [(one.time, one.lane, one.type) for one in back] == [
        (one.time, one.lane, one.type) for one in log if one.type != "session.opened"
    ]

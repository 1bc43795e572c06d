"""An agent is a context manager, and a script that forgets to close a team ends all the same."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from processes import processes
from teams import say, spawn, when

import learnkit as lk

pytestmark = pytest.mark.usefixtures("no_thread_is_left")


class Closing(lk.Mechanism):
    """Notes when it is closed."""

    def __init__(self, closed: list[str], name: str, error: BaseException | None = None) -> None:
        self._closed, self._name, self._error = closed, name, error

    def close(self, agent: lk.Agent) -> None:
        self._closed.append(f"{self._name} of {agent.name}")
        if self._error is not None:
            raise self._error


def test_all_its_mechanisms_are_closed_the_last_one_first_though_one_fails() -> None:
    closed: list[str] = []
    made = [Closing(closed, "a"), Closing(closed, "b", OSError("full")), Closing(closed, "c")]
    full = pytest.raises(OSError, match="full")
    with full, lk.Agent(lk.scripted(say("x")), made) as agent:
        agent.run("Go.")
        assert closed == []
    assert closed == ["c of lead", "b of lead", "a of lead"]


@pytest.mark.slow
@pytest.mark.parametrize("clock", [lk.VirtualClock, lk.SystemClock])
def test_the_end_of_a_lead_ends_its_teammates_and_their_jobs(tmp_path: Path, clock: Any) -> None:
    sleep = lk.use("background_run", command="sleep 300")
    lanes = {
        "lead": when(("Go.", lk.reply(spawn("alice"), latency=0.0))),
        "alice": [lk.reply(sleep, latency=0.0), lk.say("waits", latency=0.0)],
    }
    team = lk.Team(tmp_path / ".team", lambda *_: [lk.Background(workspace=tmp_path)], wait=False)
    with lk.Agent(lk.scripted(lanes, clock=clock()), [team]) as lead:
        lead.run("Go.")
        ended = lead.clock.signal("the job")
        lead.events.subscribe(lambda event: event.type == "job.started" and ended.set())
        if not [event for event in lead.events if event.type == "job.started"]:
            lead.clock.wait(ended, timeout=60)
    assert [one.status for one in team.members] == ["shutdown"]
    (job,) = [event.data for event in lead.events if event.type == "job.ended"]
    assert job["status"] == "stopped"
    lead.close()  # twice does no harm


def test_the_mechanisms_of_a_teammate_are_closed_when_it_ends(tmp_path: Path) -> None:
    closed: list[str] = []
    lanes = {"lead": when(("Go.", spawn("alice"))), "alice": say("done")}
    team = lk.Team(tmp_path / ".team", lambda name, role: [Closing(closed, role)])
    lead = lk.Agent(lk.scripted(lanes), [team])
    with team:
        lead.run("Go.")
        assert closed == []  # it is idle, and may be woken
    assert closed == ["coder of alice"]


FORGETS = """
import sys
from pathlib import Path
import learnkit as lk

folder, mark, end = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def job(n):
    return lk.use("background_run", command=f"trap '' TERM; sleep {mark}.{n} & sleep {mark}.{n}")

def lead(request):
    if len(request["messages"]) == 1:
        return lk.reply(
            lk.use("spawn_teammate", name="alice", role="coder", prompt="Begin."),
            lk.use("spawn_teammate", name="bob", role="coder", prompt="Begin."),
            job(1),
            latency=0.0,
        )
    if len(request["messages"]) == 3:
        return lk.use("pause")
    return lk.say("That is all.", latency=0.0)

@lk.tool
def pause(agent: lk.Agent) -> str:
    "Wait until both jobs run."
    while sum(event.type == "job.started" for event in agent.events) < 2:
        agent.clock.sleep(0.01)
    return "they run"

lanes = {
    "lead": lead,
    "alice": lambda request: lk.say("ready", latency=0.0),
    "bob": lambda request: job(2) if len(request["messages"]) == 1 else lk.say("waits"),
}
client = lk.scripted(lanes, clock=lk.SystemClock())
team = lk.Team(folder / ".team", lambda *_: [lk.Background(workspace=folder)], wait=False)
background = lk.Background(workspace=folder)
agent = lk.Agent(client, [team, background, lk.Toolbox(pause)], max_turns=2)
print(agent.run("Go.").reason, flush=True)
if end == "error":
    raise RuntimeError("the script has a fault")
if end == "exit":
    sys.exit(3)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("end", "code"), [("", 0), ("error", 1), ("exit", 3)])
def test_a_script_that_forgets_its_team_ends_and_leaves_no_process(
    tmp_path: Path, end: str, code: int
) -> None:
    """An idle teammate, one with a job, and a job of the lead's; the commands ignore SIGTERM."""
    mark = f"4{os.getpid()}"
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(FORGETS), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script), str(tmp_path), mark, end]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "turn_limit\n"
        began = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        took = time.monotonic() - began
    finally:
        process.kill()
    _, errors = process.communicate()
    assert process.returncode == code, errors
    assert took < 30
    assert processes(f"sleep {mark}.") == []
    assert "Fatal" not in errors

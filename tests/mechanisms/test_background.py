"""Background: results come once, nothing outlives the agent; on both clocks."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logged import events, outputs
from processes import gone, processes
from profiles import examples
from repos import begun

import learnkit as lk
from learnkit.mechanisms.background import DELIVERED, KEPT
from learnkit.runtime.job_wrappers import counted, slept

pytestmark = pytest.mark.usefixtures("no_thread_is_left")

CLOCKS: list[Callable[[], Any]] = [lk.VirtualClock, lk.SystemClock]


@lk.tool
def work() -> str:
    """Something else."""
    return "worked"


def run(command: str) -> Any:
    return lk.use("background_run", command=command)


def agent_of(
    folder: Path, *script: Any, clock: Any = None, latency: float = 0.0, **options: Any
) -> lk.Agent:
    steps = [_after(latency, step) for step in script]
    client = lk.scripted(steps, clock=clock or lk.VirtualClock())
    options.setdefault("workspace", folder)
    return lk.Agent(client, [lk.Background(**options), lk.Toolbox(work)])


def _after(latency: float, step: Any) -> Any:
    """A step of a script whose reply takes so many seconds."""
    if callable(step):
        return lambda request: replace(step(request), latency=latency)
    return replace(step, latency=latency)


def texts(agent: lk.Agent) -> list[str]:
    """What was put into user messages besides results."""
    found = []
    for message in agent.messages[1:]:
        if message["role"] == "user":
            blocks = message["content"]
            found += (
                [blocks]
                if isinstance(blocks, str)
                else [b["text"] for b in blocks if b["type"] == "text"]
            )
    return found


def jobs(agent: lk.Agent) -> list[dict[str, Any]]:
    return events(agent, "job.ended")


# Delivery


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_result_comes_with_the_next_results_once(tmp_path: Path, clock: Any) -> None:
    def wait(request: Any) -> Any:
        while any(job.status == "running" for job in background.jobs):
            agent.clock.sleep(0.05)  # the model thinks
        return lk.use("work")

    script = [run("echo done"), wait, lk.use("work"), lk.say("end")]
    agent = agent_of(tmp_path, *script, clock=clock())
    (background,) = [one for one in agent.mechanisms if isinstance(one, lk.Background)]
    assert agent.run("go").turns == 4
    (told,) = texts(agent)
    assert re.fullmatch(
        r"<background-results>\n\[\w{8}\] completed after \d+\.\d s: echo done\ndone\n"
        r"</background-results>",
        told,
    )
    # After the results of the wait, or of the start where the job was that fast.
    assert told in [message["content"][-1].get("text") for message in agent.messages[2:5:2]]
    (delivered,) = events(agent, "job.delivered")
    assert delivered["by"] == "results"


@pytest.mark.parametrize("clock", CLOCKS)
def test_after_the_stop_a_pending_result_takes_another_turn(tmp_path: Path, clock: Any) -> None:
    agent = agent_of(tmp_path, run("sleep 1; echo late"), lk.say("?"), lk.say("!"), clock=clock())
    outcome = agent.run("go")
    assert (outcome.text, outcome.turns) == ("!", 3)
    assert len(texts(agent)) == 1
    assert "late" in texts(agent)[0]
    assert [m["role"] for m in agent.messages] == ["user", "assistant"] * 3


def test_three_sleeps_take_as_long_as_the_longest(tmp_path: Path) -> None:
    start = lk.reply(*(run(f"sleep {n}; echo {n}") for n in (3, 1, 2)))
    agent = agent_of(tmp_path, start, *[lk.say("waiting")] * 4)
    agent.run("go")
    assert agent.clock.time() == 3
    assert [re.findall(r"^\d$", text, re.M) for text in texts(agent)] == [["1"], ["2"], ["3"]]
    assert [data["seconds"] for data in jobs(agent)] == [1, 2, 3]


sleeps = st.lists(st.integers(0, 6), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(sleeps, st.lists(st.sampled_from(["work", "check", "think"]), max_size=6), st.integers(0, 9))
def test_each_result_is_delivered_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], acts: list[str], seed: int
) -> None:
    turns = iter([[f"sleep {n}; echo job-{i}" for i, n in enumerate(times)], *acts])

    def model(request: Any) -> Any:
        act = next(turns, None)
        if isinstance(act, list):
            return lk.reply(*map(run, act))
        if act == "think":
            agent.clock.sleep(2)
        if act is None:
            return lk.say("done")
        return lk.use("check_background") if act == "check" else lk.use("work")

    client = lk.scripted(model, clock=lk.VirtualClock(seed=seed))
    background = lk.Background(workspace=tmp_path_factory.mktemp("ws"))
    agent = lk.Agent(client, [background, lk.Toolbox(work)])
    assert agent.run("go").reason == "end_turn"
    told = [id for e in agent.events if e.type == "job.delivered" for id in e.data["ids"]]
    assert sorted(told) == sorted(job.id for job in background.jobs)
    assert len(set(told)) == len(times)
    injected = "\n".join(texts(agent))
    for i in range(len(times)):
        assert injected.count(f"\njob-{i}\n") <= 1


@pytest.mark.slow
def test_on_the_virtual_clock_the_same_run_is_the_same_to_the_byte(tmp_path: Path) -> None:
    def log() -> list[Any]:
        start = lk.reply(*(run(f"sleep {n}; seq {n}") for n in (2, 2, 1, 3)))
        script = [start, lk.use("work"), run("sleep 1; exit 4"), *[lk.say("waiting")] * 5]
        return list(agent_ran(agent_of(tmp_path, *script, latency=0.5)).events)

    first = log()
    assert sum(event.type == "job.ended" for event in first) == 5
    for _ in range(10):
        assert log() == first


def agent_ran(agent: lk.Agent) -> lk.Agent:
    agent.run("go")
    return agent


def test_a_result_that_was_looked_at_is_not_told_again(tmp_path: Path) -> None:
    def check(request: Any) -> Any:
        agent.clock.sleep(1)
        return lk.use("check_background", task_id="00000001")

    start = lk.reply(run("sleep .5; echo done"), run("sleep .5; echo other"))
    agent = agent_of(tmp_path, start, check, lk.say("?"), lk.say("!"))
    agent.run("go")
    assert outputs(agent)[2] == "[00000001] completed after 0.5 s: sleep .5; echo done\ndone"
    told = "[00000002] completed after 0.5 s: sleep .5; echo other\nother"
    assert texts(agent) == [f"<background-results>\n{told}\n</background-results>"]


def test_looking_at_jobs(tmp_path: Path) -> None:
    agent = agent_of(
        tmp_path,
        lk.use("check_background"),
        lk.reply(run("sleep 5; echo a"), run("exit 3")),
        lk.use("check_background"),
        lk.use("check_background", task_id="nope"),
        *[lk.say("end")] * 3,
        latency=1.0,
    )
    agent.run("go")
    none, _, _, all, unknown = outputs(agent)
    assert none == "No command has been started in the background."
    assert all == (
        "[00000001] running: sleep 5; echo a\n\n"
        "[00000002] failed (exit code 3) after 0.0 s: exit 3\n(no output)"
    )
    assert unknown == "there is no job 'nope'; the latest jobs are: 00000001, 00000002"


# Statuses


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize(
    ("command", "status", "code"),
    [
        ("true", "completed", 0),
        ("exit 7", "failed", 7),
        ("kill -KILL $$", "failed", 137),
        ("sleep 100", "timeout", None),
        ("while true; do sleep 0.05; done", "timeout", None),
        ("(while true; do sleep 0.05; done)", "timeout", None),
    ],
)
def test_how_a_job_ends(
    tmp_path: Path, clock: Any, command: str, status: str, code: int | None
) -> None:
    limit = 0.5 if status == "timeout" else 60.0  # a busy machine starts no shell in half a second
    agent = agent_of(tmp_path, run(command), lk.say("?"), lk.say("!"), clock=clock(), limit=limit)
    agent.run("go")
    (job,) = jobs(agent)
    assert (job["status"], job["code"]) == (status, code)
    assert f"] {status}" in texts(agent)[0]


def test_not_too_many_at_a_time(tmp_path: Path) -> None:
    start = lk.reply(*(run("sleep 1") for _ in range(3)))
    agent = agent_of(tmp_path, start, lk.say("ok"), run("echo -n now"), *[lk.say("ok")] * 3, most=2)
    agent.run("go")
    assert (
        outputs(agent)[2] == "2 jobs are already running, which is the limit; wait for one to end"
    )
    assert [job["output"] for job in jobs(agent)] == ["", "", "now"]


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": float("nan")}, {"most": 0}])
def test_bad_arguments(tmp_path: Path, bad: dict[str, Any]) -> None:
    with pytest.raises(lk.UsageError):
        lk.Background(workspace=tmp_path, **bad)


# Output


@pytest.mark.parametrize("clock", CLOCKS)
def test_what_is_told_is_short_and_the_rest_can_be_looked_at(tmp_path: Path, clock: Any) -> None:
    agent = agent_of(tmp_path, run("seq 2000; echo err >&2"), *[lk.say("ok")] * 2, clock=clock())
    agent.run("go")
    (told,) = texts(agent)
    assert "characters left out" in told
    assert told.split("\n", 2)[2].startswith("1\n2\n")
    assert told.endswith("2000\nerr\n</background-results>")
    assert len(told) < DELIVERED + 150
    background: Any = agent.mechanisms[0]
    (job,) = background.jobs
    assert job.output == "".join(f"{n}\n" for n in range(1, 2001)) + "err\n"


@pytest.mark.slow
def test_only_the_newest_outputs_are_kept(tmp_path: Path) -> None:
    many = KEPT + 5
    script = [step for n in range(many) for step in (run(f"echo {n}"), lk.use("work"))]
    agent = agent_of(tmp_path, *script, lk.say("end"), latency=0.1)
    agent.max_turns = 200
    agent.run("go")
    kept = [job.output.strip() for job in agent.mechanisms[0].jobs]  # type: ignore[attr-defined]
    assert kept == [str(n) for n in range(many - KEPT, many)]
    assert len(jobs(agent)) == many


# The end


def soon_after_the_start(agent: lk.Agent, act: Callable[[], object]) -> threading.Timer:
    """Act in another thread, a moment after the agent's first job has started."""
    timer = threading.Timer(0.2, act)
    started = iter([timer.start])
    agent.events.subscribe(lambda e: e.type == "job.started" and next(started, bool)())
    return timer


def test_a_stopped_agent_takes_its_jobs_with_it(tmp_path: Path) -> None:
    mark = f"8{os.getpid()}17"
    command = f"trap '' TERM; sleep {mark} & (setsid sleep {mark}) & wait"
    agent = agent_of(tmp_path, run(command), lk.say("waiting"), lk.say("?"), clock=lk.SystemClock())
    timer = soon_after_the_start(agent, lambda: agent.stop.set())
    outcome = agent.run("go")
    timer.join()
    assert outcome.reason == "cancelled"
    assert jobs(agent)[0]["status"] == "stopped"
    assert "] stopped after" in texts(agent)[0]  # the next run knows
    assert gone(mark)


@pytest.mark.slow
def test_one_job_can_be_stopped_and_all(tmp_path: Path) -> None:
    mark = f"7{os.getpid()}29"
    background = lk.Background(workspace=tmp_path)

    def stop_first(request: Any) -> Any:
        background.stop(background.jobs[0].id)
        return lk.say("waiting")

    script = [lk.reply(run(f"sleep {mark}"), run(f"sleep {mark}")), stop_first]
    client = lk.scripted(
        [*script, lambda _: background.close() or lk.say("x"), lk.say("y")], clock=lk.SystemClock()
    )
    agent = lk.Agent(client, [background])
    agent.run("go")
    assert [job.status for job in background.jobs] == ["stopped", "stopped"]
    assert gone(mark)
    with pytest.raises(lk.ToolError, match="no job"):
        background.stop("nope")


def test_an_interrupt_ends_jobs_on_the_virtual_clock(tmp_path: Path) -> None:
    agent = agent_of(tmp_path, run("sleep 50"), lk.say("waiting"), clock=lk.VirtualClock(pace=0.1))
    timer = soon_after_the_start(agent, lambda: os.kill(os.getpid(), signal.SIGINT))
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    timer.join()
    assert time.monotonic() - began < 20
    agent.client.clock.close()  # type: ignore[attr-defined]
    assert jobs(agent)[0]["status"] == "stopped"


SCRIPT = """
import sys, learnkit as lk
script = [lk.use("background_run", command=sys.argv[1]), lk.say("waiting")]
client = lk.scripted(script, clock=lk.SystemClock())
agent = lk.Agent(client, [lk.Background(workspace=sys.argv[2])])
agent.events.subscribe(lambda e: e.type == "job.started" and print("started", flush=True))
agent.run("go")
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_job_dies_with_the_process_of_its_agent(tmp_path: Path, how: signal.Signals) -> None:
    mark = f"5{os.getpid()}37"
    command = f"sleep {mark} & sleep {mark}; echo no"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, command, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    while len(processes(f"sleep {mark}")) < 2:
        time.sleep(0.01)
    process.send_signal(how)
    assert gone(f"sleep {mark}", within=30)  # also while nobody has reaped the agent's process
    process.wait(timeout=10)
    process.stdout.close()


FOREGROUND = """
import os, sys, learnkit as lk
command, (folder, name) = os.environ["COMMAND"], sys.argv[1:]
if name == "bash":
    script = [lk.use("bash", command=command)]
    mechanisms = [lk.CodingTools(folder)]
else:
    script = [lk.use("worktree_create", name="w"), lk.use(name, name="w", command=command)]
    mechanisms = [lk.Worktrees(folder)]
lk.Agent(lk.scripted(script, clock=lk.SystemClock()), mechanisms).run("go")
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bash", "worktree_run"])
def test_a_command_dies_with_the_killed_process_of_its_agent(tmp_path: Path, name: str) -> None:
    begun(tmp_path)
    mark = f"6{os.getpid()}41"
    asked = tmp_path / "asked"  # by SIGTERM: git then removes its locks
    command = f"trap 'touch {asked}' TERM; sleep {mark} & sleep {mark}; echo no"
    process = subprocess.Popen(
        [sys.executable, "-c", FOREGROUND, str(tmp_path), name],
        env={**os.environ, "COMMAND": command},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while len(processes(f"sleep {mark}")) < 3:  # bash and both of its children
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        assert gone(f"sleep {mark}", within=30)
        assert asked.exists()
    finally:
        process.kill()
        process.wait()
        for left in processes(f"sleep {mark}"):
            os.kill(left, signal.SIGKILL)


# Counted sleep


def test_a_counted_command_behaves_like_itself(tmp_path: Path) -> None:
    command = "echo \"it's\" $0; false || sh -c 'sleep 2; echo in >&2'; exit 9"
    shell = lk.LocalShell({"TMPDIR": str(tmp_path)})
    result = shell.run(counted(command, 10), tmp_path)
    assert slept(result.output) == ("it's bash\nin\n", 2)
    assert result.code == 9
    late = shell.run(counted("sleep 4; echo on time; sleep 6; echo late", 10), tmp_path)
    assert (slept(late.output), late.code) == (("on time\n", 10), 137)
    assert list(tmp_path.iterdir()) == []
    broken = lk.LocalShell().run(counted("if then", 10), tmp_path)
    assert broken.code == 2
    assert "syntax error" in broken.output

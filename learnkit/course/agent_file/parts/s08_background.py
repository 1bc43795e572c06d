import atexit
import os
import secrets
import signal
import subprocess
import time
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

RUNNING = {}  # id of a job -> its process


@hook("start")
def no_jobs(agent: Agent) -> None:
    agent.jobs, agent.undelivered, agent.ended = {}, set(), SimpleQueue()


@tool("write")
def background_run(agent: Agent, command: str) -> str:
    """Start a slow command and go on at once. Returns the job's id; you get the output, or the
    beginning and end of it, when the job has ended."""
    id = secrets.token_hex(4)
    RUNNING[id] = start(command, agent.folder)
    agent.jobs[id] = "running"
    agent.undelivered.add(id)
    Thread(target=finish, args=(agent, id), daemon=True).start()
    return id


def finish(agent: Agent, id: str) -> None:
    """Wait for a job, and leave its result where the loop will look for it."""
    try:
        output = output_of(RUNNING[id], seconds=300)
        agent.jobs[id] = "failed" if RUNNING[id].returncode else "completed"
    except subprocess.TimeoutExpired as error:
        output, agent.jobs[id] = str(error), "timeout"
    del RUNNING[id]
    agent.ended.put((id, f"[{id}] {agent.jobs[id]}: {shortened(output, 500)}"))


@tool("read")
def check_background(agent: Agent, task_id: str = "") -> str:
    """Show the state of a job, or of all jobs."""
    lines = [f"{id}: {state}" for id, state in agent.jobs.items() if task_id in ("", id)]
    return "\n".join(lines) or "No such job."


@hook("after_tools")
def deliver(agent: Agent, calls: list[dict]) -> str | None:
    """Give the model each result once, as text: its call was answered when the job began."""
    lines = []
    while not agent.ended.empty():
        id, text = agent.ended.get()
        agent.undelivered.remove(id)
        lines.append(text)
    return "\n".join(["<background-results>", *lines, "</background-results>"]) if lines else None


@hook("on_stop")
def wait_for_job(agent: Agent) -> str | None:
    """The model may stop while a job runs; it gets another turn when one has ended."""
    while agent.undelivered and agent.ended.empty():
        time.sleep(0.1)
    return deliver(agent, [])


@atexit.register
def end_jobs() -> None:
    for process in [*RUNNING.values()]:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

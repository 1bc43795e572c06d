import os
import time

IDLE = float(os.getenv("AGENT_IDLE", "60"))  # seconds without work after which a teammate ends


def claim(task_id: int, owner: str) -> dict:
    """Take a task. Of several who try, one gets it: to read, decide and write is one step."""
    with locked(".tasks"):
        tasks = load_tasks()
        task = task_of(tasks, task_id)
        if task not in ready(tasks):
            waits = blockers(tasks, task)
            raise ValueError(
                f"task #{task_id} is {task['status']}, owner {task['owner']}, blocked by {waits}"
            )
        task |= {"status": "in_progress", "owner": owner, "pid": os.getpid()}
        save_task(task)
    return task


@tool("teammate")
def claim_task(agent: Agent, task_id: int) -> str:
    """Take a task that is ready, so that no other teammate takes it."""
    return assignment(agent, claim(task_id, agent.name))


def assignment(teammate: Agent, task: dict) -> str:
    text = f"Task #{task['id']}: {task['subject']}\n{task['description']}".strip()
    return f"<auto-claimed>{text}</auto-claimed>\nSet it to completed when it is done."


def find_task(teammate: Agent) -> dict | None:
    for task in ready(load_tasks()):
        if suits(task, teammate):
            try:
                return claim(task["id"], teammate.name)
            except ValueError:  # another one was faster
                continue
    return None


def suits(task: dict, teammate: Agent) -> bool:
    return not task["tags"] or teammate.role in task["tags"]


def next_work(teammate: Agent) -> str | None:
    """Mail, or else a task that suits; nothing for a minute ends a teammate's life."""
    end = time.monotonic() + IDLE
    while not teammate.stopped.is_set() and time.monotonic() < end:
        if take(teammate.name)[0]:
            return "You have mail."
        give_back()
        if task := find_task(teammate):
            return assignment(teammate, task)
        time.sleep(POLL)
    return None


def give_back() -> None:
    """What a dead process or a stopped teammate was working on is ready again."""
    with locked(".tasks"):
        for task in load_tasks().values():
            if task["status"] == "in_progress" and task["owner"] and not is_at_work(task):
                save_task({**task, "status": "pending", "owner": None})


def is_at_work(task: dict) -> bool:
    if task["pid"] == os.getpid():
        return task["owner"] in MATES and MATES[task["owner"]].status != "shutdown"
    try:
        os.kill(task["pid"], 0)
    except ProcessLookupError:
        return False
    return True


def is_busy(teammate: Agent) -> bool:
    """Whether it works, or is about to: it has mail or a task, or will claim one."""
    tasks = load_tasks()
    own = [
        task["owner"] == teammate.name and task["status"] == "in_progress"
        for task in tasks.values()
    ]
    work = take(teammate.name)[0] or any(own) or any(suits(task, teammate) for task in ready(tasks))
    return teammate.status == "working" or (teammate.status == "idle" and bool(work))

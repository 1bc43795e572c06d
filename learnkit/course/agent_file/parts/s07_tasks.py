import fcntl
import json
from contextlib import contextmanager
from pathlib import Path

TASK_MARKS = {**MARKS, "failed": "[!]"}


@contextmanager
def locked(name: str):
    """Hold the lock of a folder, in which one process or thread at a time may decide and write."""
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    if not (ignored := folder / ".gitignore").exists():  # no commit should hold it
        ignored.write_text("*\n")
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder


def save(path: Path, content) -> None:
    """Write a file so that it is there whole, or as it was before."""
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(json.dumps(content, indent=1), "utf-8")
    partial.replace(path)


def save_task(task: dict) -> None:
    save(ROOT / ".tasks" / f"task_{task['id']}.json", task)


def load_tasks() -> dict[int, dict]:
    files = ROOT.glob(".tasks/task_*.json")
    found = [json.loads(path.read_text("utf-8")) for path in files]
    return {task["id"]: task for task in sorted(found, key=lambda task: task["id"])}


def blockers(tasks: dict, task: dict) -> list[int]:
    """The tasks that a task still waits for."""
    return [id for id in task["blockedBy"] if tasks[id]["status"] != "completed"]


def ready(tasks: dict) -> list[dict]:
    """The tasks that can be started: pending, without an owner, and with all blockers completed."""
    return [
        task
        for task in tasks.values()
        if task["status"] == "pending" and not task["owner"] and not blockers(tasks, task)
    ]


@tool("lead", "teammate")
def task_create(agent: Agent, subject: str, description: str = "", tags: list = ()) -> str:
    """Put a task on the board, which survives you. Tags are the roles that it suits, if any."""
    with locked(".tasks"):
        task = {"id": max(load_tasks(), default=0) + 1, "subject": subject, "status": "pending"}
        task |= {"description": description, "tags": [*tags], "owner": None, "blockedBy": []}
        save_task(task)
    return f"Task #{task['id']} is on the board."


@tool("lead", "teammate")
def task_update(agent: Agent, task_id: int, status: str = "", addBlockedBy: list = ()) -> str:
    """Change a task: its status (pending, in_progress, completed, failed), and what blocks it."""
    with locked(".tasks"):
        tasks = load_tasks()
        task = task_of(tasks, task_id)
        task["blockedBy"] = sorted({*task["blockedBy"], *addBlockedBy})
        if status not in ("", *TASK_MARKS):
            raise ValueError(f"no status {status!r}; there are: {', '.join(TASK_MARKS)}")
        if waits_for_itself(tasks, task):
            raise ValueError(f"then task #{task_id} would wait for itself")
        task["status"] = status or task["status"]
        if task["status"] == "in_progress" and (waits := blockers(tasks, task)):
            raise ValueError(f"task #{task_id} is blocked by {waits}")
        save_task(task)
    return task_list(agent)


def task_of(tasks: dict, id: int) -> dict:
    if id not in tasks:
        raise LookupError(f"no task {id}; there are: {', '.join(map(str, tasks))}")
    return tasks[id]


def waits_for_itself(tasks: dict, task: dict) -> bool:
    seen, waiting = set(), [*task["blockedBy"]]
    while waiting:
        seen.add(id := waiting.pop())
        waiting += {*task_of(tasks, id)["blockedBy"]} - seen
    return task["id"] in seen


@tool("lead", "teammate")
def task_list(agent: Agent) -> str:
    """Show all tasks: [ ] pending, [>] in progress, [x] completed, [!] failed."""
    tasks = load_tasks()
    lines = []
    for task in tasks.values():
        waits = f" (blocked by {found})" if (found := blockers(tasks, task)) else ""
        owner = f" @{task['owner']}" if task["owner"] else ""
        lines.append(f"{TASK_MARKS[task['status']]} #{task['id']}: {task['subject']}{owner}{waits}")
    return "\n".join(lines) or "No tasks."


@tool("lead", "teammate")
def task_get(agent: Agent, task_id: int) -> str:
    """Show all of a task."""
    return json.dumps(task_of(load_tasks(), task_id), indent=1)

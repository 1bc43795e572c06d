"""A team in three processes: a board here, and two teammates that learnkit join starts.

With the address of a database, the processes may be on different machines.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import learnkit as lk

ADDRESS = "files:team"  # or sqlite:///team.db, or postgresql+psycopg://…


def model(request):
    """A model by rules, no LLM: write the file that the last task names, and complete the task."""
    text = str(request["messages"])
    task = list(re.finditer(r"Task #(\d+): Write (\w+\.txt)", text))[-1]
    done = text.count("tool_use_id", task.end())  # results since then
    steps = [
        lk.use("bash", command=f"echo hello > {task[2]}"),
        lk.use("task_update", task_id=int(task[1]), status="completed"),
    ]
    return steps[done] if done < len(steps) else "Done."


def join(name, url):
    """Start a teammate, which ends when it has found nothing to do for 3 seconds."""
    command = [Path(sys.executable).with_name("learnkit"), "join", ADDRESS, "--name", name]
    command += ["--workspace", name, "--yes", "--max-idle", "3"]
    env = os.environ | {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "offline"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env)


backend = lk.open_backend(ADDRESS)
board = backend.board()
for word in ("red", "green", "blue", "white"):
    board.create(f"Write {word}.txt", tags=["coder"])
board.update(4, add_blocked_by=[1, 2, 3])
with lk.MessagesServer(model) as server:
    teammates = [join("alice", server.url), join("bob", server.url)]
    print("they ended with", [process.wait() for process in teammates])
print([task.status for task in board.tasks()])
print(sorted(path.name for name in ("alice", "bob") for path in Path(name).glob("*.txt")))
print(sorted((one["name"], one["status"]) for one in backend.roster().members()))

"""A team in three processes: a board here, and two teammates that learnkit join starts.

With the address of a database, the processes may be on different machines.
"""

import subprocess
import sys
from pathlib import Path

import learnkit as lk

ADDRESS = "files:team"  # or sqlite:///team.db, or postgresql+psycopg://…


def join(name):
    """Start a teammate that is played by rules; it ends when it has found nothing for 3 seconds."""
    command = [Path(sys.executable).with_name("learnkit"), "join", ADDRESS, "--name", name]
    command += ["--workspace", name, "--stand-in", "--yes", "--max-idle", "3"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


backend = lk.open_backend(ADDRESS)
board = backend.board()
for word in ("red", "green", "blue", "white"):
    board.create(f"create {word}.txt that says hello", tags=["coder"])
board.update(4, add_blocked_by=[1, 2, 3])
teammates = [join("alice"), join("bob")]
print("they ended with", [process.wait() for process in teammates])
print([task.status for task in board.tasks()])
print(sorted(path.name for name in ("alice", "bob") for path in Path(name).glob("*.txt")))
print(
    {one["name"]: one["status"] for one in backend.roster().members()}
    == {
        "alice": "shutdown",
        "bob": "shutdown",
    }
)

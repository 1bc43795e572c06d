"""What the processes of tests/backends/test_board.py do.

``python board_worker.py ROLE FOLDER NAME``
"""

from __future__ import annotations

import sys

from learnkit import TaskBoard, ToolError


def create(board: TaskBoard, name: str, count: int) -> None:
    """Create tasks, each after the one before."""
    last = 0
    for number in range(count):
        task = board.create(f"{name} {number}")
        if last:
            board.update(task.id, add_blocked_by=[last])
        last = task.id


def claim(board: TaskBoard, name: str) -> None:
    """Claim whatever is ready, complete it, and print what was had, until nothing is left."""
    print("ready", flush=True)
    sys.stdin.readline()  # all begin at the same time
    while any(task.status == "pending" for task in board.tasks()):
        for task in board.ready():
            try:
                board.claim(task.id, name)
            except ToolError:
                continue  # somebody else was faster
            print(task.id, flush=True)
            board.update(task.id, "completed")


if __name__ == "__main__":
    role, folder, name, *rest = sys.argv[1:]
    if role == "create":
        create(TaskBoard(folder), name, int(rest[0]))
    else:
        claim(TaskBoard(folder), name)

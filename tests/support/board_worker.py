"""What the processes of tests/backends/test_board.py do.

``python board_worker.py FOLDER NAME``
"""

from __future__ import annotations

import sys

from learnkit import TaskBoard, ToolError


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
    folder, name = sys.argv[1:]
    claim(TaskBoard(folder), name)

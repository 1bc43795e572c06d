"""Lesson 12's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.s12.blank_page import check_mine
from learnkit.course.lessons.verdicts import short

#: What somebody does in a folder -> whether it may go, and why.
_FOLDERS = (
    ("nothing was changed", "true", True),
    ("a file was changed", "echo 1 > a.txt", False),
    ("a new file isn't committed", "echo 1 > 'b c.txt'", False),
    ("a change is staged, and not committed", "echo 1 > a.txt; git add a.txt", False),
    ("a file was deleted", "rm a.txt", False),
    ("git ignores a file that is nowhere else, .env", "echo KEY=1 > .env", False),
    (
        "all is committed on its branch",
        "echo 1 > a.txt; git -c user.name=a -c user.email=a commit -qam a",
        True,
    ),
)


def check_can_go(can_go: Any) -> Verdict:
    """Check which worktrees can go, by real git."""
    with tempfile.TemporaryDirectory() as name:
        main = Path(name, "main")
        main.mkdir()
        _bash(main, "git init -q; echo .env > .gitignore; echo 0 > a.txt; git add -A")
        _bash(main, "git -c user.name=a -c user.email=a commit -qm first")
        for number, (what, command, wanted) in enumerate(_FOLDERS):
            folder = Path(name, f"w{number}")
            _bash(main, f"git worktree add -q -b b{number} {folder}")
            _bash(folder, command)
            found = can_go(folder)
            if bool(found) != wanted:
                loss = "something would be lost" if not wanted else "nothing would be lost"
                return f"{what}: {loss}, and your function returned {short(found)}"
    return None


def _bash(folder: Path, command: str) -> None:
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, capture_output=True)


CAN_GO_CLEAN = """
import subprocess


def can_go(folder):
    for command in ("git status --short", "git clean -ndX"):
        if subprocess.check_output(command, shell=True, cwd=folder):
            return False
    return True
""".strip()

#: By another way: each message a file, and a lock that lasts as long as its owner's life.
MINE_FLOCK = '''
def mine():
    return """
import fcntl, json, os, subprocess, sys
from pathlib import Path
import anthropic

name, prompt = sys.argv[1:3]
held = []


def bash(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout or "-"


def send(to, text):
    Path("mail", to).mkdir(parents=True, exist_ok=True)
    Path("mail", to, str(len(list(Path("mail", to).iterdir())))).write_text(text)
    return "sent"


def add(task):
    Path("tasks").mkdir(exist_ok=True)
    Path("tasks", f"{len(list(Path('tasks').glob('*.open')))}.open").write_text(task)
    return "added"


def claim():
    for path in sorted(Path("tasks").glob("*.open")):
        file = path.open()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        if path.exists():
            held[:] = [path, file]
            return path.read_text()
    return "nothing"


def done():
    held[0].rename(held[0].with_suffix(".done"))
    return "ok"


tools = {"bash": bash, "send": send, "add": add, "claim": claim, "done": done}
words = {"bash": ["command"], "send": ["to", "text"], "add": ["task"], "claim": [], "done": []}
specs = [
    {"name": n, "input_schema": {"type": "object", "properties": {w: {} for w in words[n]}}}
    for n in tools
]
text = prompt
for path in sorted(Path("mail", name).glob("*")) if Path("mail", name).exists() else []:
    text += path.read_text()
    path.unlink()
messages = [{"role": "user", "content": text}]
while True:
    reply = anthropic.Anthropic().messages.create(
        model=os.environ["ANTHROPIC_MODEL"], max_tokens=1000, tools=specs, messages=messages
    )
    messages += [{"role": "assistant", "content": [b.to_dict() for b in reply.content]}]
    calls = [b for b in reply.content if b.type == "tool_use"]
    if not calls:
        print(reply.content[0].text)
        break
    results = [
        {"type": "tool_result", "tool_use_id": c.id, "content": tools[c.name](**c.input)}
        for c in calls
    ]
    messages += [{"role": "user", "content": results}]
"""
'''.strip()


EXERCISES = {
    "can_go": Check(check_can_go, [CAN_GO_CLEAN]),
    "mine": Check(check_mine, [MINE_FLOCK]),
}

"""What the agent has in lesson 3's game, what a button fills in, and what is said at its end.

Prompt and script are in ``questions.yaml``.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import learnkit as lk
from learnkit.course.content import Remark
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.reading import results

_STATIONS = ("beijing", "cairo", "oslo")
_STEPS = ("list the stations", *_STATIONS, "write watch.txt")
_LIST = [
    {"id": str(number), "text": text, "status": "pending"}
    for number, text in enumerate(_STEPS, start=1)
]
#: The list that a button fills in, so that nobody has to write JSON.
READY = {"todo": {"items": _LIST}}


#: What a player's bash may start; nobody is there to be asked. Only ``mail`` writes, and inside.
_ALLOWED = ("python -m heatwatch", "ls", "cat", "head", "tail", "grep", "wc", "pwd")


def permission(call: lk.Call) -> tuple[Literal["allow", "deny"], str]:
    """Deny what could delete, or reach files outside: a player types into a real shell."""
    if str(call.input.get("path", "")).endswith(".py"):
        return "deny", "no step needs a change of code"
    command = str(call.input.get("command", "ls"))
    try:
        words = shlex.split(command)
    except ValueError:  # a quote that isn't closed
        words = []
    known = any(words[: len(one.split())] == one.split() for one in _ALLOWED)
    outside = any(re.search(r"^(-\w+)?[/~]|=[/~]|\.\.", word) for word in words)
    if known and not outside and not re.search(r"[;&|<>(){}$`\n\\]", command):
        return "allow", ""
    return "deny", f"bash runs one command, inside of its folder: {', '.join(_ALLOWED)}"


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """bash, files and the list; twice the script lets two rounds pass, so a reminder comes."""
    return [lk.CodingTools(workspace), lk.Permission(permission), lk.Todo(remind_after=2)]


def judge(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
    """Say what came of the task and of the list."""
    lists = [text for text in results(messages) if text.endswith("completed)")]
    if not lists:
        why = "so no reminder could come: the harness reminds only of items that are open"
        return [_found(workspace, messages), Remark(False, f"There was no list, {why}.")]
    done, _, whole = lists[-1].rpartition("(")[2].removesuffix(" completed)").partition("/")
    end = f"The list says {done} of {whole} completed"
    dared = ". You ended with items open, and nothing asked (your before_stop does)"
    remark = Remark(True if done == whole else None, end + dared * (done != whole) + ".")
    return [_found(workspace, messages), remark]


def _found(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> Remark:
    """Whether the file names the hottest station, and whether all three were looked up before."""
    file = workspace / "watch.txt"
    if not file.is_file():
        return Remark(False, "There is no watch.txt.")
    text = file.read_text("utf-8", "replace").lower()
    if [name for name in _STATIONS if name in text] != ["cairo"]:
        return Remark(False, "watch.txt doesn't name cairo alone.")
    found = results(messages)
    wrote = max((place for place, one in enumerate(found) if file.name in one), default=None)
    known = "\n".join(found[:wrote])
    missing = [name for name in _STATIONS if _latest(name) not in known]
    if missing:
        guess = f"no result had said how hot it is in {' or '.join(missing)}"
        return Remark(False, f"watch.txt names cairo, the hottest station. A lucky guess: {guess}.")
    return Remark(True, "watch.txt names cairo, the hottest station, and no guess.")


def _latest(station: str) -> str:
    with (EXAMPLE / f"stations/{station}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))[-1]["celsius"]

"""Lesson 11's picture of a race: who read and wrote the board when, as each process noted it."""

from __future__ import annotations

import json
from pathlib import Path

from learnkit.course.display.card import Card
from learnkit.views.drawing.text import esc

#: Who has given back a lock in a claim waits until the other one has, half a second at most: two
#: steps that are locked each are not one.
MEETS = """
import contextlib, os, pathlib, time

@contextlib.contextmanager
def locked(name, locked=agent.locked, until=[]):
    try:
        with locked(name) as folder:
            yield folder
    finally:
        if claiming() and not until:
            until.append(time.monotonic() + 0.5)
            pathlib.Path(".tasks", f"left-{os.getpid()}").touch()
            while len([*pathlib.Path().glob(".tasks/left-*")]) < 2 and time.monotonic() < until[0]:
                time.sleep(0.002)

agent.locked = locked
"""
#: What a process of ``agent.py`` runs: all of it, and each step of a claim is noted in a file.
_NOTING = """
import json, threading
now = threading.local()
claiming = lambda: hasattr(now, "claim")

def noted(name, says):
    act = getattr(agent, name)
    def noting(*given):
        result = act(*given)
        if claiming():
            note(says(result, *given))
        return result
    setattr(agent, name, noting)

def note(step):
    with open("claims.jsonl", "a") as file:
        file.write(json.dumps([time.monotonic(), now.claim[1], step]) + "\\n")

def claim(*given, act=agent.claim):
    now.claim = given
    try:
        return act(*given)
    except ValueError:
        note("is refused")
        raise
    finally:
        del now.claim

agent.claim = claim
noted("load_tasks", lambda tasks: f"reads: {tasks[now.claim[0]]['owner'] or 'no owner'}")
noted("save_task", lambda _, task: f"writes: {task['owner']}")
agent.main()
"""
NOTING = f"{MEETS}{_NOTING}"


def claims(folder: Path) -> Card:
    """Each step of each claim, from left to right; reads with no write between share a place.

    Args:
        folder: in which the processes have noted them.
    """
    lines = (folder / "claims.jsonl").read_text("utf-8").splitlines()
    places = list[dict[str, str]]()
    for _, name, step in sorted(map(json.loads, lines)):
        kind = step.split()[0]
        if not places or name in places[-1] or kind not in str(places[-1]):
            places.append({})
        places[-1][name] = step
    names = sorted({name for place in places for name in place})
    wide = [max(map(len, place.values())) for place in places]
    rows = {name: [place.get(name, "") for place in places] for name in names}
    text = [f"{name:7}" + "   ".join(map(str.ljust, rows[name], wide)).rstrip() for name in names]
    cells = {name: "".join(f"<td>{esc(step)}</td>" for step in rows[name]) for name in names}
    html = "".join(f"<tr><th>{esc(name)}</th>{cells[name]}</tr>" for name in names)
    return Card(f"<table>{html}</table>", "\n".join(text))

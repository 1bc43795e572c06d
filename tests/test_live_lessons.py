"""The lessons on teams in live mode: on the wall clock, with real threads and a real server.

A local server speaks the Messages API and takes a tenth of the recorded time. Its replies are those
of the recordings, found by what a conversation begins with and by how many of them it holds. Where
real time leads to more turns than were recorded, the model has nothing to say; it answers a request
when it has been told of it.
"""

from __future__ import annotations

import linecache
import re
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import nbformat
import pytest
from messages_server import serving

import learnkit as lk
from learnkit.clients.recordings.recording import Recording
from learnkit.runtime.clock import SystemClock

pytestmark = pytest.mark.slow

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
NOTHING = "…"
LESSONS = {"s09": "s09_teams", "s10": "s10_protocols"}


def model(lesson: str) -> Any:
    """A model that says what stands in a lesson's recording, in each lane's order."""
    turns = Recording.load(NOTEBOOKS / "recordings" / f"{lesson}.yaml").turns
    begins: dict[tuple[str, str], str] = {}
    replies: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for turn in turns:
        if turn.said:
            begins.setdefault((turn.scenario, turn.lane), str(turn.said[0]["content"]))
        replies[turn.lane, begins[turn.scenario, turn.lane]].append(turn.answer)

    def answer(request: Any) -> Any:
        member = re.search(r"You are (\w+), ", str(request["system"]))
        lane = member[1] if member else "lead"
        told = str(request["messages"])
        said = sum(m["role"] == "assistant" and NOTHING not in str(m) for m in request["messages"])
        known = replies[lane, str(request["messages"][0]["content"])]
        reply = known[said] if said < len(known) else lk.say(NOTHING)
        asked = re.findall(r"'request_id': '(\w+)'", str(reply.content))
        return reply if all(id in told for id in asked) else lk.say(NOTHING)

    return answer


def cells(notebook: str) -> list[tuple[str, bool]]:
    """The code cells, and whether each is meant to fail."""
    found = nbformat.read(NOTEBOOKS / f"{notebook}.ipynb", as_version=4).cells
    return [
        (cell.source, "raises-exception" in cell.metadata.get("tags", []))
        for cell in found
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_live_against_a_server_with_real_delays(
    lesson: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    clocks: list[Any] = []
    init = SystemClock.__init__
    monkeypatch.setattr(SystemClock, "__init__", lambda self: (init(self), clocks.append(self))[0])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "for-a-local-server")
    monkeypatch.setenv("LEARNKIT_MODE", "live")
    space: dict[str, Any] = {"__name__": "__main__"}
    with serving(model(lesson), pace=0.1) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        for number, (source, fails) in enumerate(cells(LESSONS[lesson])):
            name = f"<cell {number} of {lesson}>"
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            code = compile(source, name, "exec")
            if fails:
                with pytest.raises((AssertionError, lk.LearnkitError)):
                    exec(code, space)
            else:
                exec(code, space)
    assert len(clocks) >= 3, "the scenarios must run on the wall clock"
    assert server.bodies, "nobody has asked the server"
    assert set(threading.enumerate()) <= before, "a thread is left"

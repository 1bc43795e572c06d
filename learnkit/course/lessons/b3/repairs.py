"""What lesson b3 has its reader write: whose answer a line is, and a stranger's tool's name."""

from __future__ import annotations

import json
import re
import time
from queue import Queue
from threading import Timer
from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Repair, Verdict
from learnkit.course.lessons.verdicts import with_settings

#: Seconds that an answer may take in these trials.
_SECONDS = 0.6


def _line(number: int | None, text: str) -> str:
    about = {"method": "notifications/message"} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **about, "result": {"text": text}}) + "\n"


def _answer(agent: Any, number: int, *lines: str) -> Any:
    """What the learner's function makes of lines that are already there."""
    server = SimpleNamespace(name="harbour", lines=Queue())
    for line in lines:
        server.lines.put(line)
    try:
        return agent.answer_to(server, number).get("result", {}).get("text")
    except TimeoutError:
        return "no answer in time"


def check_answer(agent: Any) -> Verdict:
    """Late answers, notifications, and a server that talks without answering."""
    cases = (
        ("the answer alone", (_line(7, "right"),), "right"),
        (
            "a late answer to request 6, and then the answer",
            (_line(6, "6"), _line(7, "right")),
            "right",
        ),
        ("a notification before the answer", (_line(None, "news"), _line(7, "right")), "right"),
        ("two late ones", (_line(5, "5"), _line(6, "6"), _line(7, "right")), "right"),
        ("only a late answer", (_line(6, "6"),), "no answer in time"),
        ("nothing", (), "no answer in time"),
    )
    with with_settings(agent, SECONDS=_SECONDS):
        for what, lines, right in cases:
            if (found := _answer(agent, 7, *lines)) != right:
                return f"request 7, {what}: it comes to {found!r}, not {right!r}"
        return _in_time(agent, 0.5, 1, 1.5, 2) or _in_time(agent, 0.9)


def _in_time(agent: Any, *parts: float) -> Verdict:
    """Notifications at these parts of the limit must not stretch it."""
    lines: Queue[str] = Queue()
    timers = [Timer(_SECONDS * part, lines.put, [_line(None, "news")]) for part in parts]
    for timer in timers:
        timer.daemon = True
        timer.start()
    begun = time.monotonic()
    try:
        agent.answer_to(SimpleNamespace(name="harbour", lines=lines), 7)
    except TimeoutError:
        took = time.monotonic() - begun
        last = f"{_SECONDS * parts[-1]:.1f} s"
        long = f"with notifications until {last}, it waits {took:.1f} s in all, not {_SECONDS}"
        return long if took > 1.5 * _SECONDS else None
    finally:
        for timer in timers:
            timer.cancel()
    return "no answer came, and it raised no TimeoutError"


def check_name(agent: Any) -> Verdict:
    """Names of your own tools, of two servers, and some that the API refuses."""
    servers = [SimpleNamespace(name=name) for name in ("harbour", "forge")]
    for tool in ("read_file", "bash", "sea.temperature", "the sea", "s" * 200, "größe"):
        names = [agent.name_of(server, {"name": tool}) for server in servers]
        if names[0] in agent.TOOLS:
            return f"the harbour's {tool} is called {names[0]}, and that's a tool of yours"
        if names[0] == names[1]:
            return f"{tool} of two servers has one name, {names[0]}: the second takes the place"
        if wrong := [name for name in names if not re.fullmatch("[a-zA-Z0-9_-]{1,128}", name)]:
            return f"a server's tool {tool!r} becomes {wrong[0]!r}, and the API refuses that name"
    if agent.name_of(servers[0], {"name": "tide"}) == agent.name_of(servers[0], {"name": "wind"}):
        return "two tools of one server have one name"
    return None


REPAIRS = {
    "answer_to": Repair(check_answer, "Each call gets its own answer, or none in time."),
    "name_of": Repair(check_name, "A stranger's tool can't take the place of another one."),
}

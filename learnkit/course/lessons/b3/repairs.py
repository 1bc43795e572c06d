"""What lesson b3 has its reader write: whose answer a line is, and a stranger's tool's name."""

from __future__ import annotations

import re
import time
from queue import Queue
from threading import Thread
from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import short, with_settings

REPAIRS = Repairs()

#: Seconds that an answer may take in these trials.
_SECONDS = 0.6
_NONE = "no answer in time"
#: What arrives after request 7: the numbers of answers; None is a notification.
_CASES: dict[str, list[int | None]] = {
    "the answer alone": [7],
    "a late answer to request 6, and then the answer": [6, 7],
    "a notification before the answer": [None, 7],
    "two late ones": [5, 6, 7],
    "an answer to request 8, which you never made": [8, 7],
    "only a late answer": [6],
    "nothing": [],
}


def _line(number: int | None) -> dict[str, Any]:
    return {"id": number, "result": {}} if number else {"method": "notifications/message"}


def _answer(agent: Any, received: Queue[Any], *numbers: int | None) -> str:
    """What the learner's function makes of lines that are already there."""
    for number in numbers:
        received.put(_line(number))
    try:
        found = agent.answer_to(SimpleNamespace(name="harbour", received=received), 7)
    except TimeoutError:
        return _NONE
    return f"the answer to {found['id']}" if "id" in found else "a notification"


@REPAIRS.add("Each call gets its own answer, or none in time.")
def check_answer_to(agent: Any) -> Verdict:
    """Late answers, notifications, and a server that talks without answering."""
    with with_settings(agent, SECONDS=_SECONDS):
        for what, numbers in _CASES.items():
            right = "the answer to 7" if 7 in numbers else _NONE
            if (found := _answer(agent, Queue(), *numbers)) != right:
                return f"request 7, {what}: it comes to {found}, not {right}"
        late = _in_time(agent, 4, 0.5) or _in_time(agent, 1, 0.9)
    with with_settings(agent, SECONDS=-1):  # a last notification came as the time was up
        return late or (None if _answer(agent, Queue()) == _NONE else "no TimeoutError was raised")


def _in_time(agent: Any, number: int, part: float) -> Verdict:
    """Notifications, one after each such part of the limit, must not stretch it."""
    received: Queue[Any] = Queue()

    def talk() -> None:
        for _ in range(number):
            time.sleep(_SECONDS * part)
            received.put(_line(None))

    Thread(target=talk, daemon=True).start()
    begun = time.monotonic()
    if _answer(agent, received) != _NONE:
        return "no answer came, and it raised no TimeoutError"
    took, last = time.monotonic() - begun, _SECONDS * number * part
    long = f"with notifications until {last:.1f} s, it waits {took:.1f} s in all, not {_SECONDS}"
    return long if took > 1.5 * _SECONDS else None


#: Tools of two servers, which both need a name.
_NAMES = ("read_file", "bash", "sea.temperature", "the sea", "s" * 200, "größe")
_BOTH = [*((("harbour", one), ("forge", one)) for one in _NAMES), (("a", "tide"), ("a", "wind"))]
#: Server and tool of two, of which the second may be refused.
_EITHER = [
    (("the harbour", "sea.t"), ("the.harbour", "sea:t")),
    (("harbour", f"{'s' * 200}1"), ("harbour", f"{'s' * 200}2")),
    (("a", "b__c"), ("a__b", "c")),
]


@REPAIRS.add("No stranger's tool takes the place of another one.")
def check_name_of(agent: Any) -> Verdict:
    """Offer two tools, one after the other: none replaces another, and the API takes the names."""
    for pair in [*_BOTH, *_EITHER]:
        with with_settings(agent, TOOLS=dict(agent.TOOLS)):
            for server, tool in pair:
                known, what = dict(agent.TOOLS), f"{short(tool)} of the server {server!r}"
                try:
                    agent.add_tool(SimpleNamespace(name=server), {"name": tool, "inputSchema": {}})
                except Exception as error:
                    if pair in _EITHER and (server, tool) == pair[1]:
                        break
                    return f"{what} gets no name: {error!r}"
                for name in agent.TOOLS:
                    if agent.TOOLS[name] is not known.get(name, agent.TOOLS[name]):
                        return f"{what} takes the place of another tool, {short(name)}"
                    if not re.fullmatch("[a-zA-Z0-9_-]{1,128}", name):
                        return f"{what} becomes {name!r}, and the API refuses that name"
    return None

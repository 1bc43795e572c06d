"""Who plays lesson 11's team, in the notebook and for ``learnkit serve s11``: a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.course.lessons.reading import results

PROMPTS = ("Send the three warnings.",)
STATIONS = ("beijing", "cairo", "oslo")
#: A log that the lead reads until a warning is out, and for a second nothing more has come.
_LOG = """
before=0
until [ $before -gt 0 ] && [ $(ls outbox 2>/dev/null | wc -l) = $before ]; do
  before=$(ls outbox 2>/dev/null | wc -l)
  sleep 1
done
touch log-read
"""
#: The lead waits for so many reports.
_REPORTS = "until [ $(cat .team/inbox-lead.jsonl | wc -l) -ge {} ]; do sleep 0.1; done"


def busy_lead(says: str, *then: str) -> tuple[Reply, ...]:
    """A lead that puts three tasks on the board, starts Alice, and reads the log.

    Args:
        says: its prompt for Alice.
        then: messages for her when the log is read, each after another report.
    """
    more = [use("send_message", to="alice", content=text) for text in then]
    waits = [use("bash", command=_REPORTS.format(number)) for number in range(2, 2 + len(then))]
    begin = reply(
        *(use("task_create", subject=f"warn {station}") for station in STATIONS),
        use("spawn_teammate", name="alice", role="coder", prompt=says),
        use("bash", command=_LOG),
    )
    return begin, *([reply(*chain(*zip(more, waits, strict=True)))] if then else [])


def team(lead: Sequence[Reply] = (), **dies: Reply) -> Callable[[dict[str, Any]], Reply]:
    """A function that answers each request of a team.

    Args:
        lead: its first replies; after them it follows its prompt.
        dies: the name of a teammate -> its reply to the first task.
    """

    def answer(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        if name := re.search(r"You are '(\w+)'", request["system"]):
            return _teammate(messages, name[1], dies.get(name[1]))
        replied = _replied(messages)
        return lead[replied] if replied < len(lead) else _lead(messages)

    return answer


script = team()


def _lead(messages: list[dict[str, Any]]) -> Reply:
    """Start whom the prompt names, assign nothing, and look at the board when mail comes."""
    prompt, last = messages[0]["content"], messages[-1]["content"]
    if not _replied(messages):
        names = re.findall(r"^Start (\w+)\.$", prompt) or ["alice", "bob"] * (prompt in PROMPTS)
        if not names:
            return say(f"I am a function, and know one prompt: {PROMPTS[0]} For another, use --me.")
        tasks = [use("task_create", subject=f"warn {one}") for one in STATIONS]
        start = [
            use("spawn_teammate", name=name, role="coder", prompt="Look for work.")
            for name in names
        ]
        return reply(*(tasks if prompt in PROMPTS else []), *start)
    if prompt in PROMPTS and "<inbox>" in str(last):
        return use("task_list")
    board = re.findall(r"^\[.\] #\d+: warn.*", "\n".join(results(messages[-1:])), re.MULTILINE)
    if board and not re.search(r"\[[ >]\]", str(board)):
        return say("\n".join(["Nothing is left to do.", *board]))
    return say("They find their work.")


def _teammate(messages: list[dict[str, Any]], name: str, dies: Reply | None) -> Reply:
    """Warn the station of the last task, and complete it."""
    last = messages[-1]["content"]
    found = [re.search(r"Task #(\d+): warn (\w+)", str(one["content"])) for one in messages]
    tasks = [one for one in found if one]
    if not tasks:
        return say("I am ready.")
    id, station = int(tasks[-1][1]), tasks[-1][2]
    if not results(messages[-1:]):
        path = f"outbox/{station}-by-{name}.txt"
        return dies or use("write_file", path=path, content="Storm tonight.\n")
    if any(block.get("is_error") for block in last):
        return use("task_update", task_id=id, status="failed")
    if "Wrote" in str(last):
        return use("task_update", task_id=id, status="completed")
    return say(f"I have nothing left to do for task {id}.")


def _replied(messages: list[dict[str, Any]]) -> int:
    """How often; the first request may hold mail as well, which the dead have never read."""
    return sum(one["role"] == "assistant" for one in messages)

"""Who answers in lesson 4: programs, which know an agent by its first message and its tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.course.lessons.reading import results
from learnkit.events.text import blocks_of, content_text

PROMPTS = ("Which stations have a reading of -9999? Give each one to a subagent.",)


def program(edit: Callable[[str, str, str], Reply]) -> Callable[[dict[str, Any]], Reply]:
    """Return what plays every agent of Bob's job; edit gets a path, its text, and the context."""

    def answer(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        prompt, found = content_text(messages[0]["content"]), results(messages)
        files = re.findall(r"app/\w+\.py", prompt)
        if any(tool["name"] == "task" for tool in request["tools"]):
            text = "In {}, add a constant LIMIT with the number from its docstring."
            return _summary(messages) if found else _tasks(files, text)
        if not found:
            return reply(*(use("read_file", path=path) for path in files))
        edited = len(found) - len(files)
        if edited == len(files):
            return say(f"{files[0]} is done.") if edited == 1 else _summary(messages)
        return edit(files[edited], found[edited], json.dumps(messages))

    return answer


def script(request: dict[str, Any]) -> Reply:
    """Answer in the terminal: hand each station to a subagent; as a subagent, look."""
    messages = request["messages"]
    prompt, found = content_text(messages[0]["content"]), results(messages)
    if prompt in PROMPTS:
        files = [f"stations/{name}.csv" for name in ("beijing", "cairo", "oslo")]
        text = "Is there a reading of -9999 in {}? Report it in one line."
        return say("\n".join(found)) if found else _tasks(files, text, kind="explore")
    if path := re.match(r"Is there a reading of -9999 in (stations/\w+\.csv)\?", prompt):
        faulty = [line for line in "\n".join(found).splitlines() if "-9999" in line]
        text = f"{path[1]}: {', '.join(faulty) or 'none'}"
        return say(text) if found else use("read_file", path=path[1])
    return say(f"I am a function, and know one prompt: {PROMPTS[0]} For another, use --me.")


def _summary(messages: Sequence[Any]) -> Reply:
    """What an agent says at the end, which reads of each result only whether it is an error."""
    got = blocks_of(messages[2]["content"])
    if failed := sum(one.get("is_error", False) for one in got):
        return say(f"{len(got) - failed} of {len(got)} files have their limit; {failed} failed.")
    return say(f"All {len(got)} files in app/ now have the limit that their docstring asks for.")


def _tasks(files: Sequence[str], text: str, **more: str) -> Reply:
    calls = (use("task", prompt=text.format(path), description=path, **more) for path in files)
    return reply("Each one gets a subagent.", *calls)

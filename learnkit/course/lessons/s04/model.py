"""Who answers in lesson 4 where a reply must fit what the learner wrote: a function of the request.

It plays the parent and every subagent, and knows an agent by its first message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.course.lessons.s04.five_files import FILES, GOAL
from learnkit.events.text import blocks_of, content_text

PROMPTS = ("Which stations have a reading of -9999? Give each one to a subagent.",)
_STATIONS = ("beijing", "cairo", "oslo")
_LIMIT = (
    "In {}, add a constant LIMIT below the module's docstring, with the number that the docstring "
    "gives. Report the file and the number in one line."
)
_GREP = "Is there a reading of -9999 in {}? Report it in one line."


def script(request: dict[str, Any]) -> Reply:
    """Hand each file to a subagent; as a subagent, do what the prompt says."""
    messages = request["messages"]
    prompt, results = content_text(messages[0]["content"]), results_of(messages)
    if prompt == GOAL:
        files = {f"app/{name}.py": _LIMIT for name in FILES}
        return _summary(messages) if results else _tasks(files, "They don't depend on each other.")
    if prompt in PROMPTS:
        files = {f"stations/{name}.csv": _GREP for name in _STATIONS}
        return say("\n".join(results)) if results else _tasks(files, "One for each station.")
    if path := re.match(r"In (app/\w+\.py), add", prompt):
        return _limited(path[1], results)
    if path := re.match(r"Is there a reading of -9999 in (stations/\w+\.csv)\?", prompt):
        command = f"grep -n -e -9999 {path[1]} || echo none"
        return say(f"{path[1]}: {results[-1]}") if results else use("bash", command=command)
    return say(f"I am a function, and know one prompt: {PROMPTS[0]} For another, use --me.")


def results_of(messages: Sequence[Any]) -> list[str]:
    """Return the texts of all tool results, in order."""
    blocks = [block for message in messages for block in blocks_of(message["content"])]
    return [content_text(one["content"]) for one in blocks if one["type"] == "tool_result"]


def _summary(messages: Sequence[Any]) -> Reply:
    """What the parent says, which reads of each result only whether it is an error."""
    blocks = blocks_of(messages[2]["content"])
    if failed := sum(one.get("is_error", False) for one in blocks):
        done = len(blocks) - failed
        return say(f"{done} of {len(blocks)} files have their limit; {failed} failed.")
    return say("All five files in app/ now have the limit that their docstring asks for.")


def _tasks(prompts: dict[str, str], why: str) -> Reply:
    calls = [
        use("task", prompt=text.format(path), description=path) for path, text in prompts.items()
    ]
    return reply(f"{why} Each one gets a subagent.", *calls)


def _limited(path: str, results: Sequence[str]) -> Reply:
    """A subagent with one file reads it, edits it, and reports."""
    if not results:
        return use("read_file", path=path)
    head = results[0].partition("\n")[0]
    (limit,) = re.findall(r"at most (\d+) requests", head)
    if len(results) == 1:
        return use("edit_file", path=path, old_text=head, new_text=f"{head}\n\nLIMIT = {limit}")
    return say(f"{path}: LIMIT = {limit}")

"""What lesson 6 has its reader write into ``agent.py``: the cut, and what code carries over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Repair, Verdict

Message = dict[str, Any]


def _conversation(calls: int, *more: Message, size: int = 1) -> list[Message]:
    """A conversation with one call in each round."""
    messages: list[Message] = [{"role": "user", "content": "Go."}]
    for id in range(1, calls + 1):
        call = {"type": "tool_use", "id": f"toolu_{id}", "name": "read_file", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{id}", "content": "x" * size}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result]})
    return [*messages, *more]


def check_tail(agent: Any) -> Verdict:
    """Cut at every place of some conversations."""
    prompt = {"role": "user", "content": [{"type": "text", "text": "What is a tool_result?"}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    for messages, number, wanted in (
        (_conversation(3), 2, 2),
        (_conversation(3), 1, 2),
        (_conversation(3), 3, 4),
        (_conversation(3), 7, 7),
        (_conversation(3), 50, 7),
        (_conversation(2, said, prompt), 1, 1),
        (_conversation(2, said, prompt), 3, 4),
    ):
        call = f"of {len(messages)} messages, tail(messages, {number})"
        left = agent.tail([*messages], number)
        if not isinstance(left, list):
            return f"{call} returned {left!r}; it should return a list of messages"
        if left and left != messages[-len(left) :]:
            return f"{call} returned something else than the last messages, in their order"
        if left and any(block["type"] == "tool_result" for block in agent.blocks(left[0])):
            return f"{call} begins with a result whose call is cut off: a 400"
        if len(left) != wanted:
            kept = "fewer" if len(left) < wanted else "more"
            return f"{call} kept {len(left)}, {kept} than the {wanted} that it should keep"
    return None


def check_carried(agent: Any) -> Verdict:
    """Compact an agent with a list, and one without."""
    items = [
        {"id": "1", "text": "read the logs", "status": "completed"},
        {"id": "2", "text": "write the report", "status": "pending"},
    ]
    for given in (items, []):
        lead = SimpleNamespace(items=[dict(one) for one in given], request="Report on the logs.")
        parts = agent.carried(lead)
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            return f"it returned {parts!r}; it should return a list of texts"
        text = "\n".join(parts)
        if not text.startswith(f"[The request]\n{lead.request}"):
            return "it should begin as before: `[The request]`, and the request below it"
        if lost := [one["text"] for one in given if one["text"] not in text]:
            return f"after a summary, the model no longer sees the item {lost[0]!r} of its list"
        if given and not any(mark in text for mark in ("[ ]", "pending")):
            return "it doesn't say which items are still open: `render` does"
        rest = text.replace(lead.request, "").lower()
        if not given and any(mark in rest for mark in ("list", "0/0", "[]")):
            return f"an agent without a list is told of one: {text!r}"
    return None


def check_forget(agent: Any) -> Verdict:
    """Give it arrays of several lengths, and count the summaries that it asks for."""
    threshold, summarise = agent.THRESHOLD, agent.summarise
    asked: list[Any] = []
    agent.THRESHOLD, agent.summarise = 1_000, asked.append
    try:
        for calls, size, focus, wanted, what in (
            (2, 400, "", 0, "short"),
            (8, 330, "", 0, "too long, and clearing frees enough"),
            (8, 460, "", 1, "too long, and nine tenths full after clearing"),
            (30, 10, "", 1, "too long, and has nothing to clear"),
            (2, 400, "units", 1, "short, and the model has asked for a summary"),
        ):
            messages = _conversation(calls, size=size)
            lead = SimpleNamespace(messages=[*messages], focus=focus)
            asked.clear()
            agent.forget(lead)
            if len(asked) != wanted:
                number = ("no summary", "one summary")[len(asked)] if len(asked) < 2 else "several"
                return f"the array is {what}: forget asked for {number}"
            if lead.focus:
                return "it leaves the focus, so that the next request is summarised again"
            if what == "short" and lead.messages != messages:
                return "it changed an array that was short enough"
            if size == 330 and lead.messages == messages:
                return "the array was too long, and forget changed nothing"
    finally:
        agent.THRESHOLD, agent.summarise = threshold, summarise
    return None


REPAIRS = {
    "tail": Repair(check_tail, "Cut anywhere, each result that is left has its call."),
    "forget": Repair(check_forget, "It clears first, and asks for a summary only if it has to."),
    "carried": Repair(
        check_carried, "The list survives any summary, and there is none if there was none."
    ),
}

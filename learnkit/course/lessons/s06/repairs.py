"""What lesson 6 has its reader write into ``agent.py``: the cut, and what code carries over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import with_settings

REPAIRS = Repairs()

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


@REPAIRS.add("Cut anywhere, each result that is left has its call.")
def check_tail(agent: Any) -> Verdict:
    """Cut at every place of some conversations."""
    prompt = {"role": "user", "content": [{"type": "text", "text": "What is a tool_result?"}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    three, two = _conversation(3), _conversation(2, said, prompt)
    for messages, number, wanted in (
        (three, 2, 2),
        (three, 1, 2),
        (three, 3, 4),
        (three, 50, 7),
        (two, 1, 1),
        (two, 3, 4),
    ):
        call = f"of {len(messages)} messages, tail(messages, {number})"
        left = agent.tail([*messages], number)
        if left and any(block["type"] == "tool_result" for block in agent.blocks(left[0])):
            return f"{call} begins with a result whose call is cut off: a 400"
        if left != messages[-wanted:]:
            return f"{call} kept {len(left)}; it should keep the last {wanted}, as they are"
    return None


@REPAIRS.add("The list survives any summary, and there is none if there was none.")
def check_carried(agent: Any) -> Verdict:
    """Compact an agent with a list, and one without."""
    items = [
        {"id": "1", "text": "read the logs", "status": "completed"},
        {"id": "2", "text": "write the report", "status": "pending"},
    ]
    for given in (items, []):
        lead = SimpleNamespace(items=[dict(one) for one in given], request="Report on the logs.")
        parts = agent.carried(lead)
        text = "\n".join(parts)
        if not text.startswith(f"[The request]\n{lead.request}"):
            return "it should begin as before: `[The request]`, and the request below it"
        if sum(len(part) == 1 for part in parts) > len(items):
            return "it adds a text character by character: `+=` wants a list, `append` a text"
        if lost := [one["text"] for one in given if one["text"] not in text]:
            return f"after a summary, the model no longer sees the item {lost[0]!r} of its list"
        if given and not any(mark in text for mark in ("[ ]", "pending")):
            return "it doesn't say which items are still open: `render` does"
        rest = text.replace(lead.request, "").lower()
        if not given and any(mark in rest for mark in ("list", "0/0", "[]")):
            return f"an agent without a list is told of one: {text!r}"
    return None


@REPAIRS.add("It clears first, and asks for a summary only if it has to.")
def check_forget(agent: Any) -> Verdict:
    """Give it arrays of several lengths, and count the summaries that it asks for."""
    asked: list[Any] = []
    for calls, size, focus, wanted, what in (
        (5, 460, "", 0, "not too long yet"),
        (8, 330, "", 0, "too long, and clearing frees enough"),
        (8, 460, "", 1, "too long, and nine tenths full after clearing"),
        (30, 10, "", 1, "too long, and has nothing to clear"),
        (5, 460, "units", 1, "not too long, and the model has asked for a summary"),
        (
            8,
            460,
            "units",
            1,
            "too long, nine tenths full after clearing, and the model has asked for a summary",
        ),
    ):
        messages = _conversation(calls, size=size)
        lead = SimpleNamespace(messages=[*messages], focus=focus)
        asked.clear()
        with with_settings(agent, THRESHOLD=1_000, summarise=asked.append):
            agent.forget(lead)
        same = lead.messages == messages
        if len(asked) != wanted:
            return f"the array is {what}: summaries asked for: {len(asked)}, not {wanted}"
        if lead.focus:
            return "it leaves the focus, so that the next request is summarised again"
        if what.startswith("not") and not same:
            return f"the array is {what}: it was changed, and no result need be cleared"
        if size == 330 and same:
            return "the array was too long, and forget changed nothing"
    return None

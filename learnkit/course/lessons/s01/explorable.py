"""Lesson 1's explorable: remove a block from a finished array, and see how the API answers.

The verdict and its text are those of the offline client's contract.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from learnkit.clients.contract.rules import Refusal, check
from learnkit.clients.contract.thinking import sign_reply
from learnkit.core.catalog import DEFAULT_MODEL
from learnkit.events.text import one_line
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore

#: The array of this lesson's first scenario, without README, and the question that comes after it.
#: The thinking block gets its signature from the offline client.
_CALLS = (
    ("toolu_0001", "python -m heatwatch latest beijing", "beijing: 31.4 °C"),
    ("toolu_0002", 'python -m heatwatch mail me "Beijing: 31.4 °C"', "written: outbox/001.txt"),
)
_TOOL = {
    "name": "bash",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}
_LEFT, _GAP, _ROW = 64, 10, 30


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the array.

    Attributes:
        message: number of its message.
        role: of its message.
        name: what it is, in a few words.
        mark: key of its mark.
        body: the block itself.
    """

    message: int
    role: str
    name: str
    mark: str
    body: dict[str, Any]


@cache
def blocks() -> tuple[Block, ...]:
    """The blocks of the finished array, in order."""
    (first, latest, reading), (second, mail, written) = _CALLS
    text: list[tuple[int, str, str, str, dict[str, Any]]] = [
        (0, "user", "the prompt", "user", _text("If it is above 30 °C in Beijing, mail me.")),
        (1, "assistant", "the thinking", "system", _thinking("First the reading.")),
        (1, "assistant", "the text before the call", "assistant", _text("I'll look at it first.")),
        (1, "assistant", f"the call {first[-4:]}", "call", _call(first, latest)),
        (2, "user", f"the result of {first[-4:]}", "result", _result(first, reading)),
        (3, "assistant", f"the call {second[-4:]}", "call", _call(second, mail)),
        (4, "user", f"the result of {second[-4:]}", "result", _result(second, written)),
        (5, "assistant", "the answer", "assistant", _text("It's 31.4 °C, so I've emailed you.")),
        (6, "user", "the next question", "user", _text("And in Cairo?")),
    ]
    body = request([Block(*one) for one in text[:1]])
    reply = sign_reply(body, [one[4] for one in text[1:4]])
    signed = [*text[:1], *((*one[:4], new) for one, new in zip(text[1:4], reply, strict=True))]
    return tuple(Block(*one) for one in [*signed, *text[4:]])


def request(array: list[Block]) -> dict[str, Any]:
    """The request that sends an array of blocks."""
    messages: list[dict[str, Any]] = []
    last = None
    for block in array:
        if block.message != last:
            messages.append({"role": block.role, "content": []})
            last = block.message
        messages[-1]["content"].append(deepcopy(block.body))
    fixed = {"model": DEFAULT_MODEL, "max_tokens": 1024, "system": "You are brief."}
    return {**fixed, "tools": [_TOOL], "messages": messages}


def without(place: int) -> list[Block]:
    """The array after a block was removed."""
    return [block for number, block in enumerate(blocks()) if number != place]


def verdict(place: int) -> Refusal | None:
    """What the API refuses about the changed array; None if it answers."""
    return check(request(without(place)))


def draw(width: float, block: int) -> Answer:
    """The array with a ghost of the block, and the verdict beside what it is about."""
    canvas = Canvas(width)
    refusal, array = verdict(block), without(block)
    wide = width if width < 700 else width * 0.6
    gone = blocks()[block] if block >= 0 else None
    culprit, mark = _culprit(array, refusal), "failed" if refusal else "done"
    y, before = 0.0, 0
    for one in blocks():
        y += _GAP * (one.message != before)
        before = one.message
        if one is gone:
            says = [f"{one.name}: removed"]
            canvas.box("ghost", _LEFT, y, wide - _LEFT, _ROW - 4, "", says, "dlq")
        else:
            _row(canvas, one, y, wide, mark if one is culprit else one.mark)
        y += _ROW
    low = y + 18  # the same height whatever is removed
    said = f"✗ {refusal.status}: {_ALONE[refusal.rule]}" if refusal else "✓ 200: the model answers"
    x, y = (0.0, low) if width < 700 else (wide + 14, canvas[culprit.name].y + 17)
    canvas.text("verdict", x, y, said, "b", mark)
    canvas.height = low + 8 if width < 700 else low - 18
    assumes = "the offline client's rules, the default model, one tool"
    because = _WHY[refusal.rule] if refusal else _MAY_GO.get(gone.name if gone else "", "")
    return Answer(_finding(block, refusal), canvas, assumes, because)


def _row(canvas: Canvas, one: Block, y: float, wide: float, mark: str) -> None:
    line = f"{one.name}: {one_line(_content(one.body), 60)}"
    canvas.text(f"role {one.name}", 0, y + 17, one.role, "q", width=_LEFT)
    canvas.box(one.name, _LEFT, y, wide - _LEFT, _ROW - 4, mark, [line], "l", says=one.name)


def _culprit(array: list[Block], refusal: Refusal | None) -> Block:
    """The block that the verdict is about: the last one of the array, if it is about the whole."""
    rule = refusal.rule if refusal else ""
    if rule == "bound_thinking":
        return next(one for one in array if one.body["type"] == "thinking")
    key = {"unanswered_call": "id", "unknown_result": "tool_use_id"}.get(rule)
    named = [one for one in array if refusal and one.body.get(key or "", "-") in refusal.message]
    return [*array, *named][-1]


def _finding(place: int, refusal: Refusal | None) -> str:
    if place < 0:
        return "This is the array as the run left it; the API accepts the next request."
    name = blocks()[place].name
    status = "the API accepts it: 200" if refusal is None else f"the API refuses: {refusal.status}"
    return f"{name[:1].upper()}{name[1:]} is removed; {status}."


def explorable() -> Explorable:
    """Remove any block of a finished array."""
    places = range(-1, len(blocks()))
    names = {-1: "nothing", **{number: one.name for number, one in enumerate(blocks())}}
    first_call = next(number for number, one in enumerate(blocks()) if one.mark == "call")
    block = drag(places, first_call + 1, "block", said=lambda number: names[number])
    return explore(draw, block=block)


#: Why the API refuses, by the contract's rule, and in a few words beside the block it is about.
_WHY = {
    "unanswered_call": "Each call needs its result, first thing in the very next message.",
    "unknown_result": "A result needs its call in the message before it.",
    "prefill": "The last message must be the user's: this model doesn't continue a begun answer.",
    "bound_thinking": "On the newest models, thinking is bound to all that stood before it.",
}
_ALONE = {
    "unanswered_call": "its result is missing here",
    "unknown_result": "its call is missing",
    "prefill": "the last message isn't the user's",
    "bound_thinking": "bound to what stood before it",
}


#: Why a block can be removed, by its name.
_MAY_GO = {
    "the thinking": "Its task is done, so it may be left out. Changed, it is refused.",
    "the text before the call": "No id points at it, and no later thinking is bound to it.",
    "the answer": "It holds no call, so no result is left over.",
}


def _content(body: dict[str, Any]) -> str:
    if "input" in body:
        return str(body["input"]["command"])
    return str(next(body[key] for key in ("text", "thinking", "content") if key in body))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text}


def _call(id: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "bash", "input": {"command": command}}


def _result(id: str, output: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": output}

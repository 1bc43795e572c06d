"""The recorded replies as Python, for a learner who wants to write the replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from learnkit.clients.recordings.recording import Recording, Turn
from learnkit.clients.recordings.replay import Miss
from learnkit.clients.scripted import Block, Failure, Reply


def rest_of(recording: Recording, miss: Miss, unused: Iterable[str]) -> dict[str, list[Turn]]:
    """Return the recorded turns that a run has not come to, by agent; the one that missed first."""
    left = set(unused)
    found: dict[str, list[Turn]] = {miss.lane: []}
    for turn in recording.turns:
        if turn.scenario == miss.scenario and turn.id in left:
            found.setdefault(turn.lane, []).append(turn)
    return {lane: turns for lane, turns in found.items() if turns or lane == miss.lane}


def cell(replies: Mapping[str, Sequence[Turn]], miss: Miss) -> str:
    """Return a cell that runs the cell that missed once more, with a list of replies to edit."""
    lanes = {
        lane: [line(turn.answer, miss) for turn in turns] or ['lk.say("Done.")']
        for lane, turns in replies.items()
    }
    if len(lanes) == 1:
        (lines,) = lanes.values()
        listed = "".join(f"    {one},\n" for one in lines)
        body = f"lab.script([\n{listed}])\n"
    else:
        parts = (
            f'    "{lane}": [\n{"".join(f"        {one},{chr(10)}" for one in lines)}    ],\n'
            for lane, lines in lanes.items()
        )
        body = f"lab.script({{\n{''.join(parts)}}})\n"
    head = (
        "# The recorded replies from here on. Change them, then run this cell: it runs the cell\n"
        "# that stopped once more, and gives these replies where the recording has none.\n"
    )
    return head + body


def line(answer: Reply | Failure, miss: Miss) -> str:
    """Return a reply as the expression that makes it."""
    if isinstance(answer, Failure):
        return f"lk.fail({answer.status}, {answer.message!r})"
    blocks: list[Block] = miss.prefix.fill(list(answer.content))
    parts = [_part(block) for block in blocks if block["type"] in ("text", "tool_use")]
    cut = f", stop_reason={answer.stop_reason!r}" if answer.stop_reason else ""
    if len(parts) == 1 and blocks[-1]["type"] == "text":
        return f"lk.say({parts[0]}{cut})"
    if len(parts) == 1 and not cut:
        return parts[0]
    return f"lk.reply({', '.join(parts)}{cut})"


def _part(block: Block) -> str:
    if block["type"] == "text":
        return _literal(block["text"])
    given = block["input"]
    plain = all(isinstance(key, str) and key.isidentifier() for key in given)
    if not plain:
        return f"lk.reply({block!r})"
    arguments = "".join(f", {key}={_literal(value)}" for key, value in given.items())
    return f"lk.use({_literal(block['name'])}{arguments})"


def _literal(value: object) -> str:
    """A value as Python; texts in double quotes, as in the lessons, unless they hold some."""
    if isinstance(value, str) and '"' not in value:
        single = repr(value + '"')  # which repr puts in single quotes
        return f'"{single[1:-2]}"'.replace("\\'", "'")
    return repr(value)

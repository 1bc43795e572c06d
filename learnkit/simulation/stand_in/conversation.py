"""What a request says: the prompt, the calls made for it so far, and what has been delivered since.

Nothing is remembered from one request to the next. A compacted conversation is read from its
summary, if the stand-in wrote it (see ``summary``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from learnkit.clients.scripted import Block, Request
from learnkit.core.transcript import texts

#: A call in a summary: its name, input and the beginning of its result.
_KEPT = re.compile(r"^- called (\w+) (\{.*\}) -> (\".*\")( \(shortened\))?$", re.M)
_FRAME = re.compile(
    r"<(summary|request|inbox|background-results|auto-claimed|reminder|identity|todo|tasks|skill"
    r"|goal|background|conversation)\b[^>]*>\n?(.*?)\n?</\1>",
    re.S,
)
_MAIL = re.compile(r"<message ([^>]*)>\n(.*?)\n</message>", re.S)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_JOB = re.compile(r"^\[([^\]\s]+)\] (completed|failed|timeout|stopped|error)[^\n]*", re.M)
_CLAIMED = re.compile(r"Task #(\d+): (.*)", re.S)
_CLEARED = re.compile(r"\[(?:Previous: used \S+|Large output: .*)\]\Z")
_TEAMMATE = re.compile(r"You are (\S+), [^;]*, in the team [^;]*; your lead is (\S+)\. ")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call.

    Attributes:
        text: as far as it is still there.
        error: the tool failed.
        cut: some or all of the text was removed by compaction.
    """

    text: str
    error: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Past:
    """A call that has a result."""

    name: str
    input: Mapping[str, Any]
    result: Result


@dataclass(frozen=True, slots=True)
class Note:
    """What the harness has delivered: a message or the result of a job.

    Attributes:
        kind: ``mail`` or ``job``.
        text: the message, or the job's report.
        sender: who wrote the message.
        type: of the message, or the status of the job.
        id: of the request that a message is about, or of the job; may be empty.
    """

    kind: str
    text: str
    sender: str = ""
    type: str = ""
    id: str = ""


@dataclass(slots=True)
class Conversation:
    """A request, read.

    Attributes:
        tools: on offer, as in the request.
        system: the system prompt.
        prompt: what was asked last.
        claimed: number of the board's task that the prompt is; None for an ordinary prompt.
        past: calls since the prompt, in order.
        notes: what was delivered since.
        turns: replies since.
        foreign: one of these replies has thinking, so that another model began the work.
        earlier: lines of the replies to earlier prompts, or of the summary in their place.
        replied: lines of the replies since the prompt.
    """

    tools: Sequence[Block]
    system: str
    prompt: str = ""
    claimed: int | None = None
    past: list[Past] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    turns: int = 0
    foreign: bool = False
    earlier: list[str] = field(default_factory=list)
    replied: list[str] = field(default_factory=list)

    @property
    def leader(self) -> str:
        """Who leads the team of which this agent is a teammate; empty for any other agent."""
        found = _TEAMMATE.search(self.system)
        return found[2] if found else ""

    def begin(self, prompt: str, claimed: int | None = None) -> None:
        """Take a new prompt; what was done for an earlier one doesn't count for it.

        Args:
            prompt: what is asked now.
            claimed: number of the board's task that the prompt is; None for an ordinary prompt.
        """
        self.earlier += self.replied
        self.prompt, self.claimed, self.replied = prompt, claimed, []
        self.past, self.notes, self.turns, self.foreign = [], [], 0, False


def read(request: Request) -> Conversation:
    """Read a request.

    Args:
        request: the JSON body.
    """
    system = "\n".join(texts(request.get("system") or ""))
    barred = (request.get("tool_choice") or {}).get("type") == "none"
    found = Conversation(() if barred else tuple(request.get("tools") or ()), system)
    calls: dict[str, Block] = {}
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            found.turns += 1
            kinds = {block["type"] for block in blocks}
            found.replied += [line for text in texts(blocks) for line in text.splitlines()]
            found.foreign |= bool(kinds & {"thinking", "redacted_thinking"})
            calls |= {block["id"]: block for block in blocks if block["type"] == "tool_use"}
            continue
        answers = any(block["type"] == "tool_result" for block in blocks)
        for block in blocks:
            if block["type"] == "tool_result" and block["tool_use_id"] in calls:
                _take_result(found, calls[block["tool_use_id"]], block)
            elif block["type"] == "text" and message["role"] == "user":
                _take_text(found, block["text"], prompts=not answers)
    return found


def _take_result(found: Conversation, call: Block, block: Block) -> None:
    text = "\n".join(texts(block.get("content") or ""))
    error = bool(block.get("is_error"))
    cut = not error and bool(_CLEARED.match(text))
    found.past.append(Past(call["name"], call["input"], Result(text, error, cut)))
    if call["name"] == "read_inbox":
        found.notes += _notes(text)


def _take_text(found: Conversation, text: str, *, prompts: bool) -> None:
    """Take in a text block; a new prompt is one that doesn't follow results."""
    plain = _FRAME.sub("", text).strip()
    if plain and prompts:
        found.begin(plain)
    for kind, inner in _FRAME.findall(text):
        if kind == "summary":
            found.past += _kept(inner)
            found.earlier += inner.splitlines()
            found.notes += _notes(inner)
        elif kind == "request" and prompts:
            # The summary before it tells what was done for this very prompt.
            inside = _CLAIMED.match(_FRAME.sub(r"\2", inner).strip())
            if inside and "<auto-claimed>" in inner:
                found.prompt, found.claimed = inside[2].strip(), int(inside[1])
            else:
                found.prompt = _FRAME.sub("", inner).strip()
        elif kind == "auto-claimed" and (task := _CLAIMED.match(inner)):
            found.begin(task[2].strip(), int(task[1]))
    found.notes += _notes(text if "<summary" not in text else "")


def _notes(text: str) -> Iterator[Note]:
    """The messages and job results in the harness's frames."""
    for kind, inner in _FRAME.findall(text):
        if kind == "inbox":
            for head, body in _MAIL.findall(inner):
                about = dict(_ATTRIBUTE.findall(head))
                yield Note(
                    "mail",
                    body,
                    about.get("from", ""),
                    about.get("type", ""),
                    about.get("request_id", ""),
                )
        elif kind == "background-results":
            starts = [*_JOB.finditer(inner)]
            ends = [*(one.start() for one in starts[1:]), len(inner)]
            for one, end in zip(starts, ends, strict=True):
                yield Note("job", inner[one.start() : end].strip(), type=one[2], id=one[1])


def _kept(summary: str) -> Iterator[Past]:
    """The calls in a summary that the stand-in wrote."""
    for name, input, text, short in _KEPT.findall(summary):
        try:
            # A result that was cleared before the summary is a placeholder there, too.
            shown = json.loads(text)
            result = Result(shown, cut=bool(short or _CLEARED.match(shown)))
            yield Past(name, json.loads(input), result)
        except ValueError:
            continue  # another hand has written the line

"""Header sentences: what happened at this step, in words, from the event alone.

Most events have a template, filled with the event's details; see ``_Filler`` for how a detail is
written. An event whose sentence depends on more than that has a function.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

from learnkit.core.events import Event
from learnkit.views.drawing.text import (
    arguments,
    as_list,
    blocks_of,
    content_text,
    count,
    listed,
    one_line,
)


def describe(event: Event) -> str:
    """Say what an event means, in one plain sentence; types this does not know are named.

    Args:
        event: any event.
    """
    sentence = _SENTENCES.get(event.type)
    if sentence is None:
        return ended(f"{event.type}.")
    if isinstance(sentence, str):
        return ended(_filled(sentence, event.data))
    return ended(sentence(event.data))


def ended(sentence: str) -> str:
    """A sentence on one line, without a second full stop after a quotation that has its own.

    Args:
        sentence: with its full stop.
    """
    return re.sub("([.!?…]”)\\.$", r"\1", one_line(sentence, 240))


def quoted(text: str, limit: int = 60) -> str:
    """The beginning of a text, in quotation marks.

    Args:
        text: raw text.
        limit: columns.
    """
    return f"“{one_line(text, limit)}”"


def stopped(reason: str) -> str:
    """Why a reply or a run ended, in words.

    Args:
        reason: a ``stop_reason``, or the ``reason`` of ``run.ended``.
    """
    return _REASONS.get(reason, reason or "no reason given")


def outcome(data: dict[str, Any]) -> str:
    """How a call came to its end, from the details of ``tool.ended``.

    Args:
        data: of the event.
    """
    how = data.get("how", "ran")
    if how == "ran" and not data.get("is_error"):
        return f"done after {data.get('seconds') or 0.0:.1f} s"
    return _HOW.get(how, str(how))


def _message(data: dict[str, Any]) -> str:
    message, index = data.get("message", {}), data.get("index", "?")
    content = message.get("content")
    blocks = blocks_of(content)
    calls = [block.get("name", "?") for block in blocks if block.get("type") == "tool_use"]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if message.get("role") == "assistant":
        if calls:
            return f"Message {index}: the model calls {listed(calls)}."
        return f"Message {index}: the model says {quoted(content_text(content))}."
    if results:
        failed = sum(bool(block.get("is_error")) for block in results)
        errors = f", {count(failed, 'error')} among them" if failed else ""
        if len(results) == 1:
            errors = ", an error" if failed else ""
        return f"Message {index} brings back {count(len(results), 'result')}{errors}."
    return f"Message {index} enters the array: {quoted(content_text(content))}."


def _ended(data: dict[str, Any]) -> str:
    name, output = data.get("name", "?"), str(data.get("output") or "")
    said = quoted(output) if output else "no output"
    is_done = "is " if data.get("how", "ran") == "ran" and not data.get("is_error") else ""
    return f"{name} {is_done}{outcome(data)}: {said}."


def _decided(data: dict[str, Any]) -> str:
    name, decision, answer = data.get("name", "?"), data.get("decision", "?"), data.get("answer")
    asked = f" and hears {quoted(str(answer), 30)}" if decision == "ask" and answer else ""
    reason = f": {data['reason']}" if data.get("reason") else ""
    verbs = {"allow": "allows", "deny": "denies", "ask": "asks about"}
    return f"The policy {verbs.get(decision, decision)} {name}{asked}{reason}."


def _listed(data: dict[str, Any]) -> str:
    items = data.get("items", [])
    current = [str(item.get("text", "")) for item in items if item.get("status") == "in_progress"]
    now = f"; in progress: {quoted(current[0])}" if current else ""
    return f"{data.get('done', 0)} of {count(data.get('total', 0), 'item')} completed{now}."


def _replied(data: dict[str, Any]) -> str:
    usage = data.get("usage") or {}
    tokens = f"{usage.get('input_tokens', 0):,} tokens in, {usage.get('output_tokens', 0):,} out"
    tokens = tokens if usage else "the server does not say how many tokens"
    if data.get("purpose") == "summary":
        return f"The model has written a summary ({tokens})."
    why = stopped(data.get("stop_reason", ""))
    return f"Turn {data.get('turn', '?')}: the reply is here, {why} ({tokens})."


def _requested(data: dict[str, Any]) -> str:
    if data.get("purpose") == "summary":
        return "The model is asked for a summary."
    verb = "goes" if data.get("messages") == 1 else "go"
    return _filled(f"Turn {{turn}}: {{messages:message}} {verb} to the model.", data)


def _delegated(data: dict[str, Any]) -> str:
    task = str(data.get("description") or data.get("prompt", ""))
    parent = data.get("parent", "?")
    return f"A subagent of {parent} starts in a context of its own: {quoted(task)}."


def _task(task: Any) -> str:
    return _filled("task #{id} ({subject:line})", task if isinstance(task, dict) else {})


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _freed(data: dict[str, Any]) -> str:
    ids = [f"#{id}" for id in as_list(data.get("freed"))]
    verb = "is" if len(ids) == 1 else "are"
    after = f"; {listed(ids)} {verb} ready now" if ids else ""
    return f"{_capital(_task(data.get('task')))} is completed{after}."


def _started(data: dict[str, Any]) -> str:
    task = data.get("task")
    owner = task.get("owner") if isinstance(task, dict) else None
    return f"{owner} begins {_task(task)}." if owner else f"{_capital(_task(task))} begins."


def _asked(data: dict[str, Any]) -> str:
    request = data.get("request")
    if isinstance(request, dict) and request.get("kind") == "shutdown":
        template = "{sender} asks {to} to shut down: request {id} is pending."
    else:
        template = "{sender} submits plan {id} to {to}: {content:quoted}."
    return _filled(template, request)


def _tree(tree: Any) -> str:
    about = " for task #{task_id}" if isinstance(tree, dict) and tree.get("task_id") else ""
    return _filled(f"{{name}}{about}", tree)


_HOW = {
    "ran": "reports an error",
    "refused": "is refused",
    "unknown": "does not exist",
    "invalid": "is not run, its arguments do not fit",
    "cancelled": "is cancelled",
    "cut": "is not run, the reply was cut off",
    "raised": "fails",
}

_REASONS = {
    "end_turn": "the model is done",
    "tool_use": "the model wants a tool",
    "max_tokens": "cut off at the token limit",
    "stop_sequence": "stopped by a stop sequence",
    "pause_turn": "paused by the server",
    "refusal": "the model refuses",
    "model_context_window_exceeded": "the context window is full",
    "cancelled": "cancelled",
    "turn_limit": "the turn limit is reached",
}

_DELIVERIES = {"check": "is looked at", "stop": "is told, and takes another turn"}
_TOLD = "is told, after the results of this turn"
_VERDICTS = {"approved": "approves", "rejected": "rejects"}
_ASKERS = {
    "tool": "The model asks",
    "threshold": "The threshold is passed; compaction asks",
    "person": "A person asks",
}

_STATES = {"working": "working", "idle": "idle, and waits for mail", "shutdown": "shut down"}

#: How a detail is written, by the format in its template.
_FORMATS: dict[str, Callable[[Any], str]] = {
    "": lambda value: "?" if value is None else str(value),
    ",": lambda value: f"{value or 0:,}",
    "text": lambda value: str(value or ""),
    "line": lambda value: one_line(str(value or ""), 60),
    "quoted": lambda value: quoted(str(value or "")),
    "input": lambda value: one_line(arguments({} if value is None else value), 60),
    "stopped": lambda value: stopped(value or ""),
    "status": lambda value: _STATES.get(str(value), "?"),
    "Task": lambda value: _capital(_task(value)),
    "tree": _tree,
    "why": lambda value: f": {value}" if value else "",
    "note": lambda value: f": {quoted(str(value))}" if value else "",
    "focus": lambda value: f" with focus on {quoted(str(value))}" if value else "",
    "kind": lambda value: str(value or "request"),
    "exit": lambda value: f" (exit code {value})" if value else "",
    "seconds": lambda value: f"{value or 0.0:.1f} s",
    "problems": lambda value: one_line("; ".join(map(str, as_list(value))), 120),
    "output": lambda value: quoted(str(value or "no output")),
    "asker": lambda value: _ASKERS.get(str(value), "Somebody asks"),
    "verdict": lambda value: _VERDICTS.get(str(value), "requests changes to"),
    "delivery": lambda value: _DELIVERIES.get(str(value), _TOLD),
}


class _Filler(string.Formatter):
    """Fills a template: ``{mail.to}`` is a detail of a detail, ``{name:line}`` has a format.

    The formats are those of ``_FORMATS``, and a noun: ``{turns:turn}`` becomes "3 turns". The
    number is the detail, or the length of a list.
    """

    def get_field(self, name: str, _: Any, data: Any) -> tuple[Any, str]:
        for key in name.split("."):
            data = data.get(key) if isinstance(data, dict) else None
        return data, name

    def format_field(self, value: Any, format: str) -> str:
        if format in _FORMATS:
            return _FORMATS[format](value)
        return count(value if isinstance(value, int) else len(value or ()), format)


def _filled(template: str, data: Any) -> str:
    return _Filler().vformat(template, (), data)


_SENTENCES: dict[str, str | Callable[[dict[str, Any]], str]] = {
    "run.started": "The run starts with {prompt:quoted}.",
    "run.ended": "The run ends after {turns:turn}: {reason:stopped}.",
    "message.added": _message,
    "messages.rewritten": "The array is rewritten and has {messages:message} now{why:why}.",
    "model.requested": _requested,
    "model.replied": _replied,
    "model.failed": "Turn {turn} fails: {status:text} {error_type:text}, {message:quoted}.",
    "model.retried": (
        "Turn {turn}: {error_type:text}, {message:quoted}; asked again after {seconds:seconds}."
    ),
    "reply.repaired": "Turn {turn}: the reply was put in order; it had {problems:problems}.",
    "tool.started": "{name} runs: {input:input}",
    "tool.ended": _ended,
    "permission.decided": _decided,
    "todo.updated": _listed,
    "todo.rejected": "An update of the list is refused: {problem:text}.",
    "todo.reminded": "After {rounds:round} without a look at the list a reminder follows the "
    "results.",
    "subagent.started": _delegated,
    "subagent.ended": "A subagent ends after {turns:turn}: of its ≈{tokens:,} tokens "
    "≈{returned:,} go back.",
    "skills.listed": "{skills:skill} stand in the system prompt by name and description, "
    "≈{catalogue:,} tokens.",
    "skill.loaded": "The instructions of {name} are loaded, ≈{tokens:,} tokens.",
    "skill.read": "{file} of {name} is read, ≈{tokens:,} tokens.",
    "board.opened": "The board is as it was left: {tasks:task}.",
    "task.created": "{task:Task} is on the board.",
    "task.updated": "{task:Task} is changed.",
    "task.started": _started,
    "task.completed": _freed,
    "task.returned": "{task:Task} is given back, and nobody's again.",
    "task.failed": "{task:Task} has failed.",
    "task.deleted": "{task:Task} is deleted.",
    "task.refused": "The board refuses: {problem:text}.",
    "job.started": "Job {id} starts in the background: {command:line}",
    "job.ended": "Job {id}: {status}{code:exit} after {seconds:seconds}: {output:output}.",
    "job.delivered": "The model hears: {ids:result} of a background job {by:delivery}.",
    "team.spawned": "{name} joins the team as {role}: {prompt:quoted}.",
    "team.status": "{name} is {status:status}.",
    "mail.sent": "{mail.from} writes to {mail.to}: {mail.content:quoted}.",
    "mail.read": "{by} reads {ids:message}.",
    "request.opened": _asked,
    "request.answered": "{request.to} {request.state:verdict} {request.kind:kind} {request.id}"
    "{request.note:note}.",
    "request.expired": "Request {request.id} expires: {request.note:text}.",
    "request.refused": "That does not count: {problem:text}.",
    "worktree.create": "Worktree {tree:tree} is made.",
    "worktree.merge": "Worktree {tree:tree} is merged into the main branch.",
    "worktree.keep": "Worktree {tree:tree} is kept.",
    "worktree.remove": "Worktree {tree:tree} is removed; its branch stays.",
    "worktree.failed": "That did not work: {problem:text}.",
    "worktree.commits": "There are {commits:commit} on all branches.",
    "tokens.estimated": "The next request has ≈{tokens:,} tokens; the threshold is {threshold:,}.",
    "compaction.cleared": "{results:old result} cleared: ≈{before:,} tokens become ≈{after:,}.",
    "compaction.asked": "{by:asker} for a summary{focus:focus}.",
    "compaction.summarised": "The conversation is a summary now: ≈{before:,} tokens become "
    "≈{after:,}.",
    "compaction.failed": "The summary fails, and the messages stay as they are: {error:text}.",
}

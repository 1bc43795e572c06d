"""Header sentences: what happened at this step, in words, from the event alone."""

from __future__ import annotations

import re
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
    return ended(sentence(event.data) if sentence else f"{event.type}.")


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


def _part(data: dict[str, Any], name: str) -> dict[str, Any]:
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _task(data: dict[str, Any]) -> str:
    task = _part(data, "task")
    return f"task #{task.get('id', '?')} ({one_line(str(task.get('subject', '')), 60)})"


def _freed(data: dict[str, Any]) -> str:
    ids = [f"#{id}" for id in as_list(data.get("freed"))]
    verb = "is" if len(ids) == 1 else "are"
    after = f"; {listed(ids)} {verb} ready now" if ids else ""
    return f"{_capital(_task(data))} is completed{after}."


def _started(data: dict[str, Any]) -> str:
    owner = _part(data, "task").get("owner")
    return f"{owner} begins {_task(data)}." if owner else f"{_capital(_task(data))} begins."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _job_delivered(data: dict[str, Any]) -> str:
    jobs = count(len(as_list(data.get("ids"))), "result")
    how = {"check": "is looked at", "stop": "is told, and takes another turn"}
    verb = how.get(str(data.get("by")), "is told, after the results of this turn")
    return f"The model hears: {jobs} of a background job {verb}."


def _job_ended(data: dict[str, Any]) -> str:
    code = f" (exit code {data['code']})" if data.get("code") else ""
    said = quoted(str(data.get("output") or "no output"), 60)
    seconds = data.get("seconds") or 0.0
    status = data.get("status", "?")
    return f"Job {data.get('id', '?')}: {status}{code} after {seconds:.1f} s: {said}."


def _mailed(data: dict[str, Any]) -> str:
    mail = _part(data, "mail")
    said = quoted(str(mail.get("content", "")))
    return f"{mail.get('from', '?')} writes to {mail.get('to', '?')}: {said}."


def _asked(data: dict[str, Any]) -> str:
    request = _part(data, "request")
    who, to, id = (request.get(key, "?") for key in ("sender", "to", "id"))
    if request.get("kind") == "shutdown":
        return f"{who} asks {to} to shut down: request {id} is pending."
    return f"{who} submits plan {id} to {to}: {quoted(str(request.get('content', '')))}."


def _answered(data: dict[str, Any]) -> str:
    request = _part(data, "request")
    who, id, state = (request.get(key, "?") for key in ("to", "id", "state"))
    note = f": {quoted(str(request['note']))}" if request.get("note") else ""
    verbs = {"approved": "approves", "rejected": "rejects"}
    verb = verbs.get(str(state), "requests changes to")
    return f"{who} {verb} {request.get('kind', 'request')} {id}{note}."


def _expired(data: dict[str, Any]) -> str:
    request = _part(data, "request")
    return f"Request {request.get('id', '?')} expires: {request.get('note', '')}."


def _tree(data: dict[str, Any]) -> str:
    tree = _part(data, "tree")
    task = f" for task #{tree['task_id']}" if tree.get("task_id") else ""
    return f"{tree.get('name', '?')}{task}"


_STATES: dict[Any, str] = {
    "working": "working",
    "idle": "idle, and waits for mail",
    "shutdown": "shut down",
}

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

_ASKERS = {
    "tool": "The model asks",
    "threshold": "The threshold is passed; compaction asks",
    "person": "A person asks",
}

_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "run.started": lambda data: f"The run starts with {quoted(data.get('prompt', ''))}.",
    "run.ended": lambda data: (
        f"The run ends after {count(data.get('turns', 0), 'turn')}: "
        f"{stopped(data.get('reason', ''))}."
    ),
    "message.added": _message,
    "messages.rewritten": lambda data: (
        f"The array is rewritten and has {count(len(data.get('messages', [])), 'message')} now"
        f"{': ' + data['why'] if data.get('why') else ''}."
    ),
    "model.requested": lambda data: (
        "The model is asked for a summary."
        if data.get("purpose") == "summary"
        else f"Turn {data.get('turn', '?')}: {count(data.get('messages', 0), 'message')} "
        f"{'goes' if data.get('messages') == 1 else 'go'} to the model."
    ),
    "model.replied": _replied,
    "model.failed": lambda data: (
        f"Turn {data.get('turn', '?')} fails: {data.get('status') or ''} "
        f"{data.get('error_type', '')}, {quoted(data.get('message', ''))}."
    ),
    "model.retried": lambda data: (
        f"Turn {data.get('turn', '?')}: {data.get('error_type', '')}, "
        f"{quoted(data.get('message', ''))}; asked again after {data.get('seconds') or 0.0:.1f} s."
    ),
    "reply.repaired": lambda data: (
        f"Turn {data.get('turn', '?')}: the reply was put in order; it had "
        f"{one_line('; '.join(map(str, as_list(data.get('problems')))), 120)}."
    ),
    "tool.started": lambda data: (
        f"{data.get('name', '?')} runs: {one_line(arguments(data.get('input', {})), 60)}"
    ),
    "tool.ended": _ended,
    "permission.decided": _decided,
    "todo.updated": _listed,
    "todo.rejected": lambda data: f"An update of the list is refused: {data.get('problem', '')}.",
    "todo.reminded": lambda data: (
        f"After {count(data.get('rounds', 0), 'round')} without a look at the list a reminder "
        "follows the results."
    ),
    "subagent.started": lambda data: (
        f"A subagent of {data.get('parent', '?')} starts in a context of its own: "
        f"{quoted(data.get('description') or data.get('prompt', ''))}."
    ),
    "subagent.ended": lambda data: (
        f"A subagent ends after {count(data.get('turns', 0), 'turn')}: of its "
        f"≈{data.get('tokens', 0):,} tokens ≈{data.get('returned', 0):,} go back."
    ),
    "skills.listed": lambda data: (
        f"{count(len(data.get('skills', {})), 'skill')} stand in the system prompt by name and "
        f"description, ≈{data.get('catalogue', 0):,} tokens."
    ),
    "skill.loaded": lambda data: (
        f"The instructions of {data.get('name', '?')} are loaded, "
        f"≈{data.get('tokens', 0):,} tokens."
    ),
    "skill.read": lambda data: (
        f"{data.get('file', '?')} of {data.get('name', '?')} is read, "
        f"≈{data.get('tokens', 0):,} tokens."
    ),
    "board.opened": lambda data: (
        f"The board is as it was left: {count(len(data.get('tasks') or []), 'task')}."
    ),
    "task.created": lambda data: f"{_capital(_task(data))} is on the board.",
    "task.updated": lambda data: f"{_capital(_task(data))} is changed.",
    "task.started": _started,
    "task.completed": _freed,
    "task.returned": lambda data: f"{_capital(_task(data))} is given back, and nobody's again.",
    "task.failed": lambda data: f"{_capital(_task(data))} has failed.",
    "task.deleted": lambda data: f"{_capital(_task(data))} is deleted.",
    "task.refused": lambda data: f"The board refuses: {data.get('problem', '')}.",
    "job.started": lambda data: (
        f"Job {data.get('id', '?')} starts in the background: "
        f"{one_line(str(data.get('command', '')), 60)}"
    ),
    "job.ended": _job_ended,
    "job.delivered": _job_delivered,
    "team.spawned": lambda data: (
        f"{data.get('name', '?')} joins the team as {data.get('role', '?')}: "
        f"{quoted(str(data.get('prompt', '')))}."
    ),
    "team.status": lambda data: (
        f"{data.get('name', '?')} is {_STATES.get(data.get('status'), '?')}."
    ),
    "mail.sent": _mailed,
    "mail.read": lambda data: (
        f"{data.get('by', '?')} reads {count(len(data.get('ids') or []), 'message')}."
    ),
    "request.opened": _asked,
    "request.answered": _answered,
    "request.expired": _expired,
    "request.refused": lambda data: f"That does not count: {data.get('problem', '')}.",
    "worktree.create": lambda data: f"Worktree {_tree(data)} is made.",
    "worktree.merge": lambda data: f"Worktree {_tree(data)} is merged into the main branch.",
    "worktree.keep": lambda data: f"Worktree {_tree(data)} is kept.",
    "worktree.remove": lambda data: f"Worktree {_tree(data)} is removed; its branch stays.",
    "worktree.failed": lambda data: f"That did not work: {data.get('problem', '')}.",
    "worktree.commits": lambda data: (
        f"There are {count(len(data.get('commits') or []), 'commit')} on all branches."
    ),
    "tokens.estimated": lambda data: (
        f"The next request has ≈{data.get('tokens', 0):,} tokens; the threshold is "
        f"{data.get('threshold', 0):,}."
    ),
    "compaction.cleared": lambda data: (
        f"{count(len(data.get('results', [])), 'old result')} cleared: "
        f"≈{data.get('before', 0):,} tokens become ≈{data.get('after', 0):,}."
    ),
    "compaction.asked": lambda data: (
        f"{_ASKERS.get(data.get('by', ''), 'Somebody asks')} for a summary"
        f"{' with focus on ' + quoted(data['focus']) if data.get('focus') else ''}."
    ),
    "compaction.summarised": lambda data: (
        f"The conversation is a summary now: ≈{data.get('before', 0):,} tokens become "
        f"≈{data.get('after', 0):,}."
    ),
    "compaction.failed": lambda data: (
        f"The summary fails, and the messages stay as they are: {data.get('error', '')}."
    ),
}

"""Claude Code's sessions: one JSON line for each content block, prompt, result and notice.

Lines with one message id are one reply. ``parentUuid`` links a line to the one before; a prompt
that is linked to an earlier one takes the conversation back to there. Subagents are lines with
``isSidechain``, in the same file or in files of their own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.events import loop
from learnkit.events.declaration import part
from learnkit.events.text import blocks_of, content_text, one_line
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, Told, entries, number, seconds, table, text

#: Types of lines: with what was said, and notices.
_SAID = {"user", "assistant", "system"}
_TYPES = _SAID | {
    *("attachment", "summary", "ai-title", "custom-title", "progress", "queue-operation"),
    *("file-history-snapshot", "last-prompt", "mode", "permission-mode", "cost-state"),
}
_SEEN = """
type uuid parentUuid logicalParentUuid timestamp sessionId version cwd gitBranch slug message
isSidechain isMeta isCompactSummary isVisibleInTranscriptOnly isApiErrorMessage agentId userType
entrypoint requestId toolUseResult toolUseID toolDenialKind sourceToolUseID mcpMeta promptId effort
sourceToolAssistantUUID todos thinkingMetadata permissionMode planContent imagePasteIds subtype
level content compactMetadata microcompactMetadata error apiError cause retryInMs retryAttempt
maxRetries durationMs messageCount origin forkedFrom sessionKind interruptedMessageId hookCount
hookInfos hookErrors hasOutput preventedContinuation stopReason apiErrorStatus"""
#: The fields that were seen in what was said.
_FIELDS = set(_SEEN.split())
#: A line has at least one of these.
_OURS = {"uuid", "sessionId", "leafUuid", "snapshot"}
#: User messages that the harness writes.
_INJECTED = re.compile(r"\s*<(command-|local-command-|task-notification|system-reminder|bash-)")
_STOPPED = "[Request interrupted by user"
_REFUSALS = ("The user doesn't want to", "Permission to use", "Permission for this")


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of Claude Code's."""
    kind = entry.get("type")
    return isinstance(kind, str) and kind in _TYPES and bool(entry.keys() & _OURS)


def read(path: Path, reading: Reading) -> tuple[list[Told], int | None]:
    """Read a session and the files of its subagents."""
    session = _Session(reading)
    for line, entry in entries(path, reading):
        session.take(line, entry, "")
    for file in _subagents(path, session):
        for line, entry in entries(file, reading):
            session.take(line, entry, file.stem.removeprefix("agent-"))
    lanes = session.linked()
    return merged(lanes), lanes[0].hidden


def _subagents(path: Path, session: _Session) -> list[Path]:
    """The files of subagents: in a folder of the session, or beside it in older versions."""
    found = list((path.parent / path.stem / "subagents").glob("agent-*.jsonl"))
    ids = {id for id in session.agents if re.fullmatch(r"[\w-]{1,80}", id)}
    names = {f"agent-{id}.jsonl" for id in ids} - {one.name for one in found}
    found += (path.parent / name for name in names)
    return sorted(one for one in found if one.is_file() and not one.is_symlink())


class _Session:
    """What has been read so far.

    Attributes:
        agents: id of a subagent -> the id of its parent and of its call, once a line links them.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.agents: dict[str, tuple[str, str]] = {}
        self._lanes: dict[str, Lane] = {"": Lane("lead")}  # by id of the agent
        self._places: dict[str, tuple[str, int]] = {}  # of a uuid: agent, messages with it
        self._boundary: dict[str, Any] = {}

    def linked(self) -> list[Lane]:
        """All lanes, the main one first, each subagent's with the call that it works for."""
        main, by_prompt = self._lanes[""], dict[str, tuple[str, str]]()
        for key, lane in self._lanes.items():
            lane.over()
            for call, (_, given) in lane.calls.items():
                by_prompt[text(table(given).get("prompt"))] = key, call
        for key, lane in self._lanes.items():
            if key:
                prompt = content_text(lane.messages[0]["content"]) if lane.messages else ""
                owner, call = self.agents.get(key) or by_prompt.get(prompt) or ("", "")
                lane.child_of(main if owner == key else self._lanes.get(owner, main), call, key)
        return list(self._lanes.values())

    def take(self, line: int, entry: dict[str, Any], agent: str) -> None:
        """Read one line of the main file, or of a subagent's."""
        reading, kind, id = self.reading, text(entry.get("type")), text(entry.get("uuid"))
        if id in self._places:
            reading.lines["repeated"] += 1  # a session that was resumed repeats its first part
            return
        facts = {"versions": "version", "id": "sessionId", "cwd": "cwd", "branch": "gitBranch"}
        reading.note(**{name: entry.get(key) for name, key in facts.items()})
        if not agent and entry.get("isSidechain") is True:
            above = self._places.get(text(entry.get("parentUuid")), ("", 0))[0]
            agent = text(entry.get("agentId")) or above or id or "sidechain"
        lane = self._lanes.setdefault(agent, Lane(agent))
        time = seconds(entry.get("timestamp"))
        match kind:
            case "user":
                self._user(lane, agent, entry, time)
            case "assistant":
                self._assistant(lane, entry, time)
            case "system":
                self._system(lane, entry, time)
            case "attachment":
                queued = table(entry.get("attachment"))
                if queued.get("type") == "queued_command" and queued.get("prompt"):
                    self._said(lane, reading.kept(queued["prompt"]), time)
            case "progress":
                started = table(entry.get("data")).get("agentId")
                self._link(started, agent, entry.get("parentToolUseID"))
        known = _FIELDS if kind in _SAID else entry.keys() if kind in _TYPES else ()
        reading.check(lane, line, kind, entry, known)
        if id:
            turn = lane.turn  # its reply and their results are no messages yet
            self._places[id] = agent, len(lane.messages) + bool(turn) + bool(turn and turn.answer)

    def _link(self, child: Any, agent: str, call: Any) -> None:
        if isinstance(child, str) and isinstance(call, str):
            self.agents.setdefault(child, (agent, call))

    def _user(self, lane: Lane, agent: str, entry: dict[str, Any], time: float | None) -> None:
        content = table(entry.get("message")).get("content")
        outcome = table(entry.get("toolUseResult"))
        rest = []
        for block in blocks_of(content):
            if block.get("type") != "tool_result":
                rest.append(block)
                continue
            call, failed = text(block.get("tool_use_id")), block.get("is_error") is True
            self._link(outcome.get("agentId"), agent, call)
            result = self.reading.kept(block.get("content")) or ""
            denied = entry.get("toolDenialKind") or content_text(result).startswith(_REFUSALS)
            took = number(outcome.get("totalDurationMs") or outcome.get("durationMs")) / 1000
            how: loop.How = "refused" if failed and denied else "raised" if failed else "ran"
            lane.result(call, result, time, failed=failed, how=how, took=took or None)
        if not rest:
            return
        said = self.reading.kept(content if isinstance(content, str) else rest)
        if entry.get("isCompactSummary") is True:
            lane.summarised([{"role": "user", "content": said}], time, **self._boundary)
            return
        if entry.get("isMeta") is not True:
            self._rewind(lane, agent, entry)
        self._said(lane, said, time, entry.get("isMeta") is True)

    def _said(self, lane: Lane, said: Any, time: float | None, injected: bool = False) -> None:
        plain = content_text(said)
        stopped = plain.startswith(_STOPPED)
        injected = injected or stopped or bool(_INJECTED.match(plain))
        lane.user(said, time, injected=injected)
        if stopped:
            lane.end("cancelled")
        elif not injected and lane.name == "lead":
            self.reading.note(title=one_line(plain, 200))

    def _rewind(self, lane: Lane, agent: str, entry: dict[str, Any]) -> None:
        """Take the array back, if the prompt doesn't follow its last message."""
        lane.over()
        parent = entry.get("parentUuid")
        owner, place = self._places.get(text(parent), ("" if parent else agent, 0))
        if owner == agent and (parent is None or text(parent) in self._places):
            later = (blocks_of(message["content"]) for message in lane.messages[place:])
            # Results that came at the same time are not linked one after the other.
            if any(one.get("type") != "tool_result" for blocks in later for one in blocks):
                lane.rewind(place)

    def _assistant(self, lane: Lane, entry: dict[str, Any], time: float | None) -> None:
        message = table(entry.get("message"))
        blocks = blocks_of(self.reading.kept(message.get("content")))
        model = text(message.get("model"))
        if entry.get("isApiErrorMessage") is True:
            lane.over()
            lane.asked()
            kind, said = text(entry.get("error")) or "api_error", content_text(blocks)
            lane.add(loop.ModelFailed(turn=lane.turns, error_type=kind, message=said), time)
            return
        self.reading.note(models=model.replace("<synthetic>", ""))
        id = message.get("id") or entry.get("requestId") or entry.get("uuid")
        counts = message.get("usage")
        usage = part(loop.UsageData, _counts(counts)) if isinstance(counts, dict) else None
        stop = text(message.get("stop_reason"))
        lane.reply(text(id), blocks, time, usage=usage, model=model, stop=stop)

    def _system(self, lane: Lane, entry: dict[str, Any], time: float | None) -> None:
        about = table(entry.get("compactMetadata") or entry.get("microcompactMetadata"))
        before = number(about.get("preTokens"))
        match entry.get("subtype"):
            case "compact_boundary":
                by = "person" if about.get("trigger") == "manual" else "threshold"
                after = number(about.get("postTokens"))
                self._boundary = {"by": by, "before": before, "after": after}
            case "microcompact_boundary":
                ids = about.get("compactedToolIds")
                known = lane.calls.keys() & set(filter(text, ids if isinstance(ids, list) else []))
                after = max(0, before - number(about.get("tokensSaved")))
                lane.cleared(known, before, after, time)
            case "api_error":
                error = table(entry.get("error"))
                inner = table(table(error.get("error")).get("error"))
                retried = loop.ModelRetried(
                    turn=lane.turns + 1,
                    seconds=number(entry.get("retryInMs")) / 1000,
                    status=number(error.get("status")) or None,
                    error_type=text(inner.get("type")) or "connection",
                    message=text(inner.get("message"))[:2000],
                )
                lane.aside(retried)


def _counts(usage: dict[str, Any]) -> dict[str, Any]:
    """A usage's counts, the kinds of its cache writes, and its tariff: what the cost depends on."""
    counts: dict[str, Any] = {
        key: value for key, value in usage.items() if type(value) is int and value >= 0
    }
    kinds = usage.get("cache_creation")
    if isinstance(kinds, dict) and {*map(type, kinds.values())} == {int}:
        counts["cache_creation"] = kinds
    tariff = ("speed", "service_tier", "inference_geo")
    return counts | {key: usage[key] for key in tariff if isinstance(usage.get(key), str)}

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
from learnkit.events.text import blocks_of, content_text
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, Told, entries, number, seconds, table, text

#: Types of lines: with what was said, and notices.
_SAID = {"user", "assistant", "system"}
_TYPES = _SAID | {
    *("attachment", "summary", "ai-title", "custom-title", "progress", "queue-operation"),
    *("file-history-snapshot", "last-prompt", "mode", "permission-mode", "cost-state"),
}
#: The fields that were seen in what was said.
_SEEN = """
type uuid parentUuid logicalParentUuid timestamp sessionId version cwd gitBranch slug message
isSidechain isMeta isCompactSummary isVisibleInTranscriptOnly isApiErrorMessage agentId userType
entrypoint requestId toolUseResult toolUseID toolDenialKind sourceToolUseID mcpMeta promptId effort
sourceToolAssistantUUID todos thinkingMetadata permissionMode planContent imagePasteIds subtype
level content compactMetadata microcompactMetadata error apiError cause retryInMs retryAttempt
maxRetries durationMs messageCount origin forkedFrom sessionKind interruptedMessageId hookCount
hookInfos hookErrors hasOutput preventedContinuation stopReason apiErrorStatus"""
_FIELDS = set(_SEEN.split())
#: A line has at least one of these.
_OURS = {"uuid", "sessionId", "leafUuid", "snapshot"}
#: User messages that the harness writes.
_INJECTED = re.compile(r"\s*<(command-|local-command-|task-notification|system-reminder|bash-)")
_STOPPED = "[Request interrupted by user"
_REFUSALS = ("The user doesn't want to", "Permission to use", "Permission for this")


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of Claude Code's."""
    return text(entry.get("type")) in _TYPES and bool(entry.keys() & _OURS)


def read(path: Path, reading: Reading) -> list[Told]:
    """Read a session and the files of its subagents."""
    session = _Session(reading)
    found = (path.parent / path.stem / "subagents").glob("agent-*.jsonl")
    files = sorted(one for one in found if one.is_file() and not one.is_symlink())
    for agent, file in [("", path), *((one.stem.removeprefix("agent-"), one) for one in files)]:
        for line, entry in entries(file, reading):
            session.take(line, entry, agent)
    return merged(session.linked())


class _Session:
    """What has been read so far."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.main = reading, Lane(reading)
        self._lanes = {"": self.main}  # by id of the agent
        self._callers: dict[str, tuple[Lane, str]] = {}  # by id of the agent, with the call
        self._places: dict[str, tuple[Lane, int]] = {}  # by uuid, with the messages up to it
        self._before = 0  # tokens, at the last boundary of a compaction

    def linked(self) -> list[Lane]:
        """All lanes, the main one first, each subagent's with the call that it works for."""
        by_prompt: dict[str, tuple[Lane, str]] = {}
        for lane in self._lanes.values():
            lane.over()
            for call, (_, given) in lane.calls.items():
                by_prompt[text(table(given).get("prompt"))] = lane, call
        for key, lane in self._lanes.items():
            if key:
                # The request for a summary is in a file of its own, as if it were a subagent's.
                lane.title = "the summary, for a compaction" * key.startswith("acompact-")
                prompt = content_text(lane.messages[0]["content"]) if lane.messages else ""
                caller, call = self._callers.get(key) or by_prompt.get(prompt) or (self.main, "")
                lane.child_of(self.main if caller is lane else caller, call, key)
        return list(self._lanes.values())

    def take(self, line: int, entry: dict[str, Any], agent: str) -> None:
        """Read one line of the main file, or of a subagent's."""
        reading, kind, id = self.reading, text(entry.get("type")), text(entry.get("uuid"))
        if id in self._places:
            reading.lines["repeated"] += 1  # a session that was resumed repeats its first part
            return
        reading.note(versions=entry.get("version"), id=entry.get("sessionId"))
        reading.note(cwd=entry.get("cwd"), branch=entry.get("gitBranch"))
        if not agent and entry.get("isSidechain") is True:
            above, _ = self._places.get(text(entry.get("parentUuid")), (self.main, 0))
            agent = text(entry.get("agentId")) or above.part or id or "sidechain"
        lane = self._lanes.setdefault(agent, Lane(reading, agent))
        time = seconds(entry.get("timestamp"))
        match kind, text(entry.get("subtype")):
            case "user", _:
                self._user(lane, entry, time)
            case "assistant", _:
                self._assistant(lane, entry, time)
            case "attachment", _:
                queued = table(entry.get("attachment"))
                if queued.get("type") == "queued_command" and queued.get("prompt"):
                    self._said(lane, reading.kept(queued["prompt"]), time)
            case "system", "compact_boundary":
                self._before = number(table(entry.get("compactMetadata")).get("preTokens"))
            case "system", "api_error":
                error = table(table(table(entry.get("error")).get("error")).get("error"))
                why, said = text(error.get("type")) or "connection", text(error.get("message"))
                about: Any = {"turn": lane.turns + 1, "error_type": why, "message": said}
                wait = number(entry.get("retryInMs")) / 1000
                lane.add(loop.ModelRetried(seconds=wait, **about))
        known = _FIELDS if kind in _SAID else entry.keys() if kind in _TYPES else ()
        lane.line(line, kind, entry, known)
        if id:
            turn = lane.turn  # its reply and their results are no messages yet
            self._places[id] = lane, len(lane.messages) + bool(turn) + bool(turn and turn.answer)

    def _user(self, lane: Lane, entry: dict[str, Any], time: float | None) -> None:
        content = table(entry.get("message")).get("content")
        rest = []
        for block in blocks_of(content):
            if block.get("type") != "tool_result":
                rest.append(block)
                continue
            call, failed = text(block.get("tool_use_id")), block.get("is_error") is True
            self._callers[text(table(entry.get("toolUseResult")).get("agentId"))] = lane, call
            result = self.reading.kept(block.get("content")) or ""
            denied = entry.get("toolDenialKind") or content_text(result).startswith(_REFUSALS)
            lane.result(call, result, time, failed, refused=denied)
        if not rest:
            return
        said = self.reading.kept(content if isinstance(content, str) else rest)
        if entry.get("isCompactSummary") is True:
            lane.compacted(time, [{"role": "user", "content": said}], self._before)
        elif entry.get("isMeta") is True:
            lane.user(said, time, injected=True)
        else:
            self._rewind(lane, entry.get("parentUuid"))
            self._said(lane, said, time)

    def _said(self, lane: Lane, said: Any, time: float | None) -> None:
        plain = content_text(said)
        stopped = plain.startswith(_STOPPED)
        lane.user(said, time, injected=stopped or bool(_INJECTED.match(plain)))
        if stopped:
            lane.end("cancelled")

    def _rewind(self, lane: Lane, parent: Any) -> None:
        """Take the array back, if a prompt with this parent doesn't follow its last message."""
        lane.over()
        start = (lane, 0) if parent is None else (None, 0)
        owner, place = self._places.get(text(parent), start)
        later = (block for one in lane.messages[place:] for block in blocks_of(one["content"]))
        # Results that came at the same time are not linked one after the other.
        if owner is lane and any(block.get("type") != "tool_result" for block in later):
            del lane.messages[place:]

    def _assistant(self, lane: Lane, entry: dict[str, Any], time: float | None) -> None:
        message = table(self.reading.kept(entry.get("message")))
        blocks, model = blocks_of(message.get("content")), text(message.get("model"))
        if entry.get("isApiErrorMessage") is True:
            lane.over()
            lane.asked()
            kind, said = text(entry.get("error")) or "api_error", content_text(blocks)
            lane.add(loop.ModelFailed(turn=lane.turns, error_type=kind, message=said), time)
            return
        id = message.get("id") or entry.get("requestId") or entry.get("uuid")
        about = {"model": model.replace("<synthetic>", "")}
        about["stop_reason"] = text(message.get("stop_reason"))
        counts = table(message.get("usage"))
        usage = part(loop.UsageData, counts) if counts else None
        lane.reply(text(id), blocks, time, usage=usage, **about)

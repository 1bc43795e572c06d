"""Claude Code's sessions: one JSON line for each content block, prompt, result and notice.

Lines with one message id are one reply. ``parentUuid`` links a line to the one before; a prompt
that is linked to an earlier one takes the conversation back to there. Subagents are lines with
``isSidechain``, in the same file or in files of their own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.events.declaration import part
from learnkit.events.loop import How, ModelRetried, UsageData
from learnkit.events.sessions import SessionLine
from learnkit.events.text import blocks_of, content_text, one_line
from learnkit.sessions.lane import Lane
from learnkit.sessions.source import Reading, entries, number, seconds, table, text

#: Lines that say nothing of the conversation.
_NOTICES = frozenset(
    (
        *("progress", "queue-operation", "file-history-snapshot", "attachment", "last-prompt"),
        *("mode", "permission-mode", "cost-state"),
    )
)
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_FIELDS = """
type uuid parentUuid logicalParentUuid timestamp sessionId version cwd gitBranch slug message
isSidechain isMeta isCompactSummary isVisibleInTranscriptOnly isApiErrorMessage agentId userType
entrypoint requestId toolUseResult toolUseID toolDenialKind sourceToolUseID
sourceToolAssistantUUID todos thinkingMetadata permissionMode promptId planContent mcpMeta
imagePasteIds subtype level content compactMetadata microcompactMetadata error apiError cause
retryInMs retryAttempt maxRetries durationMs messageCount parentToolUseID data teamName origin
forkedFrom sessionKind effort attributionAgent attributionSkill attributionPlugin
interruptedMessageId isSnapshotUpdate messageId snapshot hookCount hookInfos hookErrors
hasOutput preventedContinuation stopReason"""
_KNOWN = frozenset(re.findall(r"\w+", _FIELDS))
#: User messages that the harness writes.
_INJECTED = re.compile(r"\s*<(command-|local-command-|task-notification|system-reminder|bash-)")
_STOPPED = "[Request interrupted by user"
_REFUSALS = ("The user doesn't want to", "Permission to use", "Permission for this")


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of Claude Code's."""
    kind = entry.get("type")
    if kind in ("user", "assistant", "system"):
        return "uuid" in entry or "sessionId" in entry
    return kind in _TITLES or kind in _NOTICES


def read(path: Path, reading: Reading) -> list[Lane]:
    """Read a session and the files of its subagents."""
    session = _Session(reading)
    for line, entry in entries(path, reading):
        session.take(line, entry, "")
    for file in _subagents(path, session):
        for line, entry in entries(file, reading):
            session.take(line, entry, file.stem.removeprefix("agent-"))
    return session.lanes()


def _subagents(path: Path, session: _Session) -> list[Path]:
    """The files of subagents: in a folder of the session, or beside it in older versions."""
    found = sorted((path.parent / path.stem / "subagents").rglob("agent-*.jsonl"))
    known = {one.name for one in found}
    beside = (path.parent / f"agent-{Path(id).name}.jsonl" for id in session.agents)
    found += [one for one in beside if one.name not in known and one.is_file()]
    return [one for one in found if one != path and not one.is_symlink()]


class _Session:
    """What has been read so far.

    Attributes:
        agents: id of a subagent -> the lane and the id of its call, once a line has linked them.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.agents: dict[str, tuple[str, str]] = {}
        self._lanes: dict[str, Lane] = {"": Lane("lead")}  # by id of the agent
        self._places: dict[str, tuple[str, int]] = {}  # of a uuid: agent, messages with it
        self._boundary: dict[str, int] | None = None

    def lanes(self) -> list[Lane]:
        """All lanes, the main one first, each with its subagents linked to their calls."""
        for lane in self._lanes.values():
            lane.over()
        by_prompt = {
            given["prompt"]: (key, call)
            for key, lane in self._lanes.items()
            for call, (_, given) in lane.calls.items()
            if isinstance(given, dict) and isinstance(given.get("prompt"), str)
        }
        for key, lane in self._lanes.items():
            if not key:
                continue
            first = content_text(lane.messages[0]["content"]) if lane.messages else ""
            owner, call = self.agents.get(key) or by_prompt.get(first) or ("", "")
            if owner == key:
                owner, call = "", ""
            lane.parent, lane.call = self._lanes.get(owner, self._lanes[""]), call
            lane.name = lane.parent.child_name(call or key)
        main, *others = self._lanes.values()
        for lane in (main, *others):
            lane.close()
        return [main, *others]

    def take(self, line: int, entry: dict[str, Any], agent: str) -> None:
        """Read one line of the main file, or of a subagent's."""
        reading, kind, id = self.reading, text(entry.get("type")), text(entry.get("uuid"))
        if id in self._places:
            reading.lines["repeated"] += 1  # a session that was resumed repeats its first part
            return
        reading.lines[kind or "no type"] += 1
        reading.unknown.update(f"field {key}"[:80] for key in entry.keys() - _KNOWN)
        self._note(entry)
        parent = text(entry.get("parentUuid"))
        if not agent and entry.get("isSidechain") is True:
            inherited = self._places.get(parent, ("", 0))[0]
            agent = text(entry.get("agentId")) or inherited or id or "sidechain"
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
                data = table(entry.get("data"))
                if data.get("type") == "agent_progress":
                    self._linked(data.get("agentId"), agent, entry.get("parentToolUseID"))
            case _ if kind in _TITLES:
                title = text(entry.get(_TITLES[kind]))
                reading.title = one_line(title, 200) or reading.title
            case _ if kind not in _NOTICES:
                reading.unknown[f"line {kind}"[:80]] += 1
                kept = reading.kept(entry)
                lane.aside(SessionLine(line=line, kind=kind[:80], data=kept), time)
        if id:
            # The open turn's reply comes after the messages so far; its results after it.
            self._places[id] = agent, len(lane.messages) + (kind == "assistant")

    def _note(self, entry: dict[str, Any]) -> None:
        """What a line says of the whole session."""
        reading = self.reading
        if version := text(entry.get("version")):
            reading.versions[version[:80]] = None
        for name, key in (("id", "sessionId"), ("cwd", "cwd"), ("branch", "gitBranch")):
            if not getattr(reading, name) and (found := text(entry.get(key))):
                setattr(reading, name, found[:1000])

    def _linked(self, child: Any, agent: str, call: Any) -> None:
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
            call, failed = text(block.get("tool_use_id")), bool(block.get("is_error"))
            self._linked(outcome.get("agentId"), agent, call)
            result = self.reading.kept(block.get("content"))
            took = number(outcome.get("totalDurationMs") or outcome.get("durationMs"))
            lane.result(
                call,
                result if result is not None else "",
                time,
                failed=failed,
                how=_how(failed, content_text(result), entry),
                seconds=took / 1000 if took else None,
            )
        if rest:
            said = content if isinstance(content, str) else rest
            self._prompted(lane, agent, entry, self.reading.kept(said), time)

    def _prompted(
        self, lane: Lane, agent: str, entry: dict[str, Any], said: Any, time: float | None
    ) -> None:
        if entry.get("isCompactSummary") is True:
            known, self._boundary = self._boundary or {}, None
            summary = [{"role": "user", "content": said}]
            lane.summarised(summary, known.get("before", 0), known.get("after", 0), time)
            return
        injected = entry.get("isMeta") is True
        if not injected:
            self._rewound(lane, agent, entry)
        self._said(lane, said, time, injected)

    def _said(self, lane: Lane, said: Any, time: float | None, injected: bool = False) -> None:
        plain = content_text(said)
        stopped = plain.startswith(_STOPPED)
        injected = injected or stopped or bool(_INJECTED.match(plain))
        lane.user(said, time, injected=injected)
        if stopped:
            lane.cancelled()
        elif not injected and lane.name == "lead" and not self.reading.title:
            self.reading.title = one_line(plain, 200)

    def _rewound(self, lane: Lane, agent: str, entry: dict[str, Any]) -> None:
        """Take the array back, if the prompt follows a line before the last turn."""
        lane.over()
        parent = entry.get("parentUuid")
        owner, place = self._places.get(text(parent), ("", None if parent else 0))
        if place is not None and (owner == agent or not parent):
            roles = [message["role"] for message in lane.messages[place:]]
            if "assistant" in roles:
                lane.rewind(place)

    def _assistant(self, lane: Lane, entry: dict[str, Any], time: float | None) -> None:
        message = table(entry.get("message"))
        blocks = blocks_of(self.reading.kept(message.get("content")))
        model = text(message.get("model"))
        if entry.get("isApiErrorMessage") is True:
            kind = text(entry.get("error")) or "api_error"
            lane.failed(kind, content_text(blocks), time)
            return
        if model and model != "<synthetic>":
            self.reading.models[model[:80]] = None
        id = message.get("id") or entry.get("requestId") or entry.get("uuid")
        usage = message.get("usage")
        lane.reply(
            text(id),
            blocks,
            time,
            usage=part(UsageData, _counts(usage)) if isinstance(usage, dict) else None,
            model=model or None,
            stop=text(message.get("stop_reason")) or None,
        )

    def _system(self, lane: Lane, entry: dict[str, Any], time: float | None) -> None:
        match entry.get("subtype"):
            case "compact_boundary":
                about = table(entry.get("compactMetadata"))
                by = "person" if about.get("trigger") == "manual" else "threshold"
                lane.asked_for_summary(by, time)
                before, after = number(about.get("preTokens")), number(about.get("postTokens"))
                self._boundary = {"before": before, "after": after}
            case "microcompact_boundary":
                about = table(entry.get("microcompactMetadata"))
                before, saved = number(about.get("preTokens")), number(about.get("tokensSaved"))
                ids = about.get("compactedToolIds")
                found = (
                    {one for one in ids if isinstance(one, str)} if isinstance(ids, list) else {}
                )
                lane.cleared(set(found), before, max(0, before - saved), time)
            case "api_error":
                error = table(entry.get("error"))
                inner = table(table(error.get("error")).get("error"))
                lane.over()
                retried = ModelRetried(
                    turn=lane.turns + 1,
                    seconds=number(entry.get("retryInMs")) / 1000,
                    status=number(error.get("status")) or None,
                    error_type=text(inner.get("type")) or "connection",
                    message=text(inner.get("message"))[:2000],
                )
                lane.add(retried, time)


def _counts(usage: dict[str, Any]) -> dict[str, int]:
    """The counts of a usage; the rest, such as the service tier, is no count of tokens."""
    return {key: value for key, value in usage.items() if type(value) is int and value >= 0}


def _how(failed: bool, output: str, entry: dict[str, Any]) -> How:
    if failed and (entry.get("toolDenialKind") or output.startswith(_REFUSALS)):
        return "refused"
    return "raised" if failed else "ran"

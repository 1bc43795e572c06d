"""A session as its turns: what each request held and where that came from, its calls, the waiting.

The log is read once, in order. Findings and pictures ask the :class:`Session` that comes of it, and
never the file that the log was read from, so they say the same of every format. Sizes of texts are
estimates (characters / 4); what a request had in all is the server's count where there is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from learnkit.core.token_count import estimate_tokens
from learnkit.events import loop
from learnkit.events.compaction import CompactionSummarised
from learnkit.events.log import Event
from learnkit.events.sessions import SessionOpened
from learnkit.events.subagents import SubagentStarted
from learnkit.events.text import blocks_of, content_text
from learnkit.events.vocabulary import read
from learnkit.sessions.source import number, table

#: Where a part of a context comes from: ``talk`` or ``thinking`` with nothing after it,
#: ``("tool", name)`` or ``("file", path)``.
Source = tuple[str, str]
Does = Literal["read", "edit", "run", ""]

#: What is known of a log that says nothing of itself.
_UNKNOWN = SessionOpened(format="", lines={}, unknown={}, left_out={})
#: What a tool does, by its name in the agents whose files can be read.
_DOES: dict[str, Does] = {
    **dict.fromkeys(("Read", "NotebookRead", "read_file", "view"), "read"),
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), "edit"),
    **dict.fromkeys(("edit_file", "write_file", "apply_patch", "str_replace_editor"), "edit"),
    **dict.fromkeys(("Bash", "bash", "shell", "exec_command"), "run"),
    **dict.fromkeys(("local_shell", "bash_command"), "run"),
}
#: Arguments that name a file.
PATHS = ("file_path", "path", "notebook_path", "filename")
_COMMANDS = ("command", "cmd", "script", "keystrokes")
#: A patch of a file, as an argument or in a command.
_PATCH = re.compile(r"\*\*\* (?:Update|Add) File: ([^\n\\]+)")
#: A command that checks the work; and one that only names a checker, or reads its files.
_CHECKS = re.compile(
    r"(?:^|[\s/(\"'])(?:pytest|py\.test|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|mypy"
    r"|pyright|eslint|tsc|ruff check|dialyzer|credo)\b|\bpython\d?\s+\S*tests?/"
    r"|\b(?:npm|pnpm|yarn|bun|cargo|go|dotnet|mix|swift|deno|node|mvn|gradlew?|make|just|bazel|manage"
    r"\.py)\s+(?:\S+\s+)?(?:--)?(?:test|check|verify|lint|build|compile|vet|clippy)\b"
)
_NO_CHECK = re.compile(
    r"\s*(?:sudo )?(?:pip3?|uv (?:add|pip)|poetry add|(?:npm|pnpm|yarn|bun) (?:i|install|add)"
    r"|apt|brew|git|grep|rg|cat|ls|head|tail|sed|find|echo|which)\b"
)


@dataclass(slots=True)
class Call:
    """A tool call: who made it in which turn, what it did to what, and how it ended.

    Attributes:
        does: ``read`` or ``edit`` a file, ``run`` a command; empty for anything else.
        target: the file or the command.
        start: seconds on the log's clock; as ``end``, which is None while it runs.
        failed: its result is an error, or it never ran.
        tokens: of its result, estimated.
    """

    id: str
    lane: str
    turn: int
    name: str
    input: Any
    does: Does
    target: str
    start: float
    end: float | None = None
    failed: bool = False
    refused: bool = False
    output: str = ""
    tokens: int = 0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return 0.0 if self.end is None else max(self.end - self.start, 0.0)

    @property
    def source(self) -> Source:
        """Where its result comes from, in a context."""
        return ("file", self.target) if self.does == "read" and self.target else ("tool", self.name)

    @property
    def child(self) -> str:
        """The lane of the subagent that it has started, if it has."""
        return f"{self.lane}.{self.id}"

    @property
    def checks(self) -> bool:
        """Whether it runs tests, or another check of the work."""
        parts = re.split(r"[;&|\n]+", self.target) if self.does == "run" else []
        return any(_CHECKS.search(part) and not _NO_CHECK.match(part) for part in parts)


@dataclass(slots=True)
class Turn:
    """A request and its reply.

    Attributes:
        number: from 1, in its agent.
        asked: seconds on the log's clock when the request was sent; ``replied`` likewise.
        usage: the server's counts.
        hour: whether what it wrote to the cache stays there for an hour.
        parts: estimated tokens of what the request held, by source.
        said: what the reply says, without thinking.
        shown: the messages that belong to it, in order, each with whether it was injected.
    """

    number: int
    asked: float
    replied: float | None = None
    usage: loop.UsageData = field(default_factory=loop.UsageData)
    hour: bool = False
    model: str = ""
    parts: dict[Source, int] = field(default_factory=dict)
    said: str = ""
    shown: list[tuple[dict[str, Any], bool]] = field(default_factory=list)

    @property
    def estimate(self) -> int:
        """Estimated tokens of its messages."""
        return sum(self.parts.values())


@dataclass(slots=True)
class Thread:
    """One agent of a session: its turns and calls, and what its context holds now.

    Attributes:
        head: estimated tokens of the system prompt and the tools that the log has.
        cuts: number of the first turn after each compaction -> tokens before it.
        ended: why its last run ended; empty if that goes on.
        thoughts: number of a turn -> tokens of thinking that the harness took out before it.
        waits: when a person was waited for, in seconds on the log's clock.
        held: the sizes of each message in the array, by source; ``sums`` those of all of them.
        coming: the messages that no request has had yet.
    """

    lane: str
    parent: str = ""
    title: str = ""
    head: int = 0
    turns: list[Turn] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)
    cuts: dict[int, int] = field(default_factory=dict)
    thoughts: Counter[int] = field(default_factory=Counter)
    prompts: int = 0
    retries: int = 0
    ended: str = ""
    waits: list[tuple[float, float]] = field(default_factory=list)
    held: list[Counter[Source]] = field(default_factory=list)
    sums: Counter[Source] = field(default_factory=Counter)
    coming: list[tuple[dict[str, Any], bool]] = field(default_factory=list)
    _idle: float | None = None

    def fixed(self) -> int:
        """Tokens of the system prompt and the tools, which files of most agents don't hold.

        What the server has counted for the first request, less its messages; or what the log has.
        """
        first = next((one for one in self.turns if one.usage.known), None)
        counted = first and not first.usage.simulated
        return max(first.usage.sent - first.estimate, 0) if first and counted else self.head

    def size(self, turn: Turn) -> int:
        """Tokens of a request: as the server counted them, or estimated, as the last one it did."""
        if turn.usage.known:
            return turn.usage.sent
        fixed, before = self.fixed(), self.turns[: turn.number - 1]
        last = next((one for one in reversed(before) if one.usage.known and one.estimate), None)
        stretch = max(last.usage.sent - fixed, 0) / last.estimate if last else 1.0
        return fixed + round(turn.estimate * stretch)

    def take(self, typed: object, time: float) -> None:
        """Read one event of the agent."""
        turn = self.turns[-1] if self.turns else None
        match typed:
            case SubagentStarted(parent=parent, prompt=prompt, description=title):
                self.parent, self.title = parent, title or prompt
            case loop.RunStarted(system=system, tools=tools):
                self.head = estimate_tokens(system) + estimate_tokens(list(tools))
                self.prompts += 1
            case loop.RunEnded(reason=reason):
                self._idle, self.ended = time, reason
            case loop.MessageAdded(message=message, index=index, injected=injected):
                self._added(message, index, injected)
            case loop.MessagesRewritten(messages=messages, why=why):
                before = self.sums["thinking", ""]
                self.held = [self._sizes(message) for message in messages]
                self.sums = sum(self.held, Counter())
                if why != "summarised":
                    self.thoughts[len(self.turns) + 1] += before - self.sums["thinking", ""]
            case CompactionSummarised(before=before):
                self.cuts[len(self.turns) + 1] = before
            case loop.ModelRequested(purpose="conversation"):
                if self._idle is not None:
                    self.waits.append((self._idle, time))
                self._idle, self.ended = None, ""
                if turn is None or turn.replied is not None:  # else it is sent again
                    turn = Turn(len(self.turns) + 1, time)
                    self.turns.append(turn)
                turn.shown += self.coming
                self.coming, turn.parts = [], dict(self.sums)
            case loop.ModelReplied(purpose="conversation") as reply if turn:
                turn.replied, turn.usage = time, reply.usage
                turn.hour, turn.model = bool(_hour(reply.usage)), reply.model or ""
            case loop.ModelRetried() | loop.ModelFailed():
                self.retries += 1
            case loop.ToolStarted(id=id, name=name, input=input):
                made, (does, target) = turn.number if turn else 0, _target(name, input)
                self.calls[id] = Call(id, self.lane, made, name, input, does, target, time)
            case loop.ToolEnded(id=id, output=output, how=how) as ended if id in self.calls:
                call = self.calls[id]
                call.end, call.output = time, output
                call.failed, call.refused = not ended.done, how == "refused"

    def _added(self, message: dict[str, Any], index: int | None, injected: bool) -> None:
        blocks = blocks_of(message.get("content"))
        results = any(block.get("type") == "tool_result" for block in blocks)
        model = message.get("role") == "assistant"
        if self.turns and (model or results):
            self.turns[-1].shown.append((message, injected))
        else:
            self.coming.append((message, injected))
        if self.turns and model:
            texts = [block for block in blocks if block.get("type") == "text"]
            self.turns[-1].said = content_text(texts)
        place = len(self.held) if index is None else min(index, len(self.held))
        for gone in self.held[place:]:
            self.sums.subtract(gone)
        self.held[place:] = [self._sizes(message)]
        self.sums.update(self.held[place])

    def _sizes(self, message: dict[str, Any]) -> Counter[Source]:
        """The tokens of a message by where they come from."""
        sizes = Counter[Source]()
        for block in blocks_of(message.get("content")):
            kind, size = str(block.get("type")), estimate_tokens(block)
            source = "thinking" if "thinking" in kind else "talk", ""
            if kind == "tool_result":
                source = "tool", "?"
                if call := self.calls.get(str(block.get("tool_use_id"))):
                    source, call.tokens = call.source, max(call.tokens, size)
            sizes[source] += size
        return sizes


@dataclass(slots=True)
class Session:
    """A session: its agents by lane, the first of them the lead; and its replies, as events.

    The replies are those of all lanes and purposes, with usages whose prices can be looked up.
    """

    events: list[Event] = field(default_factory=list)
    replies: list[Event] = field(default_factory=list)
    threads: dict[str, Thread] = field(default_factory=dict)
    begin: float = 0.0
    end: float = 0.0
    about: SessionOpened = _UNKNOWN

    @property
    def lead(self) -> Thread:
        """The agent that the person talks to."""
        return next((one for one in self.threads.values() if not one.parent), Thread("lead"))

    @property
    def calls(self) -> Iterator[Call]:
        """Every call of every agent."""
        return (call for one in self.threads.values() for call in one.calls.values())

    @property
    def waited(self) -> float:
        """Seconds that the lead waited for a person."""
        return sum(end - begin for begin, end in self.lead.waits)


def session_of(log: Iterable[Event]) -> Session:
    """Read a log.

    Args:
        log: an ``EventLog``, or any sequence of events.

    Returns:
        Its agents with their turns.
    """
    events = list(log)
    times = [event.time for event in events] or [0.0]
    session = Session(events, begin=times[0], end=max(times))
    threads: dict[str, Thread] = {}
    for event in events:
        typed = read(event)
        if isinstance(typed, SessionOpened):
            session.about = typed
            continue
        threads.setdefault(event.lane, Thread(event.lane)).take(typed, event.time)
        if isinstance(typed, loop.ModelReplied):
            whole = (typed.usage.whole or {}).items()
            usage = {key: one for key, one in whole if type(one) is int or key in _TARIFFS}
            usage["cache_creation"] = {_HOUR: _hour(typed.usage)}
            session.replies.append(event._replace(data={"usage": usage, "model": typed.model}))
    session.threads = {name: one for name, one in threads.items() if one.turns or one.parent}
    return session


#: The count of tokens that were written to the cache for an hour, and what else a price depends on.
_HOUR = "ephemeral_1h_input_tokens"
_TARIFFS = ("speed", "service_tier", "inference_geo", "simulated")


def _hour(usage: loop.UsageData) -> int:
    return number(table((usage.whole or {}).get("cache_creation")).get(_HOUR))


def _target(name: str, input: Any) -> tuple[Does, str]:
    """What a call does, and to which file, or with which command."""
    if patch := _PATCH.search(str(input)):
        return "edit", patch[1].strip()
    does = _DOES.get(name, "")
    keys = _COMMANDS if does == "run" else PATHS
    found = next((input[key] for key in keys if input.get(key)), "") if table(input) else ""
    # A command may be a list of words.
    return does, " ".join(map(str, found)) if isinstance(found, list) else str(found)

"""Compaction: forget on purpose, so that a conversation can go on for as long as the work does.

Before each request: measure it, plan what to forget (``plan``), apply the plan, log it.
Old results are cleared in batches (layer 1), a conversation beyond the threshold becomes a summary
(layer 2), and the model can ask for that itself (layer 3). What the model has not seen yet, the
active request, the plan and loaded skills stay. Before anything is summarised the whole array is
saved. The summary is made from all of it, in parts if it is too long for one request. When it
cannot be saved or summarised, the array is as it was, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core import transcript
from learnkit.core.catalog import MODELS
from learnkit.core.content import note
from learnkit.core.frames import CONVERSATION, REQUEST, SUMMARY, SUMMARY_SO_FAR, defused
from learnkit.core.mechanism import Mechanism
from learnkit.core.request import Stopped
from learnkit.core.side_request import ask_aside
from learnkit.core.token_count import CHARS_PER_TOKEN, TokenCount, length, sent
from learnkit.core.tools import Tool, tool
from learnkit.errors import UsageError
from learnkit.events.compaction import (
    ClearedResult,
    CompactionAsked,
    CompactionCleared,
    CompactionFailed,
    CompactionSummarised,
    TokensEstimated,
)
from learnkit.mechanisms.compaction.edits import Message, pending, without_stale_thinking
from learnkit.mechanisms.compaction.plan import Change, Limits, plan
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

#: The longest summary, in tokens; and how long it may be when it was cut at that.
SUMMARY_TOKENS, LONG_SUMMARY = 4_000, 16_000
#: Tokens of a conversation that any model is trusted to read at once.
PART = 20_000

_INSTRUCTIONS = """\
Write a summary of the conversation below for the agent that will continue it and will see nothing \
else of it. Keep, in order of importance: decisions and their reasons; errors and how they were \
resolved; what was done and the current state, with file names; what comes next. Leave out raw \
data that can be read again."""
_PARTS = """
The conversation is too long to read at once. Below are your summary of the earlier parts and the \
next part. Write one summary that covers both."""

#: Reasons to stop that leave a summary unfinished.
_UNFINISHED = ("max_tokens", "model_context_window_exceeded", "pause_turn", "refusal")


class Compaction(Mechanism):
    """Keeps a conversation below a length, and says what it left out.

    Emits ``tokens.estimated`` before each request; ``compaction.cleared`` with ``results``,
    ``before`` and ``after``; ``compaction.asked`` with ``focus`` and ``by``;
    ``compaction.summarised`` with ``before``, ``after``, ``transcript`` and ``focus``; and
    ``compaction.failed`` with ``error``. The requests for a summary are logged like the others,
    with ``purpose``, which is also in :data:`learnkit.events.log.PURPOSE` while the client is
    asked. They take no turn of the run.

    Args:
        threshold: tokens, by estimate, that a request may have before it is summarised.
        keep: how many of the last tool results are never cleared.
        transcripts: the folder that arrays are saved in before they are summarised.

    Raises:
        UsageError: for a threshold below 1, or ``keep`` below 0.
    """

    def __init__(
        self,
        threshold: int = 50_000,
        keep: int = 3,
        transcripts: str | Path = ".transcripts",
    ) -> None:
        if threshold < 1 or keep < 0:
            raise UsageError(
                f"the threshold is {threshold} tokens (1 or more) and keep is {keep} (0 or more)"
            )
        self.threshold, self.keep = threshold, keep
        self.transcripts = Path(transcripts)
        self._count = TokenCount()
        self._measured: tuple[Any, Any] = (None, None)  # the system prompt and tools measured last
        self._head = self._sent = self._read = 0
        self._asked: str | None = None
        self._wait_until = 0  # tokens: a summary that failed is not tried again at once

    @tool(internal=True)
    def compact(self, agent: Agent | None, focus: str = "") -> str:
        """Replace the conversation so far with a summary before your next turn, to make room.

        Args:
            focus: Information that the summary must keep above all.
        """
        self.ask(focus)
        if agent is not None:
            agent.emit(CompactionAsked(focus=focus, by="tool"))
        return "The conversation will be replaced with a summary before your next turn."

    @property
    def tools(self) -> Sequence[Tool]:
        """``compact``."""
        return [self.compact]

    def ask(self, focus: str = "") -> None:
        """Have the conversation summarised before the next request.

        Args:
            focus: what the summary must keep above all.
        """
        self._asked = focus

    def before_model(self, agent: Agent) -> None:
        """Measure the next request, plan what to forget, apply the plan, and log the result."""
        self._learn(agent)
        tokens = self._measure(agent)
        if self._asked is not None:
            focus, self._asked = self._asked, None
            if upto := pending(agent.messages):
                tokens = self._summarise(agent, upto, tokens, focus)
        limits = Limits(self.threshold, self.keep, self._wait_until)
        for change in plan(agent.messages, limits, self._count, self._head, agent.tools):
            if change.summarise:
                agent.emit(CompactionAsked(focus="", by="threshold"))
                tokens = self._summarise(agent, change.summarise, tokens)
            else:
                tokens = self._clear(agent, change, tokens)
        agent.emit(
            TokensEstimated(
                tokens=tokens,
                chars_per_token=round(self._count.chars_per_token, 3),
                messages=len(agent.messages),
                threshold=self.threshold,
            )
        )

    # Measure

    def _learn(self, agent: Agent) -> None:
        """Calibrate by the reply to the request that was measured last."""
        end = len(agent.events)
        for number in range(self._read, end):  # each event is looked at once
            event = agent.events[number]
            mine = event.lane == agent.name and event.type == "model.replied"
            if mine and "purpose" not in event.data:
                self._count.calibrate(self._sent, sent(event.data["usage"]))
        self._read = end

    def _measure(self, agent: Agent) -> int:
        """The estimated tokens of the next request."""
        parts = agent.system, agent.specs
        if any(new is not old for new, old in zip(parts, self._measured, strict=True)):
            self._measured, self._head = parts, sum(map(length, parts))
        tokens = self._count.measure(agent.messages, self._head)
        self._sent = self._count.chars + self._head
        return tokens

    # Apply, and log

    def _clear(self, agent: Agent, change: Change, before: int) -> int:
        """Clear old results; returns the tokens of the request as it is now."""
        agent.rewrite(change.messages, "results cleared")
        after = self._measure(agent)
        results = tuple(
            ClearedResult(index=one.index, id=one.id, name=one.name, chars=one.chars)
            for one in change.cleared
        )
        agent.emit(CompactionCleared(before=before, after=after, results=results))
        return after

    def _summarise(self, agent: Agent, upto: int, before: int, focus: str = "") -> int:
        """Put a summary in the place of the first messages, if the model writes one.

        Returns the tokens of the request as it is now.
        """
        try:
            path = transcript.save(agent.messages, self.transcripts, agent.name)
        except OSError as error:
            self._failed(agent, before, f"the conversation cannot be saved: {error}")
            return before
        text = self._summary(agent, upto, focus, before)
        if not text:
            return before
        shown, rest = _shown(agent, path), agent.messages[upto:]
        first = {"role": "user", "content": self._left(agent, text, shown, rest)}
        agent.rewrite([first, *without_stale_thinking(rest, 0)], "summarised")
        after = self._measure(agent)
        said = CompactionSummarised(before=before, after=after, transcript=shown, focus=focus)
        agent.emit(said)
        return after

    def _summary(self, agent: Agent, upto: int, focus: str, tokens: int) -> str:
        """The model's summary of the first messages; empty if it failed, which is logged."""
        text = defused(transcript.as_text(agent.messages[:upto]), _FRAMES)
        summary = ""
        try:
            for part in _parts(text, self._room(agent)):
                summary = self._written(agent, _prompt(part, focus, summary))
        except _api_error() as error:
            problem = f"{type(error).__name__}: {error}"
        except (_Unfinished, Stopped) as error:
            problem = str(error)
        else:
            return summary
        self._failed(agent, tokens, problem)
        return ""

    def _failed(self, agent: Agent, tokens: int, problem: str) -> None:
        self._wait_until = tokens + self.threshold // 10
        agent.emit(CompactionFailed(error=problem))

    def _room(self, agent: Agent) -> int:
        """Characters of the conversation that one request for a summary may hold."""
        spec = MODELS.get(agent.model)
        # Of a model that is not known, this much is: it was sent nearly as long a conversation.
        tokens = max(self.threshold, PART)
        if spec is not None:
            tokens = (spec.window - 2 * LONG_SUMMARY) * 4 // 5  # the count is an estimate
        return int(tokens * min(CHARS_PER_TOKEN, self._count.chars_per_token))

    def _written(self, agent: Agent, prompt: str) -> str:
        """The model's summary; one that was cut is asked for again, with more room."""
        reason, text = ask_aside(agent, prompt, SUMMARY_TOKENS, "summary")
        if reason == "max_tokens":
            reason, text = ask_aside(agent, prompt, LONG_SUMMARY, "summary")
        if reason in _UNFINISHED or not text:
            about = f" (stop_reason {reason})" if reason in _UNFINISHED else ""
            raise _Unfinished(f"the model wrote no summary that is complete{about}")
        return text

    def _left(
        self, agent: Agent, summary: str, path: str, rest: Sequence[Message]
    ) -> list[dict[str, Any]]:
        """What replaces the messages: summary, request, and what must not be lost."""
        parts = note(f'<{SUMMARY} transcript="{path}">\n{defused(summary)}\n</{SUMMARY}>')
        asked = transcript.request_of(agent)
        still = any(message["role"] == "user" and message["content"] == asked for message in rest)
        if asked and not still:
            parts += note(f"<{REQUEST}>\n{defused(asked)}\n</{REQUEST}>")
        for mechanism in agent.mechanisms:
            parts += note(mechanism.carry(agent))
        return parts


#: What a request for a summary sets apart; no text in it may end one of these.
_FRAMES = (CONVERSATION, SUMMARY_SO_FAR)


class _Unfinished(Exception):
    """The model has written no summary, or a part of one."""


def _parts(text: str, room: int) -> list[str]:
    """A text in parts of at most so many characters, cut at the ends of lines where there are."""
    parts = []
    while len(text) > room:
        end = text.rfind("\n", room // 2, room) + 1 or room
        parts.append(text[:end])
        text = text[end:]
    return [*parts, text]


def _prompt(part: str, focus: str, summary: str = "") -> str:
    """The request for a summary: of the whole conversation, or of its next part."""
    wish = f"\nAbove all, keep what concerns: {focus}" if focus else ""
    summary = defused(summary, _FRAMES)
    so_far = f"\n\n<{SUMMARY_SO_FAR}>\n{summary}\n</{SUMMARY_SO_FAR}>" if summary else ""
    more = _PARTS if summary else ""
    return f"{_INSTRUCTIONS}{more}{wish}{so_far}\n\n<{CONVERSATION}>\n{part}\n</{CONVERSATION}>"


def _shown(agent: Agent, path: Path) -> str:
    """The path in the words of the tools that this agent has."""
    for one in agent.mechanisms:
        workspace = getattr(one, "workspace", None)
        if isinstance(workspace, Workspace) and path.resolve().is_relative_to(workspace.root):
            return workspace.shown(path.resolve())
    return str(path)


def _api_error() -> type[Exception]:
    import anthropic  # takes over a second, and an agent can be made without it

    return anthropic.APIError

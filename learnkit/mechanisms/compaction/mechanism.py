"""Compaction: forget on purpose, so that a conversation can go on for as long as the work does.

Before each request: measure it, plan what to forget (``policies``), apply the plan, log it.
Old results are cleared in batches (layer 1), a conversation beyond the threshold becomes a summary
(layer 2), and the model can ask for that itself (layer 3). What the model has not seen yet, the
active request, the plan and loaded skills stay. Before anything is summarised the whole array is
saved; when the summary fails, the array is as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core import transcript
from learnkit.core.content import note
from learnkit.core.events import LANE
from learnkit.core.mechanism import Mechanism
from learnkit.core.token_count import TokenCount, length, sent
from learnkit.core.tools import Tool, tool
from learnkit.errors import UsageError
from learnkit.mechanisms.compaction.edits import (
    Message,
    micro_compact,
    pending,
    without_stale_thinking,
)
from learnkit.mechanisms.compaction.policies import Change, Layers, Limits, Policy, plan
from learnkit.runtime.truncate import head_and_tail
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

__all__ = ["Compaction", "micro_compact"]

#: Characters of a conversation that a summary is made from, head and tail together; and the
#: longest summary, in tokens.
SUMMARY_INPUT, SUMMARY_TOKENS = 80_000, 4_000

_INSTRUCTIONS = """\
Write a summary of the conversation below, for the agent that goes on with it and will see nothing \
else of it. Keep, in this order of importance: decisions with their reasons; errors and how they \
were got over; what was done and where things stand, with the names of files; what comes next. \
Leave out raw data that can be read again."""


class Compaction(Mechanism):
    """Keeps a conversation below a length, and says what it left out.

    Emits ``tokens.estimated`` before each request; ``compaction.cleared`` with ``results``,
    ``before`` and ``after``; ``compaction.asked`` with ``focus`` and ``by``;
    ``compaction.summarised`` with ``before``, ``after``, ``transcript`` and ``focus``; and
    ``compaction.failed`` with ``error``. The request for a summary is logged like the others, with
    ``purpose``. It takes no turn of the run.

    Args:
        threshold: tokens, by estimate, that a request may have before it is summarised.
        keep: how many of the last tool results are never cleared.
        transcripts: the folder that arrays are saved in before they are summarised.
        clear_at: share of the threshold from which on results are cleared.
        clear_at_least: tokens that clearing must gain; by default a fifth of the threshold.
        policy: what decides in place of ``keep``, ``clear_at`` and ``clear_at_least``, such as
            :class:`learnkit.mechanisms.compaction.policies.Pressure`.

    Raises:
        UsageError: for a threshold below 1, or an option out of range.
    """

    def __init__(
        self,
        threshold: int = 50_000,
        keep: int = 3,
        transcripts: str | Path = ".transcripts",
        *,
        clear_at: float = 0.5,
        clear_at_least: int | None = None,
        policy: Policy | None = None,
    ) -> None:
        if threshold < 1:
            raise UsageError(f"the threshold is {threshold} tokens; it must be 1 or more")
        self.threshold = threshold
        self.transcripts = Path(transcripts)
        self._policy = policy or Layers(keep, clear_at, clear_at_least)
        self._count = TokenCount()
        self._measured: tuple[Any, Any] = (None, None)  # the system prompt and tools measured last
        self._head = self._sent = self._read = 0
        self._asked: str | None = None
        self._wait_until = 0  # tokens: a summary that failed is not tried again at once

    @tool(internal=True)
    def compact(self, agent: Agent | None, focus: str = "") -> str:
        """Make room: replace the conversation so far by a summary, before your next turn.

        Args:
            focus: what the summary must keep above all.
        """
        self.ask(focus)
        if agent is not None:
            agent.emit("compaction.asked", focus=focus, by="tool")
        return "The conversation will be replaced by a summary before your next turn."

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
                tokens = self._apply(agent, Change(summarise=upto), tokens, focus)
        limits = Limits(self.threshold, self._wait_until)
        for change in plan(self._policy, agent.messages, limits, self._count, self._head):
            tokens = self._apply(agent, change, tokens)
        agent.emit(
            "tokens.estimated",
            tokens=tokens,
            chars_per_token=round(self._count.chars_per_token, 3),
            messages=len(agent.messages),
            threshold=self.threshold,
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
        parts = agent.system, agent.request().get("tools")
        if any(new is not old for new, old in zip(parts, self._measured, strict=True)):
            self._measured, self._head = parts, sum(map(length, parts))
        tokens = self._count.measure(agent.messages, self._head)
        self._sent = self._count.chars + self._head
        return tokens

    # Apply, and log

    def _apply(self, agent: Agent, change: Change, before: int, focus: str | None = None) -> int:
        """Carry out one change of the plan: nothing else here rewrites the array.

        Args:
            agent: whose array it is.
            change: a clearing or a summary.
            before: tokens of the request as it is.
            focus: what the summary must keep, if it was asked for; None: the threshold asks.

        Returns:
            Tokens of the request as it is now; as before, if the model wrote no summary.
        """
        details: dict[str, Any]
        if change.summarise:
            if focus is None:
                agent.emit("compaction.asked", focus="", by="threshold")
            path = transcript.save(agent.messages, self.transcripts, agent.name)
            text = self._summary(agent, change.summarise, focus or "", before)
            if not text:
                return before
            shown, rest = _shown(agent, path), agent.messages[change.summarise :]
            first = {"role": "user", "content": self._left(agent, text, shown, rest)}
            messages, why = [first, *without_stale_thinking(rest, 0)], "summarised"
            event, details = "compaction.summarised", {"transcript": shown, "focus": focus or ""}
        else:
            messages, why = list(change.messages), "results cleared"
            keys = ("index", "id", "name", "chars")
            cleared = [{key: getattr(one, key) for key in keys} for one in change.cleared]
            event, details = "compaction.cleared", {"results": cleared}
        agent.rewrite(messages, why)
        after = self._measure(agent)
        agent.emit(event, before=before, after=after, **details)
        return after

    def _summary(self, agent: Agent, upto: int, focus: str, tokens: int) -> str:
        """The model's summary of the first messages; empty if it failed, which is logged."""
        try:
            text = self._written(agent, _prompt(agent.messages[:upto], focus))
        except _api_error() as error:
            text, problem = "", f"{type(error).__name__}: {error}"
        else:
            problem = "the model wrote no summary"
        if not text:
            self._wait_until = tokens + self.threshold // 10
            agent.emit("compaction.failed", error=problem)
        return text

    def _written(self, agent: Agent, prompt: str) -> str:
        """The model's summary; empty if it gave none."""
        agent.emit("model.requested", turn=agent.turns, messages=1, purpose="summary")
        began = agent.clock.time()
        lane = LANE.set(agent.name)
        try:
            reply = agent.client.messages.create(
                model=agent.model,
                max_tokens=SUMMARY_TOKENS,
                messages=[{"role": "user", "content": prompt}],
            )
        finally:
            LANE.reset(lane)
        usage = reply.usage.model_dump(mode="json", exclude_unset=True)
        agent.emit(
            "model.replied",
            turn=agent.turns,
            stop_reason=reply.stop_reason,
            usage={key: value for key, value in usage.items() if value is not None},
            model=reply.model,
            seconds=agent.clock.time() - began,
            purpose="summary",
        )
        said = "\n".join(block.text for block in reply.content if block.type == "text").strip()
        return "" if reply.stop_reason == "refusal" else said

    def _left(
        self, agent: Agent, summary: str, path: str, rest: Sequence[Message]
    ) -> list[dict[str, Any]]:
        """What replaces the messages: summary, request, and what must not be lost."""
        parts = note(f'<summary transcript="{path}">\n{summary}\n</summary>')
        asked = transcript.request_of(agent)
        still = any(message["role"] == "user" and message["content"] == asked for message in rest)
        if asked and not still:
            parts += note(f"<request>\n{asked}\n</request>")
        for mechanism in agent.mechanisms:
            parts += note(mechanism.carry(agent))
        return parts


def _prompt(messages: Sequence[Message], focus: str) -> str:
    shown, _ = head_and_tail([transcript.as_text(messages)], SUMMARY_INPUT)
    wish = f"\nAbove all keep what concerns: {focus}" if focus else ""
    return f"{_INSTRUCTIONS}{wish}\n\n<conversation>\n{shown}\n</conversation>"


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

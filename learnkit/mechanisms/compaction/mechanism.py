"""Compaction: forget on purpose, so that a conversation can go on for as long as the work does.

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
from learnkit.mechanisms.compaction.policies import Change, Layers, Policy
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
        self._head: tuple[Any, Any, int] = (None, None, 0)
        self._sent = self._read = 0
        self._asked: str | None = None
        self._wait_until = 0  # tokens: a summary that failed is not tried again at once

    @tool
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
        """Estimate the next request, and make room if there is need of it."""
        self._learn(agent)
        tokens = self._measure(agent)
        if self._asked is not None:
            focus, self._asked = self._asked, None
            if (before := pending(agent.messages)) and self._summarise(
                agent, before, focus, tokens
            ):
                tokens = self._measure(agent)
        change = self._policy.choose(agent.messages, tokens, self.threshold)
        if change is not None and not change.summarise:
            tokens = self._clear(agent, change, tokens)
            change = self._policy.choose(agent.messages, tokens, self.threshold)
        if change is not None and change.summarise and self._is_worth(agent, change, tokens):
            agent.emit("compaction.asked", focus="", by="threshold")
            self._summarise(agent, change.summarise, "", tokens)
            tokens = self._measure(agent)
        agent.emit(
            "tokens.estimated",
            tokens=tokens,
            chars_per_token=round(self._count.chars_per_token, 3),
            messages=len(agent.messages),
            threshold=self.threshold,
        )

    # How long it is

    def _measure(self, agent: Agent) -> int:
        system, tools = agent.system, agent.request().get("tools")
        if self._head[0] is not system or self._head[1] is not tools:
            self._head = (system, tools, length(system) + length(tools))
        tokens = self._count.measure(agent.messages, self._head[2])
        self._sent = self._count.chars + self._head[2]
        return tokens

    def _learn(self, agent: Agent) -> None:
        """Calibrate by the reply to the request that was measured last."""
        end = len(agent.events)
        for place in range(self._read, end):  # each event is looked at once
            event = agent.events[place]
            mine = event.lane == agent.name and event.type == "model.replied"
            if mine and "purpose" not in event.data:
                self._count.calibrate(self._sent, sent(event.data["usage"]))
        self._read = end

    def _is_worth(self, agent: Agent, change: Change, tokens: int) -> bool:
        """Whether a summary can gain something, and did not fail a moment ago."""
        replaced = self._count.tokens(length(list(agent.messages[: change.summarise])))
        return tokens >= self._wait_until and replaced > self.threshold // 10

    # What is done about it

    def _clear(self, agent: Agent, change: Change, before: int) -> int:
        """Layer 1: put the shorter array in place; return its tokens."""
        agent.rewrite(without_stale_thinking(change.messages, change.first), "results cleared")
        after = self._measure(agent)
        shown = [
            {"index": one.index, "id": one.id, "name": one.name, "chars": one.chars}
            for one in change.cleared
        ]
        agent.emit("compaction.cleared", results=shown, before=before, after=after)
        return after

    def _summarise(self, agent: Agent, upto: int, focus: str, before: int) -> bool:
        """Layer 2: put a summary in the place of the first messages; False if that failed."""
        old, rest = agent.messages[:upto], agent.messages[upto:]
        path = transcript.save(agent.messages, self.transcripts, agent.name)
        try:
            text = self._written(agent, _prompt(old, focus))
        except _api_error() as error:
            text, problem = "", f"{type(error).__name__}: {error}"
        else:
            problem = "the model wrote no summary"
        if not text:
            self._wait_until = before + self.threshold // 10
            agent.emit("compaction.failed", error=problem)
            return False
        first = {"role": "user", "content": self._left(agent, text, _shown(agent, path), rest)}
        agent.rewrite([first, *without_stale_thinking(rest, 0)], "summarised")
        after = self._measure(agent)
        agent.emit(
            "compaction.summarised",
            before=before,
            after=after,
            transcript=_shown(agent, path),
            focus=focus,
        )
        return True

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
        """What stands in the place of the messages: summary, request, and what must not be lost."""
        parts = note(f'<summary transcript="{path}">\n{summary}\n</summary>')
        asked = transcript.request_of(agent)
        still = any(message["role"] == "user" and message["content"] == asked for message in rest)
        if asked and not still:
            parts += note(f"<request>\n{asked}\n</request>")
        for mechanism in agent.mechanisms:
            parts += note(mechanism.carry(agent))
        return parts


def _prompt(messages: Sequence[Message], focus: str) -> str:
    told, _ = head_and_tail([transcript.as_text(messages)], SUMMARY_INPUT)
    wish = f"\nAbove all keep what concerns: {focus}" if focus else ""
    return f"{_INSTRUCTIONS}{wish}\n\n<conversation>\n{told}\n</conversation>"


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

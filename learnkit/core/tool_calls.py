"""Running the tool calls of one reply: each gets exactly one result, in call order.

Calls run one after the other. Only neighbouring calls of a tool that is marked ``parallel`` run
side by side. Whatever a tool raises becomes an error result that the model can read.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from learnkit.core.content import Block, note, result_content
from learnkit.core.interface import AgentLike, Call, Result
from learnkit.core.transcript import texts
from learnkit.errors import ArgumentsError, ToolError, described, text_of
from learnkit.events.loop import How, ToolEnded, ToolStarted
from learnkit.runtime.clock import Unwind
from learnkit.runtime.interrupts import uninterrupted

CANCELLED = "Cancelled: the run was interrupted."


def calls_in(message: Block) -> list[Call]:
    """Return the tool calls of a message, in order."""
    content = message["content"] if message["role"] == "assistant" else ""
    blocks = [] if isinstance(content, str) else content
    return [Call(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]


class Batch:
    """The calls of one reply, and their results.

    Attributes:
        notes: what the mechanisms add after the results.
    """

    def __init__(self, agent: AgentLike, calls: Sequence[Call], *, cut: bool) -> None:
        self._agent, self.calls, self._cut = agent, list(calls), cut
        self.notes: list[Block] = []
        self._results: dict[str, dict[str, Any]] = {}
        self._ends: dict[str, Result] = {}
        self._begun: dict[str, float] = {}  # when each call that was run began
        self._left: dict[str, list[str]] = {}  # what one that was interrupted has said until then

    def run(self) -> None:
        """Run every call that may run."""
        for group in self._groups():
            allowed = []
            for call in group:
                how, why = self._objection(call) or ("ran", "")
                refused = why if how == "refused" else ""
                self._agent.emit(
                    ToolStarted(id=call.id, name=call.name, input=call.input, refused=refused)
                )
                if why:
                    self._keep(call, how, result_content(why))
                else:
                    allowed.append(call)
            if len(allowed) > 1:
                self._run_side_by_side(allowed)
            elif allowed:
                self._run_one(allowed[0])
            for call in group:
                for mechanism in self._agent.mechanisms:
                    said = mechanism.after_tool(self._agent, call, self._ends[call.id])
                    self.notes += note(said)

    def cancel_rest(self) -> None:
        """Give the calls that were not reached a result as well."""
        rest = [call for call in self.calls if call.id not in self._results]
        now = self._agent.clock.time()
        said = {call.id: "\n".join((CANCELLED, *self._left.get(call.id, ()))) for call in rest}
        for call in rest:
            self._store(call, "cancelled", said[call.id])
        with (
            contextlib.ExitStack() as stack
        ):  # logging may raise: the others are logged all the same
            for call in reversed(rest):
                seconds = now - self._begun.get(call.id, now)
                stack.callback(self._log_end, call, "cancelled", said[call.id], seconds)

    def answer(self) -> list[Block]:
        """The content of the message that answers: the results in call order, then the notes."""
        return [*(self._results[call.id] for call in self.calls), *self.notes]

    def _groups(self) -> Iterator[list[Call]]:
        """Neighbouring calls of one parallel tool together, every other call alone."""
        if len(self.calls) == 1:
            yield self.calls
            return

        def key(numbered: tuple[int, Call]) -> object:
            tool = self._agent.tools.get(numbered[1].name)
            return tool.name if tool is not None and tool.parallel > 1 else numbered[0]

        for _, group in itertools.groupby(enumerate(self.calls), key=key):
            yield [call for _, call in group]

    def _objection(self, call: Call) -> tuple[How, str] | None:
        """Why a call cannot run, if so: a word for the log and a text for the model."""
        agent = self._agent
        if self._cut:
            return "cut", "Not run: the reply was cut off at max_tokens. Send a shorter call."
        if agent.stop.is_set():
            return "cancelled", "Cancelled before it ran."
        if call.name not in agent.tools:
            known = ", ".join(agent.tools) or "none"
            return "unknown", f"There is no tool {call.name!r}. The tools are: {known}."
        for mechanism in agent.mechanisms:
            if reason := mechanism.refuse(agent, call):
                return "refused", reason
        return None

    def _run_side_by_side(self, calls: list[Call]) -> None:
        agent, waiting = self._agent, iter(calls)

        def work() -> None:
            for call in waiting:  # each worker takes the next call that is still left
                self._run_one(call)

        first = calls[: agent.tools[calls[0].name].parallel]
        workers = []
        try:
            with uninterrupted():
                for call in first:
                    workers.append(agent.clock.spawn(f"{agent.name}.{call.id}", work))
            for worker in workers:
                worker.join()
        except BaseException:
            agent.stop.set()  # nothing is left running: the others end soon, and are joined
            for worker in workers:
                with contextlib.suppress(Exception, KeyboardInterrupt):  # the first one counts
                    worker.join()
            raise

    def _run_one(self, call: Call) -> None:
        agent = self._agent
        how: How
        began = self._begun[call.id] = agent.clock.time()
        if agent.stop.is_set():
            how, content = "cancelled", result_content("Cancelled before it ran.")
        else:
            try:
                content = result_content(agent.tools[call.name].run(agent, call.input, call))
                how = "ran"
            except ArgumentsError as error:
                how, content = "invalid", result_content(str(error))
            except ToolError as error:
                how, content = "raised", result_content(text_of(error))
            except (KeyboardInterrupt, Unwind) as error:  # the user's, or the clock's
                self._left[call.id] = getattr(error, "__notes__", [])
                raise
            except BaseException as error:  # sys.exit() in a tool ends the call, and not the run
                how, content = "raised", result_content(described(error))
        self._keep(call, how, content, seconds=agent.clock.time() - began)

    def _keep(self, call: Call, how: How, content: str | list[Block], seconds: float = 0.0) -> None:
        """Store and log the one result of a call."""
        with uninterrupted():
            if self._store(call, how, content):
                self._ends[call.id] = Result(content, how != "ran", how, seconds)
                self._log_end(call, how, content, seconds)

    def _store(self, call: Call, how: How, content: str | list[Block]) -> bool:
        """Store a result, unless the call has one: an interrupt did not wait for this one."""
        block: Block = {"type": "tool_result", "tool_use_id": call.id, "content": content}
        if how != "ran":
            block["is_error"] = True
        return self._results.setdefault(call.id, block) is block

    def _log_end(self, call: Call, how: How, content: str | list[Block], seconds: float) -> None:
        self._agent.emit(
            ToolEnded(
                id=call.id,
                name=call.name,
                is_error=how != "ran",
                output=content if isinstance(content, str) else "\n".join(texts(content)),
                seconds=seconds,
                how=how,
            )
        )

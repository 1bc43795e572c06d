"""Subagents: a subtask gets an agent of its own, and the caller gets its last words.

What a child reads on the way fills the child's messages and not the parent's. The children share
the file system, the event log, the clock and the client with their parent; its stop signal ends
them, and what its mechanisms refuse is refused to them as well. Histories are not shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from learnkit.core.agent import Agent
from learnkit.core.frames import defused
from learnkit.core.inherit import child_of, last_words
from learnkit.core.interface import AgentLike, Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.token_count import estimate_tokens
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import Tool, tool
from learnkit.errors import ToolError, UsageError, described
from learnkit.events.subagents import SubagentEnded, SubagentStarted
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.prompt_files import AgentFile

Factory = Callable[[], Sequence[Mechanism]]

KINDS = ("explore", "general")

_SYSTEM = (
    "Use the tool task to delegate work to subagents: a subtask that takes a lot of reading for a "
    "short answer, or several independent subtasks in one reply. A subagent does not see this "
    "conversation, so its prompt must contain all it needs. Do small steps yourself."
)
_FURTHER = "Further kinds of subagents, each with instructions of its own:"
_CHILD = (
    "You are a subagent: you do one task for another agent, and no one can answer questions. "
    "Your caller sees only your last message, so end with a short report: what you found or did, "
    "with file names, and what is still open."
)
_NOTHING_TO_READ = "no tool of the subagents is read-only, so explore has none; use kind general"
_NOTES = {
    "turn_limit": "stopped at the limit of {turns} turns; the task may be unfinished",
    "cost_limit": "stopped at the limit of cost; the task may be unfinished",
    "max_tokens": "its last reply was cut off at max_tokens",
    "refusal": "the subagent's model refused to continue",
    "model_context_window_exceeded": "the subagent's context window is full",
    "cancelled": "Cancelled: the run was interrupted",
}
#: Ends after which there is nothing that the parent could rely on.
_NO_RESULT = ("refusal", "model_context_window_exceeded", "cancelled")


class Subagents(Mechanism):
    """Offers the tool ``task``, which runs a fresh agent and returns the last text it says.

    A child's lane is ``<parent>.<id of the call>``, whichever child starts first. In that lane it
    emits ``subagent.started`` with ``parent``, ``call``, ``prompt``, ``description`` and ``kind``,
    and ``subagent.ended`` with ``parent``,
    ``call``, ``reason``, ``turns``, ``tokens`` (the length of its messages) and ``returned`` (what
    of it the parent gets); tokens are estimates.

    Args:
        factory: makes the mechanisms of one child, new ones for each. Among them may be a
            ``Permission``: it can only refuse more, as the parent's refusals hold for children.
            By default a child has its parent's coding tools, and the functions that its parent was
            given as tools.
        max_turns: how many times a child may ask the model.
        parallel: how many children run side by side, when one reply has several ``task`` calls.
        agents: further kinds, by name, as :class:`learnkit.PromptFiles` reads them. One may have
            fewer tools and turns than a general child, and another model, if ``prices`` of the
            agent has it.

    Raises:
        UsageError: for an argument that cannot work.
    """

    def __init__(
        self,
        factory: Factory | None = None,
        *,
        max_turns: int = 30,
        parallel: int = 3,
        agents: Mapping[str, AgentFile] = MappingProxyType({}),
    ) -> None:
        if factory is not None and not callable(factory):
            raise UsageError(
                f"{factory!r} makes no mechanisms; give a function that makes new ones for each "
                "child, as in Subagents(lambda: [CodingTools(workspace)])"
            )
        for name, value in (("max_turns", max_turns), ("parallel", parallel)):
            if value < 1:
                raise UsageError(f"{name} is {value}; give a number from 1 up")
        self._factory, self._max_turns, self._parallel = factory, max_turns, parallel
        self._agents = {name: file for name, file in agents.items() if name not in KINDS}

    @property
    def tools(self) -> Sequence[Tool]:
        """``task``."""
        task = self.task.narrowed(kind=(*KINDS, *self._agents))  # a copy: its limit is its own
        task.parallel = self._parallel
        return [task]

    def system(self, agent: Agent) -> str | None:
        """When to hand something over, and to which kinds of the user's and the project's."""
        lines = [f"- {name}: {defused(one.description)}" for name, one in self._agents.items()]
        return "\n".join([_SYSTEM, *([_FURTHER] if lines else []), *lines])

    @tool(internal=True)
    def task(
        self,
        call: Call | None,
        prompt: str,
        description: str,
        kind: str = "general",
    ) -> str:
        """Run a subagent on a subtask, in a context of its own, and return its last message.

        It works on the same files, but does not see this conversation. Several calls in one reply
        run in parallel: do not let two of them write to the same file.

        Args:
            prompt: Everything the subagent needs: the task, the files, what to report.
            description: Task in three to six words, shown to the user.
            kind: explore has read-only tools, general has all tools.
        """
        agent = self.agent
        if not prompt.strip():
            raise ToolError("the prompt is empty; say what the subagent should do and report")
        id = call.id if call is not None else agent.clock.new_id()
        child = self._child(f"{agent.name}.{id}", kind)
        child.emit(
            SubagentStarted(
                parent=agent.name,
                call=id,
                prompt=prompt,
                description=description,
                kind=kind,
            )
        )
        try:
            with child:
                outcome = child.run(prompt)
        except BaseException as error:
            failed = isinstance(error, Exception)
            self._log_end(child, id, "failed" if failed else "cancelled")
            if not failed:
                raise
            raise ToolError(f"The subagent failed: {described(error)}") from error
        report = last_words(outcome, _NOTES)
        self._log_end(child, id, outcome.reason, estimate_tokens(report))
        if outcome.reason in _NO_RESULT:
            raise ToolError(report)
        return report

    task = task.narrowed(kind=KINDS)  # an instance may know more of them

    def _log_end(self, child: Agent, call: str, reason: str, returned: int = 0) -> None:
        child.emit(
            SubagentEnded(
                parent=self.agent.name,
                call=call,
                reason=reason,
                turns=child.turns,
                tokens=estimate_tokens(child.messages),
                returned=returned,
            )
        )

    def _child(self, lane: str, kind: str) -> Agent:
        agent = self.agent
        mechanisms = _like(agent) if self._factory is None else self._factory()
        made = [one for one in mechanisms if not isinstance(one, Subagents)]  # no grandchildren
        file = self._agents.get(kind)
        child = child_of(
            agent,
            made,
            name=lane,
            system=_CHILD if file is None else f"{_CHILD}\n\n{defused(file.prompt)}",
            stop=agent.stop,
            max_turns=min(self._max_turns, (file and file.max_turns) or self._max_turns),
            model=_model(file.model, agent) if file else None,
        )
        if file is not None and file.tools is not None:
            child.tools = {name: child.tools[name] for name in file.tools if name in child.tools}
            if file.tools and not child.tools:
                raise ToolError(f"none of the tools of {kind} is here: {', '.join(file.tools)}")
        if kind == "explore":
            # bash goes as well: it can write.
            child.tools = {name: tool for name, tool in child.tools.items() if tool.read_only}
            if not child.tools:
                raise ToolError(_NOTHING_TO_READ)
        return child


def _model(wanted: str, agent: AgentLike) -> str | None:
    """The model of an agent's file, if its price is known; None for the caller's."""
    found = (id for id in agent.prices if id == wanted or wanted in id.split("-"))
    return next(found, None) if wanted else None


def _like(agent: AgentLike) -> list[Mechanism]:
    """What a child gets by default: the tools of its parent that hold no state."""
    made: list[Mechanism] = []
    for mechanism in agent.mechanisms:
        if isinstance(mechanism, CodingTools):
            root, shell = mechanism.workspace.root, mechanism.shell
            made.append(CodingTools(root, shell, timeout=mechanism.timeout))
        elif isinstance(mechanism, Toolbox):
            made.append(Toolbox(*mechanism.tools))
    return made

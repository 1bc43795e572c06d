"""What a mechanism is: a set of hooks around the loop, all of them optional.

The loop never changes; every lesson adds one mechanism object to it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from learnkit.errors import UsageError

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.core.tools import Tool


@dataclass(frozen=True, slots=True)
class Call:
    """One ``tool_use`` block: what the model asks for.

    Attributes:
        id: pairs the call with its result.
        name: the tool's name, as the model wrote it.
        input: the arguments, as the model wrote them.
    """

    id: str
    name: str
    input: dict[str, Any]


class Mechanism:
    """Base class of everything that is added to the loop; each hook does nothing by default.

    An instance serves one agent. A subclass that defines something that looks like a misspelt
    hook is refused when the class is made, so that a hook cannot vanish silently.
    """

    HOOKS: ClassVar[dict[str, tuple[str, ...]]] = {
        "tools": (),
        "system": ("agent",),
        "before_model": ("agent",),
        "refuse": ("agent", "call"),
        "after_tools": ("agent", "calls"),
        "on_stop": ("agent",),
        "carry": ("agent",),
    }

    _serves: Agent | None = None

    @property
    def tools(self) -> Sequence[Tool]:
        """At set-up: the tools it offers. By default, its methods that are marked ``@tool``."""
        classes = reversed(type(self).__mro__)
        found = (n for cls in classes for n, v in vars(cls).items() if hasattr(type(v), "spec"))
        return [getattr(self, name) for name in dict.fromkeys(found)]

    def system(self, agent: Agent) -> str | None:
        """Once, when a run starts: a paragraph for the system prompt."""

    def before_model(self, agent: Agent) -> None:
        """Before each request, when no call is pending: may call ``agent.rewrite``."""

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """Before each tool call: a reason why it must not run."""

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """After the batch: text that follows the results in the same user message."""

    def on_stop(self, agent: Agent) -> str | None:
        """The model has stopped: text that makes it take another turn."""

    def carry(self, agent: Agent) -> str | None:
        """The messages are compacted: text that must stand in what is left of them.

        The loop itself never asks; :class:`learnkit.Compaction` does.
        """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, value in vars(cls).items():
            if name.startswith("_") or not (callable(value) or isinstance(value, property)):
                continue
            if name in cls.HOOKS:
                _check_parameters(cls, name, value)
                continue
            near = difflib.get_close_matches(name, cls.HOOKS, n=1, cutoff=0.8)
            if near or name.startswith(("before_", "after_", "on_")):
                meant = f"did you mean {near[0]}?" if near else f"hooks: {', '.join(cls.HOOKS)}."
                raise UsageError(
                    f"{cls.__name__}.{name} looks like a hook but is none; {meant} "
                    "If it is your own method, give it another name."
                )


def attach(agent: Agent, mechanisms: Sequence[Mechanism]) -> dict[str, Tool]:
    """Bind mechanisms to an agent; if one of them cannot be, none is.

    Returns:
        The tools that they offer, by name.

    Raises:
        UsageError: for tools with one name, or a mechanism that serves already.
    """
    tools: dict[str, Tool] = {}
    for number, mechanism in enumerate(mechanisms):
        if not isinstance(mechanism, Mechanism):
            raise UsageError(f"{mechanism!r} is no mechanism; tools go in as Toolbox(tool, …)")
        if mechanism._serves is not None or any(one is mechanism for one in mechanisms[:number]):
            served = (mechanism._serves or agent).name
            raise UsageError(
                f"this {type(mechanism).__name__} already serves agent {served!r}; "
                f"make a new one for {agent.name!r}"
            )
        for tool in mechanism.tools:
            if not hasattr(tool, "spec"):
                raise UsageError(f"{type(mechanism).__name__} offers {tool!r}; mark it with @tool")
            if tool.name in tools:
                raise UsageError(f"two tools are called {tool.name!r}; rename one of them")
            tools[tool.name] = tool
    for mechanism in mechanisms:
        mechanism._serves = agent
    return tools


def _check_parameters(cls: type, name: str, value: Any) -> None:
    """Refuse a hook that the loop could not call."""
    if inspect.iscoroutinefunction(value) or inspect.isgeneratorfunction(value):
        raise UsageError(f"{cls.__name__}.{name} must be a plain function: no async, no yield")
    if name == "tools" and inspect.isfunction(value):
        raise UsageError(f"{cls.__name__}.tools must be a property or a list; add @property")
    if name == "tools" or isinstance(value, (property, staticmethod, classmethod)):
        return
    wanted = Mechanism.HOOKS[name]
    try:
        inspect.signature(value).bind("self", *wanted)
    except TypeError:
        raise UsageError(
            f"{cls.__name__}.{name} must take ({', '.join(('self', *wanted))}); "
            f"it takes {inspect.signature(value)}"
        ) from None

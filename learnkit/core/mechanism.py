"""What a mechanism is: a set of hooks around the loop, all of them optional.

The loop never changes; every lesson adds one mechanism object to it.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from learnkit.core.interface import AgentLike, Call, Result
from learnkit.core.tools import Tool
from learnkit.errors import ToolError, UsageError
from learnkit.runtime.clock import Signal


class Mechanism:
    """Base class of everything that is added to the loop; each hook does nothing by default.

    An instance serves one agent, :attr:`agent`. Every hook is given it as well; a subclass may
    annotate that parameter as :class:`learnkit.Agent`. A subclass that defines something that
    looks like a misspelt hook is refused when the class is made, so that a hook cannot vanish
    silently.
    """

    HOOKS: ClassVar[dict[str, tuple[str, ...]]] = {
        "tools": (),
        "system": ("agent",),
        "before_model": ("agent",),
        "request": ("agent", "body"),
        "refuse": ("agent", "call"),
        "after_tool": ("agent", "call", "result"),
        "after_tools": ("agent", "calls"),
        "on_stop": ("agent",),
        "waits_for": ("agent",),
        "carry": ("agent",),
        "close": ("agent",),
    }

    #: Whether the agent that has it leads others, and may change what they have begun.
    leads: ClassVar[bool] = False

    _agent: AgentLike | None = None

    @property
    def agent(self) -> AgentLike:
        """The agent that it serves: the one it was given to.

        Raises:
            UsageError: if it was given to none yet.
        """
        if self._agent is None:
            name = type(self).__name__
            raise UsageError(f"this {name} serves no agent yet; make one: Agent(client, [it])")
        return self._agent

    @classmethod
    def of(cls, agent: AgentLike) -> Self | None:
        """Return an agent's mechanism of this class, the first one; None if it has none.

        Args:
            agent: whose mechanisms are looked through.
        """
        return next((one for one in agent.mechanisms if isinstance(one, cls)), None)

    def emit(self, event: object, /, **data: Any) -> None:
        """Log an event in the lane of the agent that it serves; nothing when it serves none yet.

        So a tool can be tried out by hand, before there is an agent.

        Args:
            event: an object of a class that :func:`learnkit.event` has declared; or the name of a
                type such as ``note.taken``.
            data: details, for the name of a type; must be JSON-ready.
        """
        if self._agent is not None:
            self._agent.emit(event, **data)

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools it offers, asked once: by default its methods that are marked ``@tool``."""
        classes = reversed(type(self).__mro__)
        found = (n for cls in classes for n, v in vars(cls).items() if hasattr(type(v), "spec"))
        return [getattr(self, name) for name in dict.fromkeys(found)]

    def system(self, agent: Any) -> str | None:
        """When a run starts, return a paragraph for the system prompt, or None.

        Args:
            agent: that the mechanism serves; the same for all hooks.
        """

    def before_model(self, agent: Any) -> None:
        """Before each request, when every call is answered: may call ``agent.rewrite``.

        Args:
            agent: as for :meth:`system`.
        """

    def request(self, agent: Any, body: dict[str, Any]) -> None:
        """Change the body of the next request, in place; what is in it is sent.

        It is called for each request, and when something shows the next one, so it must do nothing
        else. To change the messages for good, use :meth:`before_model`.

        Args:
            agent: as for :meth:`system`.
            body: keys as in the API; put new values in, and leave lists in it as they are.
        """

    def refuse(self, agent: Any, call: Call) -> str | None:
        """Before each tool call, return a reason why it must not run, or None.

        Args:
            agent: that makes the call; a subagent's calls are shown to its parent's mechanisms too.
            call: what the model asks for.
        """

    def after_tool(self, agent: Any, call: Call, result: Result) -> str | None:
        """After each call that has a result, return text to follow the results, or None.

        Of calls that run side by side it is told when all of them are done, in their order. A call
        that an interrupt has cancelled comes to no hook.

        Args:
            agent: as for :meth:`system`.
            call: what the model asked for.
            result: what it gets; also of a call that was refused or went wrong.
        """

    def after_tools(self, agent: Any, calls: Sequence[Call]) -> str | None:
        """After the calls of a reply, return text to follow their results, or None.

        It is part of the same user message.

        Args:
            agent: as for :meth:`system`.
            calls: in the order of the reply.
        """

    def on_stop(self, agent: Any) -> str | None:
        """When the model has stopped, return text that makes it take another turn, or None.

        Args:
            agent: as for :meth:`system`.
        """

    def waits_for(self, agent: Any) -> Sequence[Signal]:
        """When no ``on_stop`` had a text, return signals of what is still under way.

        The run does not end while a mechanism returns some. It waits until one of all the signals
        is set, those of other mechanisms too, and asks each ``on_stop`` again. So a mechanism need
        not wait in ``on_stop``, where nothing else would be heard. A signal that stays set has to
        be left out once ``on_stop`` has dealt with it.

        Args:
            agent: as for :meth:`system`.
        """
        return ()

    def carry(self, agent: Any) -> str | None:
        """When the messages are compacted, return text that the new ones must contain, or None.

        The loop itself never asks; :class:`learnkit.Compaction` does.

        Args:
            agent: as for :meth:`system`.
        """

    def close(self, agent: Any) -> None:
        """When the agent is closed, end what was started for it: threads, processes, files.

        It may be called more than once.

        Args:
            agent: as for :meth:`system`.
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


@contextmanager
def refusals_logged(
    emit: Callable[[object], object], refused: Callable[..., object]
) -> Iterator[None]:
    """Log why a call is refused, if it is, with the event that ``refused(problem=…)`` makes."""
    try:
        yield
    except ToolError as error:
        emit(refused(problem=str(error)))
        raise


def _check_parameters(cls: type, name: str, value: Any) -> None:
    """Reject a hook that the loop could not call."""
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

"""Tools: functions that a model can call.

``@tool`` turns a function, or a method of a mechanism, into a ``Tool``: its name, its description
and its JSON Schema come from the signature and the docstring, so that what the model reads and
what the code does cannot drift apart. The loop looks tools up by name; it never changes.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args, overload

from learnkit.core.asynchronous import finished
from learnkit.core.interface import AgentLike, Call
from learnkit.core.tool_schema import Arguments
from learnkit.errors import ArgumentsError, UsageError

#: How many calls of a tool marked ``parallel=True`` run side by side.
SIDE_BY_SIDE = 4
#: How long the result of a tool matters.
Holds = Literal["", "last", "always"]


class Tool:
    """A function with the description that a model needs to call it.

    It can still be called like the function it is made from. In a class it works like a method.

    Args:
        function: what is run, plain or ``async``. A parameter named ``agent`` receives the calling
            agent, one named ``call`` the :class:`learnkit.Call` that it answers; the model sees
            neither.
        name: by default the function's.
        description: by default the docstring, without its section ``Args:``.
        parallel: how many calls of one reply may run side by side; True for 4.
        read_only: it changes nothing but the notes of the agent that calls it, so that a subagent
            of the kind ``explore`` keeps it, and a teammate needs no approved plan for it.
        internal: it changes only what the harness keeps for its agents, such as tasks, messages and
            teammates: no file of the user's, and it runs no command, so the user is not asked.
        holds: how long a result matters, for compaction: ``"always"``, such as instructions;
            ``"last"``, until the next one of the tool, such as a plan; ``""``, not longer than
            other output.

    Raises:
        UsageError: for a name the API refuses, a signature that no schema can express, or another
            ``holds``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parallel: bool | int = False,
        read_only: bool = False,
        internal: bool = False,
        holds: Holds = "",
    ) -> None:
        functools.update_wrapper(self, function)
        self.name: str = name or str(getattr(function, "__name__", ""))
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", self.name):
            raise UsageError(
                f"{self.name!r} cannot be a tool's name: 1 to 128 of letters, digits, '_' and '-'"
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(f"tool {self.name!r} must be a plain or an async function: no yield")
        if parallel is not True and parallel < 0:
            raise UsageError(f"tool {self.name!r}: parallel is {parallel}; give 1 or more")
        self.parallel = SIDE_BY_SIDE if parallel is True else max(1, parallel)
        if holds not in get_args(Holds):
            raise UsageError(f"tool {self.name!r}: holds is {holds!r}; give 'always', 'last' or ''")
        self.read_only, self.internal = read_only, internal
        self.holds: Holds = holds
        self._function = function
        self._arguments = Arguments(function, self.name)
        self.description = self._arguments.text if description is None else description
        self._owner: Any = None
        self._only: dict[str, tuple[str, ...]] = {}

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, an object."""
        schema = copy.deepcopy(self._arguments.schema)
        for name, values in self._only.items():
            about = schema["properties"][name]
            default = {"default": about.pop("default")} if "default" in about else {}
            about.update(enum=list(values), **default)  # in the order of a Literal's schema
        return schema

    def narrowed(self, **only: Sequence[str]) -> Tool:
        """A copy that takes fewer values.

        Args:
            only: parameter and the values that it may have, all of them texts.

        Raises:
            UsageError: if there is no such parameter.
        """
        for name in only.keys() - self._arguments.schema["properties"].keys():
            raise UsageError(f"tool {self.name!r} has no parameter {name!r}")
        made = copy.copy(self)
        made._only = {**self._only, **{name: tuple(values) for name, values in only.items()}}
        return made

    def spec(self) -> dict[str, Any]:
        """The tool as a request to the API describes it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    def run(
        self, agent: AgentLike | None, input: dict[str, Any], call: Call | None = None
    ) -> str | list[dict[str, Any]]:
        """Call the function with what the model wrote.

        Args:
            agent: who calls.
            input: the arguments, as the ``tool_use`` block has them.
            call: the block itself, if a model has written one.

        Returns:
            What goes into the ``tool_result`` block: a text, or content blocks; ``(no output)``
            for nothing, JSON for other values.

        Raises:
            ArgumentsError: if the arguments do not fit, naming them.
            Exception: whatever the function raises.
        """
        if self._owner is None and self._arguments.takes_self:
            raise UsageError(f"tool {self.name!r} is a method; take it from an instance")
        arguments = self._arguments.check(input)
        for name, values in self._only.items():
            if name in arguments and arguments[name] not in values:
                allowed = ", ".join(map(repr, values))
                raise ArgumentsError(f"{self.name}: {name} must be one of {allowed}")
        given = {"agent": agent, "call": call}
        arguments.update((name, given[name]) for name in self._arguments.injected)
        value = self(**arguments)
        return _as_result(finished(value) if inspect.iscoroutine(value) else value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._owner is None:
            return self._function(*args, **kwargs)
        return self._function(self._owner, *args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Tool:
        if instance is None or not self._arguments.takes_self:
            return self
        bound = copy.copy(self)  # the schema is shared
        bound._owner = instance
        return bound

    def __repr__(self) -> str:
        return f"<Tool {self.name}({', '.join(self._arguments.schema['properties'])})>"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parallel: bool | int = False,
    read_only: bool = False,
    internal: bool = False,
    holds: Holds = "",
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a :class:`Tool` of a function: ``@tool``, or with options ``@tool(parallel=3)``.

    Args:
        function: what is run; left out when there are options.
        options: as for :class:`Tool`.
    """
    if function is None:
        return lambda function: Tool(function, **options)
    return Tool(function, **options)


def _as_result(value: Any) -> str | list[dict[str, Any]]:
    if value is None:
        return "(no output)"
    if isinstance(value, str):
        return value if value.strip() else "(no output)"
    if isinstance(value, list) and value and all(_is_block(one) for one in value):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in ("text", "image", "document")

"""What the loop, a mechanism and a tool know of each other: a call, and the agent that made it.

The loop runs tools and asks mechanisms, and hands both of them the agent. So that neither has to
import the loop, what they may use of an agent is written down here, below all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from learnkit.core.content import Block
from learnkit.events.log import Event, EventLog
from learnkit.runtime.clock import Clock, Signal

if TYPE_CHECKING:
    import anthropic


class Call(NamedTuple):
    """One ``tool_use`` block: what the model asks for.

    Attributes:
        id: pairs the call with its result.
        name: the tool's name, as the model wrote it.
        input: the arguments, as the model wrote them.
    """

    id: str
    name: str
    input: dict[str, Any]


class Result(NamedTuple):
    """What came of a call: its ``tool_result``.

    Attributes:
        content: text, or content blocks, as the model reads them.
        is_error: it is marked as an error.
        how: ``ran``, ``raised``, ``invalid`` (arguments that do not fit), ``unknown`` (there is no
            such tool), ``refused``, ``cut`` (by max_tokens) or ``cancelled``.
        seconds: how long it took, on the clock.
    """

    content: str | list[Block]
    is_error: bool
    how: str
    seconds: float


class AgentLike(Protocol):
    """What a mechanism and a tool may use of the agent that they serve, a :class:`learnkit.Agent`.

    Attributes:
        name: its lane in the event log.
        client: an ``anthropic.Anthropic``.
        model: model id.
        max_tokens: the longest reply it asks for, in tokens.
        system: the system prompt.
        events: the log that it writes to.
        clock: gives the time; every wait goes through it.
        stop: the signal that cancels the run.
        wake: set it when something has come for the agent: a run that waits asks ``on_stop`` again.
        mechanisms: what is added to its loop, in order.
        tools: the tools it may call, by name.
        messages: the message array, as it will be sent.
        turns: how many times this run has asked the model.
        settings: of its requests, beside the parts that have an attribute of their own.
        prices: what its model costs: model id -> price.
        specs: the tools as a request describes them.
        over_budget: whether the run has cost what it may.
        hear: called with the kind, ``text`` or ``thinking``, and each piece of a reply as it comes;
            None for replies that come whole.
        call_ids: the ids of all calls so far.
        sender: the client without retries of its own; the client itself if it has to do them.
    """

    name: str
    client: anthropic.Anthropic
    model: str
    max_tokens: int
    system: str
    events: EventLog
    clock: Clock
    stop: Signal
    wake: Signal
    mechanisms: tuple[Any, ...]
    tools: dict[str, Any]
    messages: list[Block]
    turns: int
    settings: dict[str, Any]
    prices: Mapping[str, Any]
    specs: list[dict[str, Any]]
    over_budget: Callable[[], bool]
    hear: Callable[[str, str], object] | None
    call_ids: set[str]

    @property
    def sender(self) -> Any:
        """The client without retries of its own."""
        ...

    def emit(self, event: object, /, **data: Any) -> Event:
        """Append an event in the agent's lane, at the clock's time.

        Args:
            event: an object of a class that :func:`learnkit.event` has declared; or the name of a
                type such as ``note.taken``.
            data: details, for the name of a type; must be JSON-ready.
        """
        ...

    def rewrite(self, messages: Sequence[Block], why: str) -> None:
        """Replace the whole message array, and log it.

        Args:
            messages: the new array.
            why: a word for the log.
        """

    def await_more(self) -> str | None:
        """What the model should go on with after it has stopped; waits while a mechanism does."""
        ...

    def request(self) -> dict[str, Any]:
        """The next request, as it will be sent."""
        ...

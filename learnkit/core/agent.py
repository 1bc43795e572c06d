"""The agent loop: ask the model, run what it calls, hand back the results, until it calls nothing.

``Agent.step`` is the whole loop body. It guarantees that every ``tool_use`` block gets exactly one
``tool_result`` in the very next user message, whatever the model, a tool or a mechanism does.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from learnkit.core.asynchronous import in_thread, streamed
from learnkit.core.catalog import DEFAULT_MODEL, PRICES, Price, price_of
from learnkit.core.content import Block, check_prompt, clean, note, spoken
from learnkit.core.mechanism import Mechanism
from learnkit.core.request import (
    ask,
    body_of,
    check_client,
    checked_settings,
    live_client,
    without_retries,
)
from learnkit.core.tool_calls import Batch, calls_in
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import Tool
from learnkit.core.typed import Typed
from learnkit.core.usage import Usage, spent
from learnkit.errors import UsageError
from learnkit.events.log import Event, EventLog
from learnkit.events.loop import MessageAdded, MessagesRewritten, RunEnded, RunStarted
from learnkit.runtime.clock import Clock, Signal, SystemClock
from learnkit.runtime.interrupts import holdable, unbroken, uninterrupted

if TYPE_CHECKING:
    import anthropic


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    Attributes:
        text: what the model said last.
        reason: the reply's stop_reason, or ``cancelled``, ``turn_limit`` or ``cost_limit``.
        turns: how many times the model was asked.
        usage: tokens of the agent and its subagents in this run, and what they cost.
        output: the answer as the type that ``run(output=…)`` asked for; None if it asked for none,
            or the model did not write one.
    """

    text: str
    reason: str
    turns: int
    usage: Usage = field(default=Usage(), compare=False, repr=False)
    output: Any = field(default=None, compare=False, repr=False)


class Agent:
    """A model in a loop with tools.

    Args:
        client: an ``anthropic.Anthropic``; those of :func:`learnkit.connect` bring a clock. Without
            one the API is asked, for ``model``, with the key in ``ANTHROPIC_API_KEY``.
        mechanisms: what is added to the bare loop, in order.
        tools: functions, or what ``@tool`` made of them; they come after those of the mechanisms.
        model: model id; by default the client's.
        system: the first paragraph of the system prompt.
        name: the agent's lane in the event log.
        events: the log to write to; by default a new one.
        stop: the signal that cancels the run; by default one of its own, a new one after each
            run that it has cancelled.
        max_turns: how many times a run may ask the model.
        max_cost: US dollars that a run may cost, its subagents and teammates included; at offline
            clients, what the estimated tokens would cost. It is looked at before each request, so
            the last ones may go beyond it. A reply whose price isn't known ends the run, too.
        max_tokens: the longest reply to ask for, in tokens. With more than the SDK allows for
            replies that come whole, they are streamed.
        request: further keys of each request, as the API names them, such as ``thinking``,
            ``output_config`` or ``tool_choice``; ``betas``, a list; options of the SDK such as
            ``extra_headers``. ``{"cache_control": None}`` is for servers that refuse that key.
        prices: model id -> price, for ``Outcome.usage``; by default those of ``core/catalog.py``.
        clock: gives the time; by default the client's, or else the system's.

    Use it as a context manager: at the end its mechanisms are closed.

    Attributes:
        hear: called with ``text`` or ``thinking`` and each piece of a reply as the model writes it,
            and with ``output`` and what a command prints, if :class:`learnkit.CodingTools` is told
            so; None, as by default, for replies that come whole.
        outcome: how the last run ended; None before that.
        over_budget: whether a run has cost what it may; a child's is its parent's.

    Raises:
        UsageError: for neither a client nor a model, a client of asyncio, tools with one name, a
            mechanism that serves another agent, a key of ``request`` that is given in another way,
            or a ``max_cost`` for a model whose price isn't known.
    """

    hear: Callable[[str, str], object] | None = None
    outcome: Outcome | None = None

    def __init__(
        self,
        client: anthropic.Anthropic | None = None,
        mechanisms: Sequence[Mechanism] = (),
        *,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        model: str | None = None,
        system: str = "",
        name: str = "lead",
        events: EventLog | None = None,
        stop: Signal | None = None,
        max_turns: int = 50,
        max_cost: float | None = None,
        max_tokens: int = 16_000,
        request: Mapping[str, Any] | None = None,
        prices: Mapping[str, Price] = PRICES,
        clock: Clock | None = None,
    ) -> None:
        if max_turns < 1:
            raise UsageError(f"max_turns is {max_turns}; a run needs at least one turn")
        self.settings, self.prices = checked_settings(request), prices
        self.client = live_client(model) if client is None else client
        check_client(self.client)
        self._sender = without_retries(self.client)
        self.mechanisms = (*_listed("mechanisms", mechanisms), *_toolbox(_listed("tools", tools)))
        self.name = name
        self.events = EventLog() if events is None else events
        self.clock: Clock = clock or getattr(client, "clock", None) or SystemClock()
        self.stop = stop or self.clock.signal(f"the stop of {name!r}")
        self._own_stop = stop is None
        self.wake = self.clock.signal(f"news for {name!r}")
        self.model = model or getattr(client, "model", None) or DEFAULT_MODEL
        self.max_turns, self.max_tokens = max_turns, max_tokens
        self.max_cost = self._checked_limit(max_cost)
        self.over_budget: Callable[[], bool] = self._has_spent
        self.system = self._base_system = system
        self.turns = 0
        self._messages: list[Block] = []
        self._logged = self._began = 0
        self._text, self._open = "", False  # a run has begun, and not ended
        self._typed: Typed | None = None  # what this run's answer has to be
        self.call_ids: set[str] = set()
        self._batch: Batch | None = None  # until its results are in the messages
        self.tools: dict[str, Tool] = _attach(self, self.mechanisms)
        self.specs = [tool.spec() for tool in self.tools.values()]

    def __repr__(self) -> str:
        return (
            f"<Agent {self.name!r} on {self.model}: {len(self._messages)} messages; "
            f"tools: {', '.join(self.tools) or 'none'}>"
        )

    # The loop

    def run(self, prompt: str | list[Block] | None = None, *, output: Any = None) -> Outcome:
        """Work on ``prompt`` until the model is done.

        Args:
            prompt: text or content blocks; None continues with the messages as they are.
            output: a type that the answer must have: a pydantic model, a dataclass, ``list[str]``.
                The API gets its schema. An answer that does not fit goes back to the model, twice.

        Returns:
            The last text, the reason of the end, and the number of turns; ``output`` has the answer
            as an object of the type.

        Raises:
            anthropic.APIError: what the API refused, after the SDK's retries; the messages stay
                valid and ``run`` can be called again.
            UsageError: if ``output`` is no type that JSON can hold.
        """
        self._typed = None if output is None else Typed(output)
        with self.clock.interruptible(self.stop), holdable():
            try:
                try:
                    self.start(prompt)
                    while (outcome := self._step()) is None:
                        pass
                except Exception:
                    with uninterrupted():
                        self._break_off(interrupted=False)
                    raise
            except BaseException as error:  # perhaps a Ctrl-C that came right behind an error
                with uninterrupted():  # by a second one
                    self._break_off(isinstance(error, KeyboardInterrupt))
                raise
            return outcome

    async def arun(self, prompt: str | list[Block] | None = None, *, output: Any = None) -> Outcome:
        """Work on ``prompt`` as :meth:`run` does, in a thread, for programs of asyncio.

        If the task is cancelled, the run ends, as a stop does.

        Args:
            prompt: as for :meth:`run`.
            output: as for :meth:`run`.

        Returns:
            As :meth:`run`.

        Raises:
            anthropic.APIError: as for :meth:`run`.
        """
        return await in_thread(lambda: self.run(prompt, output=output), lambda: self.stop)

    def astream(self, prompt: str | list[Block] | None = None) -> AsyncGenerator[Event, None]:
        """Work on ``prompt`` as :meth:`stream` does, for ``async for``; then see :attr:`outcome`.

        Use ``contextlib.aclosing`` around it if you may leave before its end.

        Args:
            prompt: as for :meth:`run`.

        Returns:
            The events of :meth:`stream`, as they happen.
        """
        return streamed(self.stream(prompt), lambda: self.stop)

    def stream(self, prompt: str | list[Block] | None = None) -> Generator[Event, None, Outcome]:
        """Work on ``prompt`` as :meth:`run` does, and yield what happens as it happens.

        The run has a thread of its own. Leaving the loop over the events ends the run, as a stop
        does; a reply that is on its way is waited for until its next piece comes.

        Args:
            prompt: as for :meth:`run`.

        Yields:
            The events of the log, of other agents in it too; between them ``text.delta`` and
            ``thinking.delta`` of this agent, with ``text``, and what else :attr:`hear` gets, which
            are not in the log: ``seq`` is -1. After ``model.retried`` a reply begins anew.

        Returns:
            The outcome, which is :attr:`outcome` as well.

        Raises:
            anthropic.APIError: as for :meth:`run`.
        """
        arrived: SimpleQueue[Event] = SimpleQueue()
        news, stop = self.clock.signal(f"events of {self.name!r}"), self.stop
        hear = self.hear

        def put(event: Event) -> None:
            arrived.put(event)
            news.set()

        def heard(kind: str, text: str) -> None:
            put(Event(-1, self.clock.time(), self.name, f"{kind}.delta", {"text": text}))
            if hear is not None:
                hear(kind, text)

        unsubscribe = self.events.subscribe(put)
        self.hear = heard
        try:
            worker = self.clock.spawn(f"{self.name}: run", self.run, prompt)
            try:
                while True:
                    news.clear()
                    done = worker.done  # before the queue is looked at: nothing comes after it
                    while not arrived.empty():
                        yield arrived.get()
                    if done:
                        break
                    self.clock.wait(news, worker.ended)
            except BaseException:
                stop.set()
                with suppress(Exception, KeyboardInterrupt):  # the first one counts
                    worker.join()
                raise
            outcome: Outcome = worker.join()
            return outcome
        finally:
            self.hear = hear
            unsubscribe()

    def _step(self) -> Outcome | None:
        try:
            return self.step()
        except InterruptedError:  # what it waited for is not waited for any more
            if not self.stop.is_set():
                raise
            return self.step()

    def step(self) -> Outcome | None:
        """Take one turn: one request, and the results of the calls in its reply.

        Returns:
            None when there is more to do, else how the run ended.
        """
        self._answer_open_calls()
        if self.stop.is_set():
            return self._end("cancelled")
        if self.turns >= self.max_turns:
            return self._end("turn_limit")
        if self.over_budget():
            return self._end("cost_limit")
        for mechanism in self.mechanisms:
            mechanism.before_model(self)
        if self.stop.is_set():
            return self._end("cancelled")

        self.turns += 1
        self._log_new()
        reason, content = ask(self)
        if content:
            self._append("assistant", content)
            self._text = spoken(content) or self._text

        if calls := calls_in(self._messages[-1]):
            self._batch = batch = Batch(self, calls, cut=reason == "max_tokens")
            batch.run()
            for mechanism in self.mechanisms:
                batch.notes += note(mechanism.after_tools(self, calls))
            self._append("user", batch.answer())
            self._batch = None
            return None

        if reason == "pause_turn":
            return None
        if reason in ("max_tokens", "refusal", "model_context_window_exceeded", "cancelled"):
            return self._end(reason)
        problem = self._typed.problem(self._text) if self._typed else None
        if more := note(problem or self.await_more()):
            self._append("user", more, injected=True)
            return None
        return self._end(reason if content else "end_turn")

    def await_more(self) -> str | None:
        """Ask the mechanisms what the model should go on with, now that it has stopped.

        As long as one of them waits for something, so does the run: for all of it at once.

        Returns:
            The first text that an ``on_stop`` has; None when there is none, and nothing to wait
            for either.
        """
        while True:
            self.wake.clear()  # before they look, so that nothing that comes later is missed
            for mechanism in self.mechanisms:
                text: str | None = mechanism.on_stop(self)
                if note(text):
                    return text
            signals = [one for each in self.mechanisms for one in each.waits_for(self)]
            if not signals or self.stop.is_set():
                return None
            self.clock.wait(*dict.fromkeys((self.wake, self.stop, *signals)))

    # The end

    @unbroken
    def close(self) -> None:
        """Close all mechanisms, the last one first: their teammates, jobs and threads end.

        Raises:
            BaseException: what a mechanism raised; the others are closed all the same.
        """
        with ExitStack() as stack:
            for mechanism in self.mechanisms:
                stack.callback(mechanism.close, self)

    def __enter__(self) -> Self:
        return self

    @unbroken
    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        # An error on its way out matters more than one found while closing.
        with suppress(Exception) if kind else nullcontext():
            self.close()

    # Messages and events

    @property
    def messages(self) -> list[Block]:
        """The message array, as it will be sent."""
        return self._messages

    @messages.setter
    def messages(self, messages: list[Block]) -> None:
        self.rewrite(messages, "assigned")

    def rewrite(self, messages: Sequence[Block], why: str) -> None:
        """Replace the whole message array, and log it; for compaction.

        Args:
            messages: the new array.
            why: a word for the log.
        """
        with uninterrupted():
            self._messages = list(messages)
            self._logged = len(self._messages)
            for message in self._messages:
                self._know_calls(message)
            self.emit(MessagesRewritten(messages=tuple(self._messages), why=why))

    def resume(self) -> None:
        """Take up the conversation that the event log has of this agent.

        For a new process: ``Agent(…, events=EventLog.load(path))``, then this, then :meth:`run`.
        Calls that were running when the old process ended are answered as cancelled by then. What
        mechanisms know beside the messages is theirs to bring back.

        Raises:
            UsageError: if a message of the log says that it belongs after others that are missing.
        """
        messages: list[Block] = []
        for event in self.events:
            if event.lane == self.name and event.type == "messages.rewritten":
                messages = list(event.data["messages"])
            elif event.lane == self.name and event.type == "message.added":
                at = event.data["index"]
                if at > len(messages):
                    raise UsageError(
                        f"event {event.seq} adds message {at} of {self.name!r}, and the log has "
                        f"{len(messages)} before it; the conversation cannot be taken up"
                    )
                messages[at:] = [event.data["message"]]
        with uninterrupted():
            self._messages, self._logged = messages, len(messages)
            for message in messages:
                self._know_calls(message)

    def emit(self, event: object, /, **data: Any) -> Event:
        """Append an event in this agent's lane, at the clock's time.

        Args:
            event: an object of a class that :func:`learnkit.event` has declared; or the name of a
                type such as ``note.taken``.
            data: details, for the name of a type; must be JSON-ready.

        Raises:
            UsageError: if the details cannot be written as JSON, or the object is no event.
        """
        return self.events.add(event, data, self.name, self.clock.time())

    def request(self) -> dict[str, Any]:
        """Return the next request, as it will be sent: what the model sees, and nothing else."""
        body = body_of(self)
        if self._typed is not None:
            self._typed.ask(body)
        return body

    @property
    def sender(self) -> Any:
        """The client without retries of its own, which are left to the agent.

        It is the client itself if that has no retries, or cannot do without.
        """
        if self._sender[0] is not self.client:  # which was replaced
            self._sender = without_retries(self.client)
        return self._sender[1]

    def start(self, prompt: str | list[Block] | None = None) -> None:
        """Begin a run without taking a turn: fix the system prompt, append the prompt.

        Args:
            prompt: as for :meth:`run`.

        Raises:
            UsageError: for an empty prompt, or none when it is not the model's turn.
        """
        self._answer_open_calls()
        check_prompt(prompt, self._messages)
        paragraphs = [self._base_system, *(one.system(self) for one in self.mechanisms)]
        self.system = clean("\n\n".join(text for text in paragraphs if text))
        self.specs = [tool.spec() for tool in self.tools.values()]
        self.turns, self._text = 0, ""
        with uninterrupted():
            self._began, self._open = len(self.events), True
            tools = tuple(self.specs)
            self.emit(RunStarted(prompt=prompt, system=self.system, tools=tools, model=self.model))
        if prompt is not None:
            self._append("user", clean(prompt) if isinstance(prompt, str) else prompt)

    def _append(self, role: str, content: str | list[Block], *, injected: bool = False) -> None:
        with uninterrupted():
            self._log_new()
            self._messages.append({"role": role, "content": content})
            self._log_new(injected=injected)

    def _log_new(self, *, injected: bool = False) -> None:
        """Log the messages that were added since, by us or by hand."""
        if self._logged > len(self._messages):  # some were removed by hand
            self.rewrite(self._messages, "edited")
        while self._logged < len(self._messages):
            index, message = self._logged, self._messages[self._logged]
            self._know_calls(message)
            with uninterrupted():
                self._logged += 1  # also if a listener raises: the event is in the log by then
                try:
                    self.emit(MessageAdded(index=index, message=message, injected=injected))
                except UsageError:
                    self._logged = index  # it can be neither logged nor sent before it is corrected
                    raise

    def _know_calls(self, message: Block) -> None:
        """Remember the ids of its calls: the API refuses one that comes twice."""
        if message.get("role") == "assistant" and not isinstance(message["content"], str):
            for block in message["content"]:
                if "id" in block:
                    self.call_ids.add(block["id"])

    def _answer_open_calls(self) -> None:
        """Make the array one that can be sent, wherever an interrupt has left it.

        Calls at its end get the results that are there, and the others count as cancelled.
        """
        if self._messages and (calls := calls_in(self._messages[-1])):
            if self._batch is None or self._batch.calls != calls:
                self._batch = Batch(self, calls, cut=False)
            try:
                self._batch.cancel_rest()
            finally:  # a listener of the log may raise
                self._append("user", self._batch.answer())
        self._batch = None

    def _break_off(self, interrupted: bool) -> None:
        """Leave everything as the next run needs it, after an error or an interrupt."""
        try:
            if interrupted:  # also between two waits: teammates and jobs have to end as well
                self.clock.stop_all()
            self._answer_open_calls()
            if interrupted and self._open:  # else it came before the beginning or after the end
                self._end("cancelled")
        finally:
            self._open = False
            self._rearm()

    def _end(self, reason: str) -> Outcome:
        self._rearm()
        usage = Usage.of(self.events[self._began :], self.name, self.prices)
        output = None if self._typed is None else self._typed.output
        with uninterrupted():
            self.outcome, self._open = Outcome(self._text, reason, self.turns, usage, output), False
            self.emit(RunEnded(reason=reason, text=self._text, turns=self.turns))
        return self.outcome

    def _checked_limit(self, max_cost: float | None) -> float | None:
        if max_cost is not None and not max_cost > 0:
            raise UsageError(f"max_cost is {max_cost}; give US dollars, above 0")
        if max_cost is not None and price_of(self.model, self.prices) is None:
            raise UsageError(
                f"max_cost needs the price of {self.model!r}; give it with prices={{…: Price(…)}}"
            )
        return max_cost

    def _has_spent(self) -> bool:
        events = self.events[self._began :] if self.max_cost is not None else []
        return self.max_cost is not None and spent(events, self.prices) >= self.max_cost

    def _rearm(self) -> None:
        # The next run gets a new signal; the old one stays set for threads that have yet to see it.
        if self._own_stop and self.stop.is_set():
            self.stop = self.clock.signal(self.stop.name)


def _listed(name: str, given: Any) -> Any:
    """What was given as a list, or an error that says how to give it."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"{name} is a list: write {name}=[{getattr(given, '__name__', '…')}]")
    return given


def _toolbox(tools: Sequence[Tool | Callable[..., Any]]) -> list[Toolbox]:
    if wrong := [tool for tool in tools if isinstance(tool, Mechanism | type)]:
        raise UsageError(f"{wrong[0]!r} is no tool; mechanisms go in as Agent(client, [mechanism])")
    return [Toolbox(*tools)] if tools else []


def _instead(given: object) -> str:
    """What to write in place of something that is no mechanism."""
    if isinstance(given, type) and issubclass(given, Mechanism):
        return f": write {given.__name__}(…), an object of the class"
    if isinstance(given, Tool) or callable(given):
        name = getattr(given, "name", None) or getattr(given, "__name__", "tool")
        return f" but a tool: write Agent(client, tools=[{name}])"
    return ""


def _attach(agent: Agent, mechanisms: Sequence[Mechanism]) -> dict[str, Tool]:
    """Bind mechanisms to an agent: all of them, or none if one of them cannot be."""
    tools: dict[str, Tool] = {}
    for number, mechanism in enumerate(mechanisms):
        if not isinstance(mechanism, Mechanism):
            raise UsageError(f"{mechanism!r} is no mechanism{_instead(mechanism)}")
        if mechanism._agent is not None or any(one is mechanism for one in mechanisms[:number]):
            served = (mechanism._agent or agent).name
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
        mechanism._agent = agent
    return tools

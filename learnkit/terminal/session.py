"""What a conversation in the terminal runs on: a client, a folder, and what the user keeps."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.events.text import clean
from learnkit.mechanisms.settings import Settings

if TYPE_CHECKING:
    import anthropic

    from learnkit.core.agent import Agent, Outcome
    from learnkit.core.content import Block
    from learnkit.core.mechanism import Mechanism
    from learnkit.mechanisms.permission import Permission
    from learnkit.terminal.saved import Record


@dataclass(frozen=True, slots=True)
class Session:
    """What a conversation runs on.

    Attributes:
        client: an ``anthropic.Anthropic`` with a clock, as :func:`learnkit.connect` makes it.
        workspace: the folder that the agent works in.
        events: the log.
        record: what saves the log; None if nothing does.
        settings: the user's and the project's, of which the hooks count here.
    """

    client: anthropic.Anthropic
    workspace: Path
    events: EventLog = field(default_factory=EventLog)
    record: Record | None = None
    settings: Settings = field(default_factory=Settings)


def open_agent(
    session: Session,
    stack: ExitStack,
    wait: Callable[[str, bool], object],
    permission: Permission | None,
    own: Sequence[Mechanism] = (),
    **options: Any,
) -> Agent:
    """Make the agent of a session, which goes on where its log has ended."""
    from learnkit.backends.connect import SETTING, open_backend
    from learnkit.harness import full_agent

    client: Any = session.client
    backend = None
    if os.environ.get(SETTING):
        backend = open_backend(clock=client.clock, patience=math.inf, waiting=wait)
        stack.callback(backend.close)
    options |= own_parts(session, stack, wait, own)
    options |= {"backend": backend, "permission": permission, "events": session.events}
    agent = full_agent(client, session.workspace, daily=True, **options)
    wait("", True)
    agent.resume()
    restore_list(agent)
    modes = [e.data["mode"] for e in agent.events if e.type == "permission.mode"]
    rules = permission.rules if permission is not None else None
    if rules is not None and modes[-1:] == ["plan"] and rules.mode != "yes":
        rules.mode = "plan"  # no other one: what loosens is said each time
    return agent


def run_agent(agent: Agent, prompt: str | list[Block], say: Callable[[str], object]) -> Outcome:
    """Let an agent work on a prompt, which is forgotten if the API answers with an error.

    Otherwise it would be sent again with the next one, and refused again.
    """
    import anthropic

    before = list(agent.messages)
    try:
        try:
            return agent.run(prompt)
        except anthropic.BadRequestError as error:
            if "cache_control" in agent.settings or "cache_control" not in str(error):
                raise
            agent.settings["cache_control"] = None  # teammates and subagents inherit it
            say("(this server refuses cache_control: no prompt cache from now on)")
            return agent.run()
    except anthropic.APIError:
        after = agent.messages[len(before) :]
        if agent.messages[: len(before)] == before and all(one["role"] == "user" for one in after):
            agent.rewrite(before, "the API refused the prompt")
        raise


def restore_list(agent: Agent) -> None:
    """Give the agent the list that belongs to its conversation, as its log has it."""
    from learnkit.mechanisms.todo import Todo

    now: list[Any] = []
    before: dict[int, list[Any]] = {}
    for event in agent.events:
        if event.lane == agent.name and event.type == "todo.updated":
            now = event.data["items"]
        elif event.type == "checkpoint.made":
            before[event.data["number"]] = now
        elif event.type == "checkpoint.restored" and event.data.get("conversation"):
            now = before.get(event.data["number"], [])
    if todo := Todo.of(agent):
        todo.restore(now)


def own_parts(
    session: Session,
    stack: ExitStack,
    wait: Callable[[str, bool], object],
    own: Sequence[Mechanism],
) -> dict[str, Any]:
    """What the user and the project have written down, and a way back, as parts of the harness."""
    from learnkit.mechanisms.checkpoints import Checkpoints
    from learnkit.mechanisms.hooks import UserHooks
    from learnkit.mechanisms.mcp import Mcp
    from learnkit.mechanisms.prompt_files import PromptFiles

    place, record, hooks = session.workspace, session.record, session.settings.hooks
    kept = None if record is None else record.checkpoints
    extra = [*own]
    if servers := session.settings.servers:
        try:
            extra.append(mcp := Mcp(servers))
            stack.callback(mcp.close)
            wait(f"connecting {', '.join(servers)} …", False)
        except UsageError as error:  # without them the chat is of use all the same
            wait(clean(f"no MCP servers: {error}"), True)
    return {
        "instructions": True,
        "agents": PromptFiles(place).agents,
        "before": [UserHooks(hooks, place)] if hooks else [],
        "extra": [*extra, Checkpoints(place, kept)],
    }


@contextmanager
def live(
    workspace: Path, record: Record | None = None, settings: Settings | None = None
) -> Iterator[Session]:
    """A conversation with the API, whose clock is closed after it; or one that goes on."""
    from learnkit.clients.connect import connect
    from learnkit.runtime.clock import SystemClock

    with closing(record) if record is not None else nullcontext():
        client = connect("live", clock=SystemClock(record.time if record else 0.0))
        events = EventLog() if record is None else record.events
        with client.clock:
            yield Session(client, workspace, events, record, settings or Settings())

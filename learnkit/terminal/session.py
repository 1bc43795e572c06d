"""What a conversation in the terminal runs on: the API, or a recording."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.course import files as course_files
from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.events.text import clean
from learnkit.mechanisms.settings import Settings
from learnkit.terminal.replay import PLAYED, Playback, check

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
        playback: the recorded conversation, if one is played.
    """

    client: anthropic.Anthropic
    workspace: Path
    events: EventLog = field(default_factory=EventLog)
    record: Record | None = None
    settings: Settings = field(default_factory=Settings)
    playback: Playback | None = None


class Paused:
    """A client of a recording that waits while the recording is paused."""

    max_retries = 0

    def __init__(self, client: anthropic.Anthropic, playback: Playback) -> None:
        self._client, self._playback = client, playback
        self.messages = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def create(self, **request: Any) -> Any:
        """Return a reply, or its stream."""
        self._playback.wait()
        return self._client.messages.create(**request)


def open_agent(
    session: Session,
    stack: ExitStack,
    wait: Callable[[str, bool], object],
    permission: Permission | None,
    own: Sequence[Mechanism] = (),
    **options: Any,
) -> Agent:
    """Make the agent of a session, which goes on where its log has ended.

    A recording has the requests of the harness alone, without what is the user's own.
    """
    from learnkit.backends.connect import SETTING, open_backend
    from learnkit.harness import full_agent
    from learnkit.runtime.virtual_clock import VirtualClock

    client: Any = session.client
    backend = None
    if os.environ.get(SETTING) and not isinstance(client.clock, VirtualClock):
        backend = open_backend(clock=client.clock, patience=math.inf, waiting=wait)
        stack.callback(backend.close)
    if session.playback is not None:
        client = Paused(client, session.playback)
    else:
        options |= own_parts(session, stack, wait, own)
        options["daily"] = True
    options |= {"backend": backend, "permission": permission, "events": session.events}
    agent = full_agent(client, session.workspace, **options)
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


@contextmanager
def recorded(lesson: str) -> Iterator[Session]:
    """What a conversation needs to play a lesson's recording, in a folder removed after it."""
    check(lesson)
    from learnkit.clients.recordings.recording import Recording
    from learnkit.clients.recordings.replay import Miss
    from learnkit.course.content import load
    from learnkit.course.lab import Lab

    path, scenario = course_files.recordings() / f"{lesson}.yaml", PLAYED[lesson]
    made = Lab(load(lesson), "replay", path, static=False)
    try:
        with suppress(Miss), made.scenario(scenario) as run:  # the conversation has told of it
            source: Any = run.client.source
            playback = Playback(Recording.load(path), scenario, source.unused)
            yield Session(run.client, run.workspace, run.events, playback=playback)
    finally:
        made.remove()

"""One request to the model: its body, how it is sent and sent again, and its reply as plain blocks.

A request that fails for a reason that may pass (too many requests, an overload, an error of the
server, a lost connection) is sent again for some minutes. It waits on the agent's clock, so that a
stop ends the wait and a virtual clock takes no time. What a server replies is brought into the form
that the API takes back, whatever it has left out.
"""

from __future__ import annotations

import inspect
import json
import os
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from learnkit.core.content import Block, repaired, sendable
from learnkit.core.interface import AgentLike
from learnkit.core.stream import Assembly
from learnkit.errors import Halted, UsageError
from learnkit.events.declaration import part
from learnkit.events.log import LANE, PURPOSE
from learnkit.events.loop import (
    ModelFailed,
    ModelPaused,
    ModelReplied,
    ModelRequested,
    ModelRetried,
    ReplyRepaired,
    UsageData,
)

if TYPE_CHECKING:
    import anthropic

#: Seconds before each further try, about four minutes in all; a bit less, so that agents that fail
#: together do not come back together.
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0)
#: A server that asks for a longer wait, in seconds, is not asked again.
LONGEST_WAIT = 600.0

#: What a request asks the prompt cache to keep, and how, unless its settings say otherwise.
CACHE = {"type": "ephemeral"}

#: Keys of a body that ``messages.create`` of the SDK has parameters for; others travel beside them.
PARAMETERS = frozenset(
    {"model", "max_tokens", "messages", "system", "tools", "cache_control", "container"}
    | {"diagnostics", "inference_geo", "metadata", "output_config", "service_tier", "speed"}
    | {"stop_sequences", "thinking", "tool_choice", "extra_headers", "extra_query", "timeout"}
)
#: Settings of an agent that say how its requests travel, and hold for a request for a summary too.
TRANSPORT = ("betas", "extra_headers", "extra_query", "timeout")
_ALWAYS = frozenset({"model", "max_tokens", "messages", "system", "tools", "cache_control"})

#: Settings that are given in another way, and how.
_ELSEWHERE = {
    "model": "Agent(model=…)",
    "max_tokens": "Agent(max_tokens=…)",
    "system": "Agent(system=…)",
    "messages": "agent.messages",
    "tools": "Agent(tools=[…]), or body['tools'] in a hook request(agent, body)",
    "stream": "agent.stream(prompt)",
}

#: Types of error that a stream may end in, and that pass.
_PASSING = ("overloaded_error", "api_error", "rate_limit_error", "timeout_error")


class Stopped(Exception):
    """The stop signal was set while a reply was waited for."""


class _NotAMessage(Exception):
    """The server answered with something else than a message."""


def checked_settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of requests that a caller gave to an agent."""
    for key in settings or ():
        if key in _ELSEWHERE:
            raise UsageError(f"request={{{key!r}: …}} is not possible; use {_ELSEWHERE[key]}")
    return dict(settings or {})


def live_key() -> str:
    """Return the key for live requests."""
    if key := os.environ.get("ANTHROPIC_API_KEY"):
        return key
    raise UsageError(
        "mode 'live' needs a key: set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for a "
        "compatible server), or stay with the recording, which needs none"
    )


def live_client(model: str | None) -> anthropic.Anthropic:
    """Return a client of the SDK, for an agent that was given a model in place of a client."""
    if not model:
        raise UsageError(
            "an agent needs a client, such as lk.scripted([…]) or lk.connect(recording=…), "
            "or model='…' to ask the API"
        )
    key = live_key()
    import anthropic  # takes a second

    return anthropic.Anthropic(api_key=key)


def check_client(client: Any) -> None:
    """Raise unless an agent can use a client."""
    create = getattr(getattr(client, "messages", None), "create", None)
    if not callable(create):
        instead = f"Agent(model={client!r})" if isinstance(client, str) else "lk.scripted([…])"
        raise UsageError(
            f"{client!r} is no client of the SDK, which has messages.create; write {instead}, or "
            "Agent(anthropic.Anthropic(), …)"
        )
    if inspect.iscoroutinefunction(inspect.unwrap(create) if callable(create) else create):
        raise UsageError(
            f"{type(client).__name__} answers with coroutines, and an agent's loop is not async; "
            f"pass {type(client).__name__.removeprefix('Async')}() in its place, and call "
            "agent.run in a thread: await asyncio.to_thread(agent.run, prompt)"
        )


def without_retries(client: Any) -> tuple[Any, Any]:
    """Return a client, and what sends an agent's requests: a copy of it that does not retry."""
    copy = getattr(client, "with_options", None)
    if copy is None or not getattr(client, "max_retries", 0):
        return client, client
    return client, copy(max_retries=0)


def body_of(agent: AgentLike) -> dict[str, Any]:
    """Return the body of an agent's next request.

    A mark for the prompt cache is set twice: at the end of the conversation, and after the tools
    and the system prompt, which stay in the cache when the messages are rewritten.
    """
    body: dict[str, Any] = {
        "model": agent.model,
        "max_tokens": agent.max_tokens,
        "messages": agent.messages,
    }
    if agent.system:
        body["system"] = agent.system
    if agent.specs:
        body["tools"] = agent.specs
    cache = agent.settings.get("cache_control", CACHE)
    if cache is not None:
        body["cache_control"] = cache
        if agent.system:  # it comes after the tools
            body["system"] = [{"type": "text", "text": agent.system, "cache_control": cache}]
        elif agent.specs:
            body["tools"] = [*agent.specs[:-1], {**agent.specs[-1], "cache_control": cache}]
    body.update((key, one) for key, one in agent.settings.items() if one is not None)
    for mechanism in agent.mechanisms:
        mechanism.request(agent, body)
    return body


def ask(agent: AgentLike) -> tuple[str, list[Block]]:
    """Send an agent's next request.

    Emits ``model.requested``; ``model.retried`` for each failure after which it is sent again;
    ``reply.repaired`` if the reply was not in order; then ``model.replied``, ``model.failed`` or
    ``model.paused``.
    """
    agent.emit(ModelRequested(turn=agent.turns, messages=len(agent.messages)))
    began = agent.clock.time()
    lane = LANE.set(agent.name)
    try:
        reply = sent_until_answered(agent, agent.request())
    except Stopped as stopped:
        agent.emit(ModelFailed(turn=agent.turns, **described(stopped)))
        return "cancelled", []
    except Halted as halted:
        agent.emit(ModelPaused(turn=agent.turns, waits=halted.lane))
        raise
    except Exception as error:
        agent.emit(ModelFailed(turn=agent.turns, **described(error)))
        raise
    finally:
        LANE.reset(lane)
    content, problems = repaired(reply["content"], agent.call_ids, agent.clock.new_id)
    if problems:
        agent.emit(ReplyRepaired(turn=agent.turns, problems=tuple(problems)))
    log_reply(agent, reply, began)
    return reply["stop_reason"] or "end_turn", sendable(content)


def log_reply(
    agent: AgentLike, reply: dict[str, Any], began: float, purpose: str = "conversation"
) -> None:
    """Emit ``model.replied``."""
    agent.emit(
        ModelReplied(
            turn=agent.turns,
            stop_reason=reply["stop_reason"],
            usage=part(UsageData, reply["usage"]),
            model=reply["model"],
            seconds=agent.clock.time() - began,
            purpose=purpose,
        )
    )


def sent_until_answered(agent: AgentLike, body: dict[str, Any]) -> dict[str, Any]:
    """Send a request, and again while it fails for a reason that may pass."""
    arguments = _arguments(body)
    for number, usual in enumerate((*WAITS, None)):
        try:
            return _sent(agent, arguments)
        except Exception as error:
            seconds = _wait(agent, error, number, usual)
            if seconds is None:
                raise
            agent.emit(ModelRetried(turn=agent.turns, seconds=seconds, **described(error)))
            if agent.clock.sleep(seconds, agent.stop):
                raise Stopped("the run was stopped while it waited for the API") from error
    raise AssertionError("the last try returns or raises")


def described(error: Exception) -> dict[str, Any]:
    """Return what an error is, for the log."""
    said = _said(error)
    return {
        "status": getattr(error, "status_code", None),
        "error_type": str(said.get("type") or type(error).__name__),
        "message": str(said.get("message") or error),
    }


def _arguments(body: dict[str, Any]) -> dict[str, Any]:
    """The body as arguments of the SDK."""
    if body.keys() <= _ALWAYS:
        return body
    known = {key: value for key, value in body.items() if key in PARAMETERS}
    more = {key: body[key] for key in body.keys() - PARAMETERS - {"betas", "extra_body"}}
    if more or "extra_body" in body:
        known["extra_body"] = {**more, **(body.get("extra_body") or {})}
    if betas := body.get("betas"):
        names = {"anthropic-beta": betas if isinstance(betas, str) else ",".join(betas)}
        known["extra_headers"] = {**names, **(body.get("extra_headers") or {})}
    return known


def _sent(agent: AgentLike, arguments: dict[str, Any]) -> dict[str, Any]:
    """One try."""
    try:
        if _listener(agent) is not None:
            return _streamed(agent, arguments)
        try:
            return _plain(agent.sender.messages.create(**arguments))
        except ValueError as error:  # of the SDK: with so many max_tokens it could take too long
            if not str(error).startswith("Streaming is required"):
                raise
        return _streamed(agent, arguments)
    except (_NotAMessage, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        import anthropic

        raise anthropic.APIError(
            f"the server answered, but not with a message of the Messages API ({error}); "
            "check ANTHROPIC_BASE_URL, and any proxy between",
            _request(agent),
            body=None,
        ) from error


def _streamed(agent: AgentLike, arguments: dict[str, Any]) -> dict[str, Any]:
    stream: Any = agent.sender.messages.create(**arguments, stream=True)
    if hasattr(stream, "model_dump"):  # a client that does not stream
        return _plain(stream)
    import anthropic
    import httpx2

    assembly, hear = Assembly(), _listener(agent)
    with closing(stream):
        try:
            for event in stream:
                if agent.stop.is_set():
                    raise Stopped("the run was stopped while the model wrote")
                piece = _added(assembly, event)
                if piece is not None and piece[1] and hear is not None:
                    hear(*piece)
        except httpx2.TransportError as error:
            raise anthropic.APIConnectionError(
                message=f"the connection was lost in the middle of a reply: {error}",
                request=_request(agent),
            ) from error
    if not assembly.message:
        raise _NotAMessage("no event of a stream")
    try:
        return _filled(assembly.whole())
    except ValueError as error:
        raise anthropic.APIConnectionError(
            message=f"the stream ended before the reply did ({error})", request=_request(agent)
        ) from error


def _listener(agent: AgentLike) -> Callable[[str, str], object] | None:
    """Who hears a reply while it is written; a summary is nothing that the agent says."""
    return agent.hear if PURPOSE.get() == "conversation" else None


def _added(assembly: Assembly, event: Any) -> tuple[str, str] | None:
    data = _dumped(event)
    try:
        return assembly.add(data)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise _NotAMessage(f"{what} in the event {str(data)[:200]}") from error


def _plain(reply: Any) -> dict[str, Any]:
    """A reply as plain data."""
    if not hasattr(reply, "model_dump"):
        raise _NotAMessage(f"no JSON object but {str(reply)[:200]!r}")
    return _filled(_dumped(reply))


def _dumped(model: Any) -> dict[str, Any]:
    """A model of the SDK as plain data."""
    try:
        data: dict[str, Any] = model.model_dump(mode="json", exclude_unset=True, warnings=False)
    except ValueError as error:  # of pydantic: it is nested too deeply
        raise _NotAMessage(str(error)) from error
    return data


def _filled(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply without empty fields, in which content and usage are what they should be."""
    content, usage = reply.get("content"), reply.get("usage")
    if not isinstance(content, list):
        raise _NotAMessage(f"no list of content blocks but {str(reply)[:200]}")
    usage = usage if isinstance(usage, dict) else {}
    reason = reply.get("stop_reason")
    return {
        "content": [_without_empty(one) if isinstance(one, dict) else one for one in content],
        "usage": {
            key: one
            for key, one in usage.items()
            if one is not None and not (key.endswith("_tokens") and not isinstance(one, int))
        },
        "stop_reason": reason if isinstance(reason, str) else None,
        "model": reply.get("model"),
    }


def _without_empty(block: Block) -> Block:
    return {name: value for name, value in block.items() if value is not None}


def _request(agent: AgentLike) -> Any:
    import httpx2

    return httpx2.Request("POST", str(getattr(agent.client, "base_url", "http://unknown")))


def _wait(agent: AgentLike, error: Exception, number: int, usual: float | None) -> float | None:
    """Seconds to wait before the next try; None if there is none."""
    if usual is None or agent.sender is agent.client or not _passes(error):
        return None
    asked = _retry_after(error)
    if asked is not None:
        return asked if asked <= LONGEST_WAIT else None
    spread = zlib.crc32(f"{agent.name} {agent.turns} {number}".encode()) / 2**32
    return usual * (1 - spread / 4)


def _passes(error: Exception) -> bool:
    """Whether the same request may be answered another time."""
    import anthropic

    if isinstance(error, anthropic.APIConnectionError):
        return True
    if not isinstance(error, anthropic.APIStatusError):
        return False
    says = error.response.headers.get("x-should-retry")
    if says in ("true", "false"):
        return bool(says == "true")
    if error.status_code < 400:  # a stream that began well
        return _said(error).get("type") in _PASSING
    return error.status_code in (408, 409, 429) or error.status_code >= 500


def _retry_after(error: Exception) -> float | None:
    """How many seconds the server asks to wait, if it does."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / unit)
        except ValueError:  # a date, which the API doesn't send
            continue
    return None


def _said(error: Exception) -> dict[str, Any]:
    body = getattr(error, "body", None)
    said = body.get("error") if isinstance(body, dict) else None
    return said if isinstance(said, dict) else {}  # a proxy may answer anything

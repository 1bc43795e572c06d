"""What a server of the Messages API can do: the check behind ``learnkit doctor --live``.

An agent makes one small request, as every run of learnkit does: streamed, with a tool and with
marks for the prompt cache. If the server refuses it, smaller requests find out which part it was.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import TYPE_CHECKING, Any

from learnkit.core.agent import Agent
from learnkit.core.tools import tool
from learnkit.core.usage import Usage, known
from learnkit.errors import UsageError
from learnkit.terminal.api_error import ADVICE
from learnkit.terminal.doctor import Finding

if TYPE_CHECKING:
    import anthropic


SYSTEM = "You check a connection. Do what you are asked, and nothing else."
PROMPT = "Call the tool connection_check with the word 'ready'."
#: The longest reply that is asked for, in tokens: some models think before they call a tool.
MAX_TOKENS = 2_000
#: Seconds after which the server counts as silent.
TIMEOUT = 120.0

#: What a request may be asked without, the least useful first.
CACHE, STREAM, TOOLS = "prompt cache", "streaming", "tool calls"
#: What to do where a server refuses one of them.
WITHOUT = {
    CACHE: "use Agent(request={'cache_control': None}); chat does so by itself",
    STREAM: "use agent.run, not agent.stream; chat shows replies whole",
    TOOLS: "an agent can't work with this server",
}


@tool(read_only=True)
def connection_check(word: str) -> str:
    """Confirm that a tool call arrives.

    Args:
        word: any word.
    """
    return word


def check_server(client: anthropic.Anthropic, model: str) -> list[Finding]:
    """Ask a server once, and say what it can do."""
    quick: Any = client.with_options(max_retries=0, timeout=TIMEOUT)
    quick.clock = getattr(client, "clock", None)
    first: Exception | None = None
    for number in range(len(WITHOUT) + 1):
        for left_out in combinations(WITHOUT, number):
            try:
                return _abilities(*_asked(quick, model, frozenset(left_out)), left_out)
            except UsageError:
                raise
            except Exception as error:
                first = first or error
                if not _may_be_a_part(error, STREAM in left_out):
                    return [_failure(error)]
    assert first is not None
    return [_failure(first)]


def _asked(
    client: Any, model: str, left_out: frozenset[str]
) -> tuple[Agent, list[tuple[str, float]], float]:
    """One request: the agent after it, the pieces that came with their seconds, and all seconds."""
    agent = Agent(
        client,
        model=model,
        system=SYSTEM,
        tools=[] if TOOLS in left_out else [connection_check],
        max_turns=1,
        max_tokens=MAX_TOKENS,
        request={"cache_control": None} if CACHE in left_out else {},
    )
    began = time.monotonic()
    pieces: list[tuple[str, float]] = []
    if STREAM not in left_out:
        agent.hear = lambda kind, _: pieces.append((kind, time.monotonic() - began))
    agent.run(PROMPT)
    return agent, pieces, time.monotonic() - began


def _may_be_a_part(error: Exception, whole: bool) -> bool:
    """Whether a server that failed like this may answer a request for less."""
    status = getattr(error, "status_code", None)
    if status is not None:
        return status in (400, 422, 501)
    # What came was no message. A server that cannot stream may answer a stream so.
    return type(error).__name__ == "APIError" and not whole


def _abilities(
    agent: Agent, pieces: list[tuple[str, float]], seconds: float, left_out: tuple[str, ...]
) -> list[Finding]:
    data = {event.type: event.data for event in agent.events}
    replied = data["model.replied"]
    named = replied.get("model") or "a model without a name"
    found = {
        STREAM: _streaming(pieces),
        TOOLS: _tools(agent, data.get("reply.repaired", {}).get("problems")),
        CACHE: _cache(replied["usage"]),
    }
    refused = {part: Finding(part, False, "refused", WITHOUT[part]) for part in left_out}
    return [
        Finding("answer", True, f"{named} in {seconds:.1f} s"),
        *(found | refused).values(),
        _usage(agent, replied["usage"]),
    ]


def _streaming(pieces: list[tuple[str, float]]) -> Finding:
    found = f"first words after {pieces[0][1]:.1f} s" if pieces else "accepted"
    return Finding(STREAM, True, found)


def _tools(agent: Agent, problems: list[str] | None) -> Finding:
    if not any(event.type == "tool.ended" for event in agent.events):
        advice = "the model answered in text; another model may call tools"
        return Finding(TOOLS, False, "none came", advice)
    if problems:
        return Finding(TOOLS, True, f"repaired: {'; '.join(problems)}", "learnkit repairs this")
    return Finding(TOOLS, True, "a call came with its id and arguments")


def _cache(usage: dict[str, Any]) -> Finding:
    counted = "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage
    return Finding(CACHE, True, "accepted, and counted" if counted else "accepted, not counted")


def _usage(agent: Agent, usage: dict[str, Any]) -> Finding:
    if not known(usage):
        advice = "tokens are estimated, and there is no cost"
        return Finding("usage", False, "not sent", advice)
    total = Usage.of(agent.events, prices=agent.prices)
    cost = "no known price" if total.cost is None else f"${total.cost:.4f}"
    found = f"{total.sent:,} tokens in, {total.output_tokens:,} out, {cost}"
    return Finding("usage", True, found)


def _failure(error: Exception) -> Finding:
    status = getattr(error, "status_code", None)
    said = str(getattr(error, "message", "") or error).strip()
    advice = ADVICE.get(status or 0, "check ANTHROPIC_BASE_URL and the network")
    return Finding("answer", False, f"{f'{status}: ' if status else ''}{said[:300]}", advice)

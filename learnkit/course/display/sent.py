"""What mechanisms add to a request, exactly as it is sent: the system prompt and the tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from learnkit.core.text import count, one_line
from learnkit.core.token_count import estimate_tokens
from learnkit.course.display.card import Card
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.core.mechanism import Mechanism

#: With more tools than this, each is folded.
OPEN = 1


def sent_card(mechanisms: Sequence[Mechanism]) -> Card:
    """Return the system prompt and the tool definitions of an agent with these mechanisms only.

    Args:
        mechanisms: fresh ones; they belong to the agent that is made to ask them.
    """
    from learnkit.clients.connect import scripted
    from learnkit.core.agent import Agent

    with Agent(scripted([]), mechanisms) as agent:
        agent.start("(your prompt)")
        request = agent.request()
    system, tools = request.get("system", []), request.get("tools", [])
    names = ", ".join(type(one).__name__ for one in mechanisms) or "No mechanism"
    tokens = f"≈{sum(estimate_tokens(part) for part in (system, tools) if part):,} tokens"
    head = f"{names} adds to each request {tokens} (≈: characters / 4), as sent:"
    parts = [f"<p>the system prompt</p><pre>{_json(system)}</pre>"] if system else []
    for tool in tools:
        title = f"the tool {tool['name']}: {one_line(tool['description'], 90)}"
        opened = " open" if len(tools) <= OPEN else ""
        parts.append(
            f"<details{opened}><summary>{esc(title)}</summary><pre>{_json(tool)}</pre></details>"
        )
    added = {part: request[part] for part in ("system", "tools") if request.get(part)}
    body = json.dumps(added, ensure_ascii=False, indent=2)
    text = f"{names}: {count(len(tools), 'tool')}, {tokens}\n{body}"
    return Card(f"<p>{esc(head)}</p>{''.join(parts)}", text)


def _json(part: Any) -> str:
    return esc(json.dumps(part, ensure_ascii=False, indent=2))

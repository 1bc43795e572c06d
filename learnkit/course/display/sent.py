"""What mechanisms add to a request, exactly as it is sent: the system prompt and the tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from learnkit.core.token_count import estimate_tokens
from learnkit.course.display.card import FRAME, Card
from learnkit.events.text import count, one_line
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from learnkit.core.mechanism import Mechanism

#: With more tools than this, each is folded.
OPEN = 1
#: Characters of a line of JSON in an open notebook.
LINE = 88


def sent_card(mechanisms: Sequence[Mechanism]) -> Card:
    """Return the system prompt and the tool definitions of an agent with these mechanisms only."""
    from learnkit.clients.connect import scripted
    from learnkit.core.agent import Agent

    with Agent(scripted([]), mechanisms) as agent:
        agent.start("(your prompt)")
        request = agent.request()
    system, tools = request.get("system", []), request.get("tools", [])
    names = ", ".join(type(one).__name__ for one in mechanisms) or "No mechanism"
    tokens = f"≈{sum(estimate_tokens(part) for part in (system, tools) if part):,} tokens"
    head = f"{names} adds to each request {tokens} (≈: characters / 4), as sent:"

    def page(written: Callable[[Any], str]) -> str:
        parts = [f"<p>{esc(head)}</p>"]
        if system:
            parts.append(f"<p>the system prompt</p><pre>{esc(written(system))}</pre>")
        for tool in tools:
            title = f"the tool {tool['name']}: {one_line(tool['description'], 90)}"
            opened = " open" if len(tools) <= OPEN else ""
            body = f"<pre>{esc(written(tool))}</pre>"
            parts.append(f"<details{opened}><summary>{esc(title)}</summary>{body}</details>")
        return "".join(parts)

    added = {part: request[part] for part in ("system", "tools") if request.get(part)}
    body = json.dumps(added, ensure_ascii=False, indent=2)
    text = f"{names}: {count(len(tools), 'tool')}, {tokens}\n{body}"
    framed = f'<div style="{FRAME}">{page(dense)}</div>'
    return Card(page(_json), text, lambda: {"text/html": framed})


def _json(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, indent=2)


def dense(part: Any, indent: int = 0) -> str:
    """Return a value as JSON in which everything that fits on a line is on one."""
    line = json.dumps(part, ensure_ascii=False)
    if not isinstance(part, dict | list) or indent + len(line) <= LINE:
        return line
    inner = indent + 2
    if isinstance(part, dict):
        rows = [f"{json.dumps(name)}: {dense(one, inner)}" for name, one in part.items()]
    else:
        rows = [dense(one, inner) for one in part]
    start, end = "{}" if isinstance(part, dict) else "[]"
    body = ",\n".join(" " * inner + row for row in rows)
    return f"{start}\n{body}\n{' ' * indent}{end}"

"""What the model sees: the system prompt, the tools and the messages of one request, nothing else.

The live form is a set of fragments for a page that lets a reader answer the request; the static
form is a set of tables. Messages look as they do in the message array.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from learnkit.core.token_count import estimate_tokens
from learnkit.core.tool_form import Field, fields
from learnkit.events.log import Event
from learnkit.events.text import blocks_of, count, excerpt, one_line
from learnkit.views.drawing import blocks, static, theme
from learnkit.views.drawing.array import Array, grow
from learnkit.views.drawing.base import css_beside
from learnkit.views.drawing.text import esc, scale_of
from learnkit.views.messages import LEAST, block_rows, scaled

Json = dict[str, Any]

#: The parts of a request that reach the model as text; the rest are settings.
SEEN = ("system", "tools", "messages")
#: The most characters of JSON to show.
SHOWN = 40_000

CSS = css_beside(__file__)


def seen(request: Json) -> Json:
    """The parts of a request that the model sees, without marks for the cache and empty parts."""
    parts = {part: request[part] for part in SEEN if request.get(part)}
    if "system" in parts:
        parts["system"] = _plain_text(parts["system"])
    if "tools" in parts:
        parts["tools"] = [
            {key: value for key, value in tool.items() if key != "cache_control"}
            for tool in parts["tools"]
        ]
    return parts


def sizes(request: Json) -> dict[str, int]:
    """Estimated tokens of each part that the model sees."""
    return {part: estimate_tokens(value) for part, value in seen(request).items()}


def refusal(error: Any) -> tuple[str, str]:
    """Status and type of an error of the API, and its text."""
    body = error.body if isinstance(error.body, dict) else {}
    details = body.get("error", {})
    return f"{error.status_code} {details.get('type', 'error')}", details.get("message", str(error))


def fragments(
    request: Json, refused: tuple[str, str] | None = None, *, over: bool = False
) -> dict[str, str]:
    """The request as HTML fragments by key, in the order in which a model reads it."""
    request = seen(request)
    shown = {"totals": _totals(request)}
    if system := request.get("system"):
        shown["system"] = (
            f'<div class="part"><div class="line">{blocks.label(theme.SYSTEM)}'
            f'<span class="note">prompt</span>{blocks.tokens(estimate_tokens(system))}</div>'
            f'<div class="prose">{esc(_plain_text(system))}</div></div>'
        )
    if tools := request.get("tools"):
        cards = "".join(_tool(tool) for tool in tools)
        shown["tools"] = (
            '<div class="part"><div class="line">'
            f'<span class="note">{count(len(tools), "tool")} you may call</span>'
            f"{blocks.tokens(estimate_tokens(tools))}</div>{cards}</div>"
        )
    for card in _array(request, over=over).cards:
        shown[f"message {card.index}"] = card.html
    if refused:
        head = f'<div class="line">{blocks.label(theme.ERROR, f" <b>{esc(refused[0])}</b>")}</div>'
        text = f'{head}<div class="prose">{esc(refused[1])}</div>'
        shown["refusal"] = f'<div class="block m-error" role="alert">{text}</div>'
    body = json.dumps(request, ensure_ascii=False, indent=2)
    shown["json"] = (
        '<details class="json" data-quiet><summary>the same as JSON, as it is sent</summary>'
        f'<pre tabindex="0">{esc(excerpt(body, SHOWN))}</pre></details>'
    )
    return shown


def first_sight(request: Json) -> str:
    """What the model sees, as tables that survive anywhere; under 12 KB."""
    request = seen(request)
    parts = sizes(request)
    rows: list[list[object]] = []
    if system := request.get("system"):
        text = one_line(_plain_text(system), 600)
        rows.append([f"{theme.SYSTEM.label} prompt", text, parts["system"]])
    for tool in request.get("tools") or []:
        text = one_line(str(tool.get("description") or ""), 400)
        rows.append(["tool", f"{signature(tool)}: {text}", estimate_tokens(tool)])
    for card in _array(request).cards:
        rows.append([f"{card.mark.label} message", one_line(card.text, 600), card.tokens])
    return (
        f"<p>What the model sees, ≈ {sum(parts.values()):,} tokens (≈: characters / 4):</p>"
        f"{static.table(['part', 'content', '≈ tokens'], rows)}"
    )


def transcript(
    messages: Sequence[Json], refused: tuple[str, str] | None = None, rows: int = 40
) -> str:
    """Messages as a table, one row a block."""
    body = [row[:4] for row in block_rows(_array({"messages": messages}), rows, 160, "text")]
    if refused:
        body.append(["", "API", f"{theme.ERROR.glyph} {refused[0]}", one_line(refused[1], 300)])
    return static.table(["#", "role", "block", "content"], body)


def signature(tool: Json) -> str:
    """A tool written like a function: ``read_file(path, limit?)``; ``?`` marks the optional."""
    names = [f.name if f.required else f"{f.name}?" for f in fields(_schema(tool))]
    return f"{tool.get('name', '?')}({', '.join(names)})"


def _tool(tool: Json) -> str:
    about = str(tool.get("description") or "")
    return (
        f'<details class="tool"><summary><b>{esc(signature(tool))}</b> '
        f"{esc(one_line(about, 90))}</summary>"
        f'<div><div class="about">{esc(about)}</div>{_parameters(fields(_schema(tool)))}</div>'
        "</details>"
    )


def _parameters(inputs: Sequence[Field]) -> str:
    rows = "".join(
        f"<tr><td>{esc(one.name)}</td><td>{esc(one.type)}</td>"
        f"<td>{'required' if one.required else 'optional'}</td><td>{esc(one.about)}</td></tr>"
        for one in inputs
    )
    head = "<tr><th>argument</th><th>type</th><th></th><th></th></tr>"
    return f'<table class="schema">{head}{rows}</table>' if rows else ""


def _schema(tool: Json) -> Json:
    return tool.get("input_schema") or {}


def _array(request: Json, lane: str = "lead", *, over: bool = False) -> Array:
    """The messages of a request, as the message array draws them.

    But every text is whole, because the reader may have to answer it. And calls and results have no
    marks before the run is over, because a model doesn't get any.
    """
    array = Array(lane, prompted=True, whole=True, marked=over)
    for index, message in enumerate(request.get("messages") or []):
        data = {"index": index, "message": message}
        array = grow(array, Event(index, 0.0, lane, "message.added", data))
    return array


def _totals(request: Json) -> str:
    """All tokens, and the scale that the lengths beside each part share."""
    parts = sizes(request)
    each = ", ".join(f"{part} {size:,}" for part, size in parts.items())
    total = f"<b>≈ {sum(parts.values()):,} tokens</b> (characters / 4): {each}"
    return scaled(scale_of(max([*parts.values(), LEAST])), f'<span class="totals">{total}</span>')


def _plain_text(system: Any) -> str:
    """A system prompt, which may be a text or a list of text blocks."""
    return "\n\n".join(str(block.get("text", "")) for block in blocks_of(system))

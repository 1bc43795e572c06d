"""What ``benchmarks/measure_tiny.py`` measured on the smallest model, and the model itself."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from learnkit.clients import local
from learnkit.runtime.notebook import is_live

#: As the script wrote it, with machine and date.
MEASURED: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def reply_to(prompt: str) -> str:
    """What the model replies with a grammar: here and now where it is, else as it was measured."""
    if is_live() and find_spec("xllamacpp") and local.tiny().exists():
        return f"here, now: {_asked(prompt)}"
    rows = {row["prompt"]: row["text"] for row in MEASURED["calls"][2]["rows"]}
    if prompt not in rows:
        return "That wasn't measured, and the model isn't here: pip install 'learnkit[local]'"
    return f"as measured: {' '.join(rows[prompt].split())}"


def _asked(prompt: str) -> str:
    """Ask the model by the SDK, with the tools of the measurement."""
    client = local.local("tiny", context=2048)
    messages: Any = [{"role": "user", "content": prompt}]
    tools: Any = MEASURED["tools"]
    with client:
        reply = client.messages.create(
            model=client.model, max_tokens=80, tools=tools, messages=messages
        )
    block: Any = reply.content[0]
    if block.type != "tool_use":  # it was cut off
        return str(block.text)
    return json.dumps({"tool": block.name, "input": block.input})

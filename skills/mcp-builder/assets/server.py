"""An MCP server over stdio, in the standard library: copy it and replace the two example tools.

It speaks 2026-07-28 (each request stands alone) and, for older clients, the revisions that begin
with ``initialize``. stdout belongs to the protocol: log with ``log``, never with ``print``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

NAME, VERSION = "words", "0.1.0"
INSTRUCTIONS = "Tools for looking at texts."
MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
META = "io.modelcontextprotocol/"
TTL_MS = 300_000  # how long a client may keep the list of tools

TOOLS: dict[str, tuple[Json, Callable[..., str]]] = {}
TYPES: dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
TYPES |= {"array": list, "object": dict}


class ToolError(Exception):
    """A tool could not do its work; the text goes to the model."""


class ProtocolError(Exception):
    """A request that makes no sense; the client gets code and text."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


def tool(
    description: str, properties: Json, optional: tuple[str, ...] = (), **annotations: bool
) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Offer a function as a tool; annotations such as ``readOnlyHint=True`` are told to clients."""

    def register(function: Callable[..., str]) -> Callable[..., str]:
        name = function.__name__
        schema = {
            "type": "object",
            "properties": properties,
            "required": [key for key in properties if key not in optional],
            "additionalProperties": False,
        }
        spec = {"name": name, "description": description, "inputSchema": schema}
        TOOLS[name] = (spec | ({"annotations": annotations} if annotations else {}), function)
        return function

    return register


# Your tools ---------------------------------------------------------------------------------------


@tool(
    "Count the words of a text. Words are separated by white space. Returns one line.",
    {"text": {"type": "string", "description": "The text to count in."}},
    readOnlyHint=True,
)
def count_words(text: str) -> str:
    """One example."""
    return f"{len(text.split())} words"


@tool(
    "Find the lines of a text that contain a word. Returns them with their line numbers from 1; "
    "at most `limit` of them, and says how many more there are.",
    {
        "text": {"type": "string", "description": "The text to search."},
        "word": {"type": "string", "description": "What to look for; case does not matter."},
        "limit": {"type": "integer", "description": "Lines to return, from 1; 20 if left out."},
    },
    optional=("limit",),
    readOnlyHint=True,
)
def find_lines(text: str, word: str, limit: int = 20) -> str:
    """Another example, with an error that says what to do."""
    if not word.strip() or limit < 1:
        raise ToolError(f"word is {word!r} and limit {limit}; give a word, and a limit from 1")
    lines = enumerate(text.splitlines(), 1)
    found = [f"{n}: {line}" for n, line in lines if word.casefold() in line.casefold()]
    more = [f"({len(found) - limit} more lines)"] if len(found) > limit else []
    return "\n".join(found[:limit] + more) or f"no line contains {word!r}"


# The protocol -------------------------------------------------------------------------------------


def log(text: str) -> None:
    """Tell the person who runs the server."""
    print(text, file=sys.stderr, flush=True)


def handle(message: Any) -> Json | None:
    """The answer to one message; None for a notification."""
    known = isinstance(message, dict) and type(message.get("id")) in (str, int)
    answer: Json = {"jsonrpc": "2.0"} | ({"id": message["id"]} if known else {})
    try:
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            raise ProtocolError(-32600, "This is no JSON-RPC request")
        if "id" not in message:
            return None
        params = message.get("params", {})
        if not known or not isinstance(params, dict):
            raise ProtocolError(-32600, "A request has an id, and params that are an object")
        return {**answer, "result": result(message["method"], params)}
    except ProtocolError as error:
        return {**answer, "error": error.error}
    except Exception as error:
        log(f"fault: {type(error).__name__}: {error}")
        return {**answer, "error": {"code": -32603, "message": "The server has a fault"}}


def result(method: str, params: Json) -> Json:
    """The result of a request, in the words of the revision that it speaks."""
    meta = params["_meta"] if isinstance(params.get("_meta"), dict) else {}
    version = meta.get(f"{META}protocolVersion")
    if version is None and method != "server/discover":
        return legacy(method, params)
    if version is None or not isinstance(meta.get(f"{META}clientCapabilities"), dict):
        raise ProtocolError(-32602, f"_meta needs {META}protocolVersion and clientCapabilities")
    if version not in MODERN:
        data = {"supported": [*MODERN, *LEGACY], "requested": version}
        raise ProtocolError(-32022, "Unsupported protocol version", data)
    keep = {"ttlMs": TTL_MS, "cacheScope": "public"}
    if method == "server/discover":
        about = {"supportedVersions": [*MODERN, *LEGACY], "capabilities": {"tools": {}}}
        body = about | {"instructions": INSTRUCTIONS} | keep
    elif method == "tools/list":
        body = listing() | keep
    elif method == "tools/call":
        body = call(params)
    else:
        raise ProtocolError(-32601, f"Method not found: {method}")
    identity = {f"{META}serverInfo": {"name": NAME, "version": VERSION}}
    return {"resultType": "complete", **body, "_meta": identity}


def legacy(method: str, params: Json) -> Json:
    """The same for clients that begin with ``initialize``."""
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in LEGACY else LEGACY[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": NAME, "version": VERSION},
            "instructions": INSTRUCTIONS,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return listing()
    if method == "tools/call":
        return call(params)
    raise ProtocolError(-32601, f"Method not found: {method}")


def listing() -> Json:
    """All tools, always in the same order."""
    return {"tools": [spec for spec, _ in TOOLS.values()]}


def call(params: Json) -> Json:
    """Run a tool; what goes wrong in it is a result, so that the model can read it."""
    if params.get("name") not in TOOLS:
        known = ", ".join(TOOLS)
        raise ProtocolError(-32602, f"Unknown tool: {params.get('name')}; the tools: {known}")
    spec, function = TOOLS[params["name"]]
    try:
        arguments = params.get("arguments", {})
        check(spec["inputSchema"], arguments)
        text, failed = function(**arguments), False
    except ToolError as error:
        text, failed = str(error), True
    except Exception as error:
        log(f"{params['name']}: {type(error).__name__}: {error}")
        text, failed = f"{params['name']} failed: {type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def check(schema: Json, arguments: Any) -> None:
    """Hold arguments to the schema's names, types and choices."""
    if not isinstance(arguments, dict):
        raise ToolError("the arguments must be an object")
    properties = schema["properties"]
    missing = [name for name in schema["required"] if name not in arguments]
    unknown = [name for name in arguments if name not in properties]
    if missing or unknown:
        raise ToolError(
            f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}; "
            f"the arguments are {', '.join(properties)}"
        )
    for name, value in arguments.items():
        kind = properties[name].get("type", "object")
        wrong = not isinstance(value, TYPES[kind])
        wrong = wrong or (isinstance(value, bool) and kind != "boolean")  # True is 1 in Python
        if wrong or value not in properties[name].get("enum", [value]):
            choices = properties[name].get("enum", f"of type {kind}")
            raise ToolError(f"{name} is {value!r}; it must be {choices}")


def main() -> None:
    """Serve until the client closes our input."""
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError:
            error = {"code": -32700, "message": "This line is no JSON"}
            answer: Json | None = {"jsonrpc": "2.0", "error": error}
        else:
            answer = handle(message)
        if answer is not None:
            sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

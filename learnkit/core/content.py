"""Content blocks as plain dicts: what a server replies, and what may be sent to the API.

The API refuses empty blocks, and compatible servers reply in ways of their own. What comes from
outside the loop, a reply or the result of a tool, is checked here before it goes into the messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from learnkit.errors import ToolError, UsageError
from learnkit.runtime.truncate import head_and_tail

Block: TypeAlias = dict[str, Any]

#: Characters of text that one tool result may have. The course's own tools stop at half of it.
RESULT_LIMIT = 100_000
#: Characters of data that its images and documents may have together, 5 MB in base64; and how many
#: blocks it may have.
MEDIA_LIMIT, BLOCK_LIMIT = 7_000_000, 100

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
#: Kinds of block -> kinds of source -> what each must have.
_SOURCES = {
    "image": {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)},
    "document": {
        "base64": ("media_type", "data"),
        "text": ("media_type", "data"),
        "url": ("url",),
        "file": ("file_id",),
        "content": (),
    },
}


def sendable(blocks: list[Block]) -> list[Block]:
    """The blocks of a reply that the API takes back: no empty text, no thinking at the end."""
    kept = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    while kept and kept[-1]["type"] in ("thinking", "redacted_thinking"):
        kept.pop()
    return kept


def repaired(
    blocks: list[Any], taken: Collection[str], new_id: Callable[[], str]
) -> tuple[list[Block], list[str]]:
    """Return the blocks of a reply in the form that the API takes back.

    A compatible server may leave out a call's id, name or input, or use an id twice. Such a call
    stays, and gets what it lacks, so that it can be answered: the model reads what was wrong with
    it in its result. A block that is none at all is left out.
    """
    kept: list[Block] = []
    problems: list[str] = []
    ids: set[str] = set()

    def used(id: str) -> bool:
        return id in ids or id in taken

    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_use":
            block = _whole_call(block, used, new_id, problems)
            ids.add(block["id"])
        elif not isinstance(kind, str) or not isinstance(block.get(kind, ""), str):
            problems.append(f"a block that is none: {str(block)[:80]}")
            continue
        elif kind in ("text", "thinking") and kind not in block:
            problems.append(f"a block of {kind} without {kind}")
            continue
        elif kind == "thinking" and not isinstance(block.get("signature"), str):
            problems.append("thinking without a signature")
            block = {**block, "signature": ""}
        kept.append(block)
    return kept, problems


def _whole_call(
    block: Block, used: Callable[[str], bool], new_id: Callable[[], str], problems: list[str]
) -> Block:
    id, name, given = block.get("id"), block.get("name"), block.get("input")
    if not isinstance(id, str) or not _ID.fullmatch(id) or used(id):
        problems.append(f"a call whose id is {id!r}: none, or used before")
        id = f"toolu_{new_id()}"
        while used(id):
            id = f"toolu_{new_id()}"
    if not isinstance(name, str) or not name:
        problems.append(f"a call whose name is {name!r}")
        name = "unnamed"
    if not isinstance(given, dict):
        problems.append(f"a call of {name!r} whose input is {str(given)[:80]!r}")
        given = _arguments(given)
    return {**block, "id": id, "name": name, "input": given}


def _arguments(given: Any) -> dict[str, Any]:
    """Arguments from what is no object: some servers send them as JSON text."""
    if isinstance(given, str) and given.strip():
        try:
            read = json.loads(given)
        except (ValueError, RecursionError):
            read = given
        return read if isinstance(read, dict) else {"not_an_object": given}
    return {} if given is None or given == "" else {"not_an_object": given}


def spoken(blocks: list[Block]) -> str:
    """Return what the model says in a reply: its texts, each on a line of its own."""
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def note(text: str | None) -> list[Block]:
    """Return what a hook says as content: one text block, or none for nothing."""
    if text is not None and not isinstance(text, str):
        raise UsageError(f"a hook returned {text!r}; it may return text, or None for nothing")
    return [{"type": "text", "text": clean(text)}] if text and text.strip() else []


def result_content(output: Any) -> str | list[Block]:
    """Return a tool's output as the content of its ``tool_result``: never empty, and bounded."""
    if not isinstance(output, list) or not output:
        return _filled("" if output is None else str(output))
    json.dumps(output)
    if len(output) > BLOCK_LIMIT:
        raise ToolError(f"the tool returned {len(output):,} blocks; at most {BLOCK_LIMIT} fit")
    text_room, media_room, blocks = RESULT_LIMIT, MEDIA_LIMIT, []
    for block in output:
        check_block(block)
        if block["type"] == "text":
            text = _filled(block["text"], text_room)
            text_room = max(0, text_room - len(text))
            block = {**block, "text": text}
        else:
            media_room -= len(json.dumps(block))
            if media_room < 0:
                raise ToolError(
                    f"the images and documents that the tool returned are too large: together at "
                    f"most {MEDIA_LIMIT:,} characters fit"
                )
        blocks.append(block)
    return blocks


def check_block(block: Any) -> None:
    """Check a block that a tool returns: text, an image, or a document."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise ToolError(f"the tool returned a text block whose text is {block.get('text')!r}")
        return
    if kind not in _SOURCES:
        raise ToolError(
            f"the tool returned a block of type {kind!r}; it may return text, image and document"
        )
    source = block.get("source")
    sort = source.get("type") if isinstance(source, dict) else None
    if not isinstance(source, dict) or sort not in _SOURCES[kind]:
        raise ToolError(
            f"the tool returned a block of type {kind} whose source is {str(source)[:80]}; "
            f"it needs a source of type {', '.join(_SOURCES[kind])}"
        )
    for key in _SOURCES[kind][sort]:
        if not isinstance(source.get(key), str) or not source[key]:
            raise ToolError(f"the tool returned a block of type {kind} without source.{key}")
    if kind == "image" and sort == "base64" and source["media_type"] not in _IMAGES:
        raise ToolError(
            f"the tool returned an image of type {source['media_type']}; "
            f"the API takes {', '.join(_IMAGES)}"
        )


def clean(text: str) -> str:
    """Return a text without lone surrogates, which come from undecodable file names."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def check_prompt(prompt: str | list[Block] | None, messages: list[Block]) -> None:
    """Check that a run can begin with a prompt, or without one."""
    if prompt is None:
        if not messages:
            raise UsageError("there is nothing to go on with: give run() a prompt")
        if messages[-1]["role"] == "assistant" and not _paused(messages[-1]):
            raise UsageError("the model has had the last word: give run() a prompt")
        return
    if not isinstance(prompt, str) and not all(isinstance(block, dict) for block in prompt):
        raise UsageError(
            f"the prompt is {prompt!r}; give a text, or a list of content blocks such as "
            "{'type': 'text', 'text': '…'}"
        )
    texts = [prompt] if isinstance(prompt, str) else [b.get("text", "…") for b in prompt]
    if not texts or not all(text.strip() for text in texts):
        raise UsageError("the prompt is empty; the API refuses empty messages")


def _paused(message: Block) -> bool:
    """Whether the model stopped inside a server tool, and may go on by itself."""
    content = message["content"]
    return not isinstance(content, str) and any(b["type"] == "server_tool_use" for b in content)


def _filled(text: str, limit: int = RESULT_LIMIT) -> str:
    if len(text) > limit:
        text, _ = head_and_tail([text], limit)
    return clean(text) if text.strip() else "(no output)"

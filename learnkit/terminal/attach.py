"""Files that a prompt names with ``@``: their text, or the picture, goes along with it."""

from __future__ import annotations

import base64
import os
import re
from contextlib import suppress
from pathlib import Path

from learnkit.core.content import Block
from learnkit.core.frames import ATTACHMENT, attribute, defused
from learnkit.errors import UsageError

#: Characters of a text that go along, bytes of a picture (5 MB in base64).
TEXT, PICTURE = 50_000, 3_750_000
#: What may follow a name in a sentence.
SIGNS = ".,;:!?)"

_NAMED = re.compile(r"(?<!\S)@(?:\"([^\"\n\0]+)\"|([^\s\0]+))")
#: A picture that was dropped on the terminal is there with its whole path, perhaps in quotes.
_DROPPED = re.compile(
    r"(?<!\S)(['\"]?)(/[^\s\0][^'\"\n\0]*?\.(?:png|jpe?g|gif|webp))\1(?!\S)", re.I
)
#: How the files of pictures begin.
_TYPES = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpeg": rb"\xff\xd8\xff",
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
}


def attached(prompt: str, folder: Path) -> tuple[str | list[Block], list[str]]:
    """A prompt with the files that it names, and what to tell the user about them.

    A UsageError says which file cannot be sent: a prompt without it would mean something else.
    """
    names = [quoted or word for quoted, word in _NAMED.findall(prompt)]
    names += [name for _, name in _DROPPED.findall(prompt)]
    blocks: list[Block] = []
    said: list[str] = []
    seen: set[Path | None] = {None}  # an address or a decorator is no file
    for name in names:
        try:
            if (path := _found(name, folder)) in seen or path is None:
                continue
            seen.add(path)
            name = name.rstrip(SIGNS)
            block, about = _block(path, name)
        except (OSError, ValueError) as error:
            raise UsageError(f"not sent: {name}: {error}") from None
        blocks.append(block)
        said.append(f"{name} goes along{about}")
    return ([{"type": "text", "text": prompt}, *blocks] if blocks else prompt), said


def in_words(prompt: str, folder: Path) -> str:
    """A prompt with the texts that it names; empty if something else would have to go along."""
    with suppress(UsageError):
        made, _ = attached(prompt, folder)
        blocks = [{"text": made}] if isinstance(made, str) else made
        return "\n".join(one["text"] for one in blocks) if all("text" in b for b in blocks) else ""
    return ""


def _found(name: str, folder: Path) -> Path | None:
    """The file of a name; a sign that ends a sentence may not be a part of it."""
    root = folder.resolve()
    for one in (name, name.rstrip(SIGNS)):
        with suppress(OSError, RuntimeError):  # no name that a file can have, or no such user
            written = Path(os.path.normpath(root / Path(one).expanduser()))
            if written.is_file():
                if written.is_relative_to(root) and not written.resolve().is_relative_to(root):
                    raise ValueError("a link leads out of the workspace; give the file's own path")
                return written.resolve()
    return None


def _block(path: Path, name: str) -> tuple[Block, str]:
    with path.open("rb") as file:
        content = file.read(PICTURE + 1)
    for kind, begins in _TYPES.items():
        if re.match(begins, content, re.DOTALL):
            if len(content) > PICTURE:
                raise ValueError(f"a picture may have {PICTURE:,} bytes; make it smaller")
            data = base64.b64encode(content).decode()
            source = {"type": "base64", "media_type": f"image/{kind}", "data": data}
            return {"type": "image", "source": source}, ""
    if b"\0" in content or re.search(r"\.(png|jpe?g|gif|webp|bmp|tiff?|hei[cf]|avif)$", name, re.I):
        raise ValueError("it is no text, and no picture of a kind that can be sent (PNG, JPEG, …)")
    text = content.decode("utf-8", "replace")
    about = ""
    if len(text) > TEXT:
        text, about = text[:TEXT], f", its first {TEXT:,} characters"
    head = f'<{ATTACHMENT} path="{attribute(name)}">{about.lstrip(", ")}'
    return {"type": "text", "text": f"{head}\n{defused(text)}\n</{ATTACHMENT}>"}, about

"""The secret gate: nothing that looks like a key goes into a recording."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from learnkit.errors import LearnkitError

_SECRETS = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}"
    r"|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{30,}|AIza[\w-]{35}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|xox[abprs]-[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\."
    r"|[Aa]uthorization: *(?:Bearer|Basic) +\S{8,}"
)


class SecretError(LearnkitError):
    """A recording would have held something that looks like a secret; nothing was written."""


def refuse_secrets(value: Any) -> None:
    """Raise :class:`SecretError` if a text in ``value`` looks like a secret, saying where.

    Args:
        value: a text, or anything JSON-ready with texts in it.
    """
    known = {
        text
        for name, text in os.environ.items()
        if re.search(r"(?i)KEY|TOKEN|SECRET|PASSWORD", name) and len(text) >= 12
    }
    for where, text in _texts(value, ""):
        if _SECRETS.search(text) or any(secret in text for secret in known):
            raise SecretError(
                f"the recording was not saved: {where} looks like it holds a secret. "
                "Take it out of the prompt, the files or the command's output, and record again."
            )


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield f"a key of {where or 'the file'}", str(key)
            yield from _texts(one, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _texts(one, f"{where}[{index}]")

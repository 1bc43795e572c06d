"""The secret gate: nothing that looks like a key goes into a recording or a shared page."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, unquote_plus

from learnkit.errors import LearnkitError

_QUOTE = r"(?:\\*[\"']|&quot;|&#\w+;)?"  # also in JSON in a string, and on a page
#: One form a line. A prefix of its own makes a false alarm unlikely; without one, the name in front
#: has to say what it is.
_FORMS = (
    r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}",  # Anthropic, OpenAI; not "task-…"
    r"\b(?:gsk_|xai-|r8_)[A-Za-z0-9]{30,}|\bpplx-[A-Za-z0-9]{40,}",
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
    r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt)-[\w-]{20,}",  # GitLab
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",  # AWS: the id of a key
    rf"(?i:aws_?secret_?(?:access_?)?key|secret_?access_?key){_QUOTE}\s*[:=]\s*{_QUOTE}"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
    rf"(?i:\b(?:aws_?)?session_?token){_QUOTE}\s*[:=]\s*{_QUOTE}[A-Za-z0-9/+=]{{100,}}",
    # Google
    r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{28}|(?<![A-Za-z0-9+/])1//0[\w-]{40,}",
    r"(?i:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{42,}=|[?&]sig=[A-Za-z0-9%]{43,}%3[Dd]",  # Azure
    r"\bnpm_[A-Za-z0-9]{36}|_authToken\s*=\s*[\"']?[\w/+=-]{20,}",
    r"\bpypi-[\w-]{50,}|\bdckr_pat_[\w-]{20,}|\brubygems_[0-9a-f]{48}|\bcio[A-Za-z0-9]{32}\b",
    r"\bSG\.[\w-]{16,32}\.[\w-]{32,64}|\bkey-[0-9a-f]{32}\b",  # SendGrid, Mailgun
    r"\bhf_[A-Za-z0-9]{30,}|\bdapi[0-9a-f]{32}\b|\bdop_v1_[0-9a-f]{64}",
    r"\bhvs\.[\w-]{24,}|\bglsa_\w{32,}|\bATATT3[\w=-]{40,}|\blin_api_\w{32,}|\bntn_\w{40,}",
    r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_\w{24,}",
    r"xox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{20,}",  # Slack
    r"hooks\.slack\.com/services/T\w+/B\w+/\w{20,}|discord(?:app)?\.com/api/webhooks/\d+/[\w-]{60,}",
    r"\b\d{8,10}:AA[\w-]{33}\b",  # Telegram
    r"-----BEGIN [A-Z ]*PRIVATE KEY|AGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.",  # a JSON web token
    r"[Aa]uthorization: *(?:Bearer|Basic) +\S{8,}",
)
#: Each by itself: Python looks for the letters that a form begins with, but not for those of many.
_SECRETS = tuple(map(re.compile, _FORMS))
#: A key as it stands in a file, of which the form above is the first line.
_PRIVATE_KEY = re.compile(r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END[^\n]{0,40}-----|\Z)")
#: What stands in the place of a secret.
MASK = "[secret]"
#: A user and a password in an address.
_IN_URL = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://([^\s:/?#@\"'<>]*):([^\s/?#@\"'<>]+)@[\w\[-]"
)
#: What examples have in place of a password.
_EXAMPLE = re.compile(
    r"(?i)\$.*|%.*%|&lt;.*|\{.*\}|\*+|\.{3,}|…|x+|(?:my|your|the|db|user|test)?[-_]?(?:pass(?:word|wd)?|pwd"
    r"|secret|token|pw)|changeme|example|hunter2|redacted|hidden|placeholder|none|null"
)


class SecretError(LearnkitError):
    """A file would have held something that looks like a secret; nothing was written."""


def refuse_secrets(value: Any) -> None:
    """Raise :class:`SecretError` if a text in ``value`` looks like a secret, saying where."""
    known = _known()
    for where, text in _texts(value, ""):
        if _looks_secret(text) or any(_holds(text, secret) for secret in known):
            raise SecretError(
                f"nothing was written: {where or 'the text'} looks like it holds a secret. "
                "Take it out of the prompt, the files or the command's output, and try again."
            )


def mask_secrets(text: str) -> tuple[str, int]:
    """Take out of a text what looks like a secret.

    Args:
        text: of any kind.

    Returns:
        The text with ``[secret]`` in the place of each, and how many there were. A text in which
        something still looks like one is replaced as a whole.
    """
    text, number = _PRIVATE_KEY.subn(MASK, text)
    for form in _SECRETS:
        if form.search(text):
            text, more = re.subn(rf"(?:{form.pattern})[^\s\"'<>]*", MASK, text)
            number += more
    if _looks_secret(text) or any(_holds(text, secret) for secret in _known()):
        return MASK, number + 1
    return text, number


def _known() -> set[str]:
    """The secrets of this process's environment."""
    return {
        text
        for name, text in os.environ.items()
        if re.search(r"(?i)KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL", name) and len(text) >= 12
    }


def _holds(text: str, secret: str) -> bool:
    """Whether a text has a secret in it: as it is, or in JSON, HTML, an address, a shell's quotes.

    Each of these may be inside another one, such as JSON in an attribute, and lines may be wrapped.
    """
    core = max(re.findall("[A-Za-z0-9]+", secret), key=len, default="")  # the same in all forms
    if core not in _bare(text):
        return False
    bare = _bare(secret)
    forms, new = {text}, {text}
    for _ in range(4):
        if any(secret in one or (len(bare) >= 8 and bare in _bare(one)) for one in new):
            return True
        new = {decode(one) for one in new for decode in _DECODERS} - forms
        forms |= new
    return False


@lru_cache(maxsize=8)  # each secret is looked for in the same text
def _bare(text: str) -> str:
    return re.sub(r"[\s\\\"'`]+", "", text)


def _unescaped(text: str) -> str:
    """What a text says that has the escapes of JSON, JavaScript or Python in it."""
    text = _ESCAPE.sub(lambda found: chr(int("".join(filter(None, found.groups())), 16)), text)
    text = re.sub(r"\\[abefnrtv]", "\n", text)  # white space does not count
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_ESCAPE = re.compile(r"(?i)\\+(?:u000([0-9a-f]{5})|u([0-9a-f]{4})|x([0-9a-f]{2}))")
_DECODERS: tuple[Callable[[str], str], ...] = (html.unescape, _unescaped, unquote, unquote_plus)


@lru_cache(maxsize=4096)  # a recording is saved, and so looked at, after each of its turns
def _looks_secret(text: str) -> bool:
    if any(form.search(text) for form in _SECRETS):
        return True
    # A database on a developer's machine has its user's name for a password.
    return any(
        password != user and not _EXAMPLE.fullmatch(password)
        for user, password in _IN_URL.findall(text)
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

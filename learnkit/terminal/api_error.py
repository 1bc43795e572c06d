"""An error of the API in one sentence, and what to do about it."""

from __future__ import annotations

from typing import Any

from learnkit.errors import text_of
from learnkit.events.text import clean, one_line

#: Why a request is sent again later, by its status.
WAITED_FOR = {
    408: "the server took too long",
    429: "the key has used up its rate for now",
    529: "the server is overloaded",
}

#: What to do, by the status of an error.
ADVICE = {
    401: "check ANTHROPIC_API_KEY",
    403: "the key may not use this; check its rights",
    404: "check ANTHROPIC_BASE_URL, and the name of the model in LEARNKIT_MODEL",
    413: "give the model less to read",
    429: "the key has used up its rate for now; try again later",
    529: "the server is overloaded; try again later",
}
#: What to do in the chat instead.
IN_CHAT = {
    404: "/model takes another model; LEARNKIT_MODEL and ANTHROPIC_BASE_URL may be wrong",
    413: "send /compact, which makes the conversation shorter, and then go on",
}


def sentence(error: Exception, address: str = "", *, chat: bool = False) -> str:
    """Return what the API said, and what the user can do, in the chat or elsewhere."""
    status = getattr(error, "status_code", None)
    what = one_line(clean(text_of(error)), 300).rstrip(".")
    if status is None:
        return f"the API{_at(address)}: {what}; check the network, and ANTHROPIC_BASE_URL"
    long = status == 400 and "too long" in what
    known = ADVICE | IN_CHAT if chat else ADVICE
    advice = known.get(413 if long else status, "")
    return f"the API: {what}" + (f"; {advice}" if advice else "")


def waiting(data: dict[str, Any], address: str = "") -> str:
    """Return what is waited for until a request is sent again."""
    status, message = data.get("status"), one_line(clean(str(data.get("message"))), 160).rstrip(".")
    if status is None:
        why = f"no connection to the API{_at(address)}: {message}"
    else:
        why = f"{WAITED_FOR.get(status, 'the API failed')} ({status}, {message})"
    return f"({why}; trying again in {data.get('seconds') or 0.0:.0f} s)"


def _at(address: str) -> str:
    return f" at {address}" if address else ""

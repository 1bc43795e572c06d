"""The stand-in's rule for a summary: the request, each call with the beginning of its result, and
what was delivered. Lines about the focus are kept whole. Nothing else survives, and it says so.
"""

from __future__ import annotations

import json
import re

from learnkit.clients.scripted import Request
from learnkit.core.transcript import texts

#: Characters of a result that are kept.
KEPT = 160

_ASKED = re.compile(r"<conversation>\n(.*)\n</conversation>", re.S)
_SO_FAR = re.compile(r"<summary-so-far>\n(.*?)\n</summary-so-far>", re.S)
_FOCUS = re.compile(r"^Above all, keep what concerns: (.*)$", re.M)
_ENTRY = re.compile(r"^(user|assistant): ", re.M)
_CALL = re.compile(r"(\w+) (\{.*\})\Z", re.S)
_OLD = re.compile(r"^- called .*$|^About .*$", re.M)
_FRAMES = re.compile(r"<(inbox|background-results)>.*?</\1>", re.S)
_RULE = (
    "This summary follows a rule: each call with the first {kept} characters of its result, and "
    "what was delivered. Everything else is in the transcript."
)


def wanted(request: Request) -> str | None:
    """The text that asks for a summary of a conversation; None if the request is another one.

    Args:
        request: the JSON body.
    """
    if request.get("tools") or len(request["messages"]) != 1:
        return None
    text = "\n".join(texts(request["messages"][0]["content"]))
    return text if "summary" in text[:300].lower() and _ASKED.search(text) else None


def summary(asked: str) -> str:
    """The summary.

    Args:
        asked: the text that asks for it.
    """
    found = _ASKED.search(asked)
    conversation = found[1] if found else ""
    focus = _FOCUS.search(asked[: found.start()] if found else asked)
    about = (
        {word.rstrip("s")[:6] for word in re.findall(r"\w{4,}", focus[1].lower())}
        if focus
        else set()
    )
    lines, open_calls = [_RULE.format(kept=KEPT)], list[str]()
    if so_far := _SO_FAR.search(asked[: found.start()] if found else asked):
        # Of the parts before this one; the first line is the rule again.
        lines += so_far[1].splitlines()[1:]
    _, *parts = _ENTRY.split(conversation)
    for role, part in zip(parts[::2], parts[1::2], strict=True):
        text = part.rstrip("\n")
        if role == "assistant":
            open_calls += [text] if _is_call(text) else []
            continue
        if open_calls:
            lines.append(_line(open_calls.pop(0), text))
        else:
            lines += [old[0] for old in _OLD.finditer(text)]
        lines += [frame[0] for frame in _FRAMES.finditer(text)]
        if focus:
            kept = [one for one in text.splitlines() if any(w in one.lower() for w in about)]
            lines += [f"About {focus[1]}: {one}" for one in kept]
    return "\n".join(lines)


def _is_call(text: str) -> bool:
    call = _CALL.match(text)
    try:
        return call is not None and isinstance(json.loads(call[2]), dict)
    except ValueError:
        return False


def _line(call: str, result: str) -> str:
    shortened = " (shortened)" if len(result) > KEPT else ""
    shown = json.dumps(result[:KEPT], ensure_ascii=False)
    return f"- called {call} -> {shown}{shortened}"

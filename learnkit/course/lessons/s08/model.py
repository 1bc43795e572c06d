"""Who answers ``learnkit serve s08``: a function of each request, on a real clock."""

from __future__ import annotations

from typing import Any

from learnkit.clients.scripted import Reply, say, use

PROMPTS = ("Count the faulty readings in the background; list the stations meanwhile.",)
_COUNT = "sleep 15; grep -c -e -9999 stations/*.csv"


def script(request: dict[str, Any]) -> Reply:
    """Begin the count, list the stations, and report when the result has come."""
    messages = request["messages"]
    if messages[0]["content"] not in PROMPTS:
        return say(f"I am a function, and know one prompt: {PROMPTS[0]} For another, use --me.")
    blocks = [b for m in messages for b in m["content"] if isinstance(b, dict)]
    calls = [b["name"] for b in blocks if "name" in b]
    refused = [b["content"] for b in blocks if b.get("is_error")]
    if refused:
        return say(f"I stop here, because a call has failed. {refused[-1]}")
    if "background_run" not in calls:
        return use("background_run", command=_COUNT)
    if "bash" not in calls:
        return use("bash", command="ls stations")
    if "<background-results>" in str(messages):
        return say("One reading is faulty, in cairo.csv. The stations are beijing, cairo and oslo.")
    return say("The stations are beijing, cairo and oslo. The count is still running.")

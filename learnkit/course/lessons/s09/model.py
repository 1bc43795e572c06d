"""Who answers lesson 9's team: a function of each request, on a real clock."""

from __future__ import annotations

import re
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use

PROMPTS = ("Write coldest() and a test of it.",)
_CODE = """def coldest(rows):
    readings = (float(row.split(",")[1]) for row in rows)
    return min(celsius for celsius in readings if celsius != -9999)
"""
_TEST = """from coldest import coldest

CAIRO = open("stations/cairo.csv").read().splitlines()[1:]
assert coldest(CAIRO) == 27.3, f"the coldest in Cairo: {coldest(CAIRO)} °C"
"""
_ASKS = "cairo.csv has -9999 in line 4. I'd call the sensor broken and leave the row out. You too?"


def script(request: dict[str, Any]) -> Reply:
    """Answer as the agent that the system prompt names."""
    messages = request["messages"]
    if messages[0]["content"] not in PROMPTS and "You are '" not in request["system"]:
        return say(f"I am a function, and know one prompt: {PROMPTS[0]} For another, use --me.")
    blocks = [b for m in messages for b in m["content"] if isinstance(b, dict)]
    if refused := [b["content"] for b in blocks if b.get("is_error")]:
        return say(f"I stop here, because a call has failed. {refused[-1]}")
    calls, text = [b["name"] for b in blocks if "name" in b], str(messages)
    name = re.search(r"You are '(alice|bob)'", request["system"])
    return {"alice": alice, "bob": bob}.get(name[1] if name else "", lead)(calls, text)


def lead(calls: list[str], text: str) -> Reply:
    if not calls:
        return reply(  # bob first: alice will write to him
            use("spawn_teammate", name="bob", role="tester", prompt="Test alice's coldest()."),
            use("spawn_teammate", name="alice", role="coder", prompt="Write coldest.py."),
        )
    if "I stop here" in text:
        return say("The team has stopped, because a call was refused. cat .team/inbox-lead.jsonl")
    if "coldest() is in" not in text or "its test is in" not in text:
        return say("Alice and Bob are at work.")
    if "bash" not in calls:
        return use("bash", command="python test_coldest.py && echo The test passes.")
    return say("coldest() and its test are in, and the test passes.")


def alice(calls: list[str], text: str) -> Reply:
    if not calls:
        return use("bash", command="grep -n -e -9999 stations/*.csv")
    if "send_message" not in calls:
        return use("send_message", to="bob", content=_ASKS)
    if '"from": "bob"' not in text:
        return say("I've asked Bob.")
    if "write_file" not in calls:
        return use("write_file", path="coldest.py", content=_CODE)
    return say("coldest() is in.")


def bob(calls: list[str], text: str) -> Reply:
    if '"from": "alice"' not in text:
        return say("I'm waiting for Alice.")
    if "send_message" not in calls:
        return use("send_message", to="alice", content="Yes. I'll test for 27.3 then.")
    if "write_file" not in calls:
        return use("write_file", path="test_coldest.py", content=_TEST)
    return say("its test is in.")

"""Who answers lesson 10's team: a function of each request. And the runs of a model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use
from learnkit.events.text import one_line

PROMPTS = ("stations/ takes too much space. Have Charlie make room.",)
_FIRST = "Delete stations/ with rm -r."
_SECOND = "1. Pack stations/ into stations.tar. 2. Compare, file by file. 3. Delete stations/."
_PACK = "tar cf stations.tar stations && tar df stations.tar && rm -r stations && echo same"
_WHY = "Pack it first, and compare the copy before you delete anything."


def script(request: dict[str, Any]) -> Reply:
    """Answer as the lead, or as the janitor Charlie."""
    messages = request["messages"]
    blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    calls = [b for b in blocks if b["type"] == "tool_use"]
    results = {b["tool_use_id"]: b for b in blocks if b["type"] == "tool_result"}
    mail = [one for m in messages for one in _mail(m["content"])]
    if "You are 'charlie'" in request["system"]:
        return _charlie(calls, results, mail)
    if messages[0]["content"] not in PROMPTS:
        return say(f"I am a function, and know one prompt: {PROMPTS[0]} For another, use --me.")
    return _lead(calls, mail)


def _mail(content: Any) -> list[dict[str, Any]]:
    lines = content.splitlines() if isinstance(content, str) else []
    return [json.loads(line) for line in lines if line.startswith("{")]


def _lead(calls: list[dict[str, Any]], mail: list[dict[str, Any]]) -> Reply:
    if not calls:
        prompt = "Make room: stations/ takes too much space. Submit a plan first."
        charlie = {"name": "charlie", "role": "janitor", "prompt": prompt}
        return use("spawn_teammate", **charlie, plan_required=True)
    answered = {call["input"].get("request_id") for call in calls}
    for one in mail:
        if one["type"] == "plan_approval_request" and one["request_id"] not in answered:
            id, is_safe = one["request_id"], "Compare" in one["content"]
            feedback = "Good. Go ahead." if is_safe else _WHY
            return use("plan_approval", request_id=id, approve=is_safe, feedback=feedback)
    return say(f"Charlie reports: {mail[-1]['content']}" if mail else "Charlie is at work.")


def _charlie(
    calls: list[dict[str, Any]], results: dict[str, dict[str, Any]], mail: list[dict[str, Any]]
) -> Reply:
    names = [call["name"] for call in calls]
    answers = [one["approve"] for one in mail if one["type"] == "plan_approval_response"]
    if not calls:
        return reply("I'll delete it.", use("bash", command="rm -r stations"))
    if "submit_plan" not in names:
        return use("submit_plan", plan=_FIRST)
    if answers == [False] and names.count("submit_plan") == 1:
        return use("submit_plan", plan=_SECOND)
    if answers[-1:] != [True]:
        return say("I've submitted a plan.")
    if names.count("bash") == 1:
        return use("bash", command=_PACK)
    last = results[calls[-1]["id"]]
    if last.get("is_error") or "same" not in last["content"]:
        return say(f"I stop here, because a call has failed. {last['content']}")
    return say("My rm was refused. Then I packed stations/, compared the copy, and deleted it.")


def story(messages: Sequence[Any]) -> str:
    """What an agent does, is answered and is sent, in order; ids become r1, r2 and so on."""
    lines = list[str]()
    for message in messages:
        content = message["content"]
        for one in _mail(content):
            fields = [f" {name}={one[name]}" for name in ("request_id", "approve") if name in one]
            lines.append(f"{one['from']}: {one['type']}{''.join(fields)}: {one['content']}")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "text" and block is content[-1] and message is not messages[-1]:
                continue  # whether Charlie stops for an answer depends on how quick the lead is
            who = {"text": "charlie", "tool_result": "result"}.get(block["type"])
            said = block.get("text") or block.get("content") or block["input"].values()
            said = said if isinstance(said, str) else ", ".join(said)
            lines.append(f"{who or block['name']}: {said}")
    text = "\n".join(one_line(line, 1000) for line in lines)
    for number, id in enumerate(dict.fromkeys(re.findall(r"\b[0-9a-f]{8}\b", text)), start=1):
        text = text.replace(id, f"r{number}")
    short = [one_line(line, 230) for line in text.splitlines()]
    return "\n".join(fill(line, 96, subsequent_indent="    ") for line in short)

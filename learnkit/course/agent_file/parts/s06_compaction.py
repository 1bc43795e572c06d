import json
import os
import sys

import anthropic

THRESHOLD = int(os.getenv("AGENT_THRESHOLD", "50000"))  # tokens; small, so that you see it happen
KEPT, LAST = 3, 2  # newest results that are not cleared; newest messages that no summary replaces
WISH = """Summarise this conversation for the agent that will continue it. Keep decisions with
their reasons, errors and how they were solved, what is done, and what comes next. Leave out
what a tool can bring back."""


@hook("start")
def no_focus(agent: Agent) -> None:
    agent.focus, agent.request = "", ""


def run(agent: Agent, prompt: str, turns: int = 50) -> str:
    agent.request = prompt
    agent.messages.append({"role": "user", "content": prompt})
    return agent_loop(agent, turns)


@tool("lead")
def compact(agent: Agent, focus: str = "what is still needed") -> str:
    """Replace the conversation so far with a summary; focus says what must not get lost."""
    agent.focus = focus
    return "A summary will replace the conversation before your next turn."


@hook("before_model")
def forget(agent: Agent) -> None:
    """Clear old results first; summarise if that is not enough, or if the model has asked."""
    full = estimate(agent.messages) > THRESHOLD
    if full:
        agent.messages = cleared(agent.messages)
        full = estimate(agent.messages) > 0.8 * THRESHOLD  # it would soon be full again
    if full or agent.focus:
        summarise(agent)
        agent.focus = ""


def estimate(messages: list[dict]) -> int:
    """Tokens, at four characters each."""
    return len(json.dumps(messages, ensure_ascii=False)) // 4


def blocks(message: dict) -> list[dict]:
    """The blocks of a message, without thinking: it is bound to a beginning that is changed now."""
    content = message["content"]
    whole = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for block in whole if "thinking" not in block["type"]]


def cleared(messages: list[dict]) -> list[dict]:
    """The messages, with a line in place of each long old result that a call can bring back."""
    seen = [block for message in messages[:-1] for block in blocks(message)]
    names = {block["id"]: block["name"] for block in seen if block["type"] == "tool_use"}
    old = [block for block in seen if block["type"] == "tool_result"][:-KEPT]

    def shorter(block):
        is_skill = "<skill" in block.get("content", "")
        if block not in old or len(block["content"]) <= 100 or block.get("is_error") or is_skill:
            return block
        return {**block, "content": f"[Previous: used {names[block['tool_use_id']]}]"}

    return [{**one, "content": [shorter(block) for block in blocks(one)]} for one in messages]


def tail(messages: list[dict], number: int) -> list[dict]:
    """The last messages, or one more: a result needs its call."""
    start = max(len(messages) - number, 0)
    while start and any(block["type"] == "tool_result" for block in blocks(messages[start])):
        start -= 1
    return messages[start:]


def carried(agent: Agent) -> list[str]:
    """What must not depend on a summary, because code knows it."""
    parts = ["[The request]", agent.request]
    return parts + ["[Your todo list]", render(agent.items)] if agent.items else parts


def summarise(agent: Agent) -> None:
    """Put a summary in place of the older messages."""
    newest = tail(agent.messages, LAST)
    older = agent.messages[: -len(newest)]
    text = shortened(json.dumps(older, ensure_ascii=False), 4 * THRESHOLD)
    wish = f"{WISH} Above all: {agent.focus}." if agent.focus else WISH
    question = {"role": "user", "content": f"{wish}\n\n{text}"}
    try:
        reply = client.messages.create(model=MODEL, max_tokens=4_000, messages=[question])
    except anthropic.APIError as error:  # the messages stay as they are
        print(f"no summary: {error}", file=sys.stderr)
        return
    summary = "\n".join(block.text for block in reply.content if block.type == "text")
    lines = [f"[Summary of {save_transcript(agent)}]", summary, *carried(agent)]
    newest = [{**message, "content": blocks(message)} for message in newest]
    agent.messages = [{"role": "user", "content": "\n".join(lines)}, *newest]


def save_transcript(agent: Agent) -> str:
    folder = ROOT / ".transcripts"
    folder.mkdir(exist_ok=True)
    path = folder / f"{agent.name}-{len([*folder.iterdir()]) + 1}.json"
    path.write_text(json.dumps(agent.messages, indent=1), "utf-8")
    return f".transcripts/{path.name}"

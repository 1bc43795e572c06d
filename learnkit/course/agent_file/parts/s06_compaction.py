import json
import os
import sys

import anthropic

THRESHOLD = int(os.getenv("AGENT_THRESHOLD", "50000"))  # tokens; small, so that you see it happen
KEPT = 3  # newest results that are not cleared
WISH = """Summarise this conversation for the agent that will continue it. Keep decisions with
their reasons, errors and how they were solved, what is done, and what comes next."""


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
    if not agent.focus and estimate(agent.messages) > THRESHOLD:
        agent.messages = cleared(agent.messages)
        if estimate(agent.messages) > 0.8 * THRESHOLD:  # else it would soon be full again
            agent.focus = "what is still needed"
    if agent.focus:
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
    found = [block for message in messages[:-1] for block in blocks(message)]
    names = {block["id"]: block["name"] for block in found if block["type"] == "tool_use"}
    results = [block for block in found if block["type"] == "tool_result"]
    for result in results[:-KEPT]:
        skill = result["content"].startswith("<skill")
        if len(result["content"]) > 100 and not result.get("is_error") and not skill:
            result["content"] = f"[Previous: used {names[result['tool_use_id']]}]"
    return [{"role": message["role"], "content": blocks(message)} for message in messages]


def summarise(agent: Agent) -> None:
    """Put a summary in place of the older messages, and what must not depend on a summary."""
    last = -1 if isinstance(agent.messages[-1]["content"], str) else -2  # a result needs its call
    older, newest = agent.messages[:last], agent.messages[last:]
    text = shortened(json.dumps(older, ensure_ascii=False), 4 * THRESHOLD)
    question = {"role": "user", "content": f"{WISH} Above all: {agent.focus}.\n\n{text}"}
    try:
        reply = client.messages.create(model=MODEL, max_tokens=4_000, messages=[question])
    except anthropic.APIError as error:  # the messages stay as they are
        print(f"no summary: {error}", file=sys.stderr)
        return
    summary = "\n".join(block.text for block in reply.content if block.type == "text")
    path = save_transcript(agent)
    parts = [f"[Summary of {path}]", summary, "[The request]", agent.request]
    if agent.items:
        parts += ["[Your todo list]", render(agent.items)]
    agent.messages = [{"role": "user", "content": "\n".join(parts)}]
    agent.messages += [{"role": message["role"], "content": blocks(message)} for message in newest]


def save_transcript(agent: Agent) -> str:
    folder = ROOT / ".transcripts"
    folder.mkdir(exist_ok=True)
    path = folder / f"{agent.name}-{len([*folder.iterdir()]) + 1}.json"
    path.write_text(json.dumps(agent.messages, indent=1), "utf-8")
    return f".transcripts/{path.name}"

import os
import subprocess
from pathlib import Path

import anthropic

client = anthropic.Anthropic()
MODEL = os.getenv("ANTHROPIC_MODEL") or os.getenv("LEARNKIT_MODEL") or "(set ANTHROPIC_MODEL)"
SYSTEM = "You are a coding agent in the project's folder. Use your tools. Act; don't explain."
UNFINISHED = "Not finished: your reply was cut off, or the user interrupted it."
ROOT = Path.cwd()  # the project's folder


class Agent:
    """A conversation with the model, which has one tool."""

    def __init__(self):
        command = {"type": "object", "properties": {"command": {"type": "string"}}}
        about = "Run a bash command in the project's folder and return its output."
        self.specs = [{"name": "bash", "description": about, "input_schema": command}]
        self.system, self.messages = SYSTEM, []


def bash(command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


def result_of(call: dict, text: str, is_error: bool = False) -> dict:
    """The answer to a call. Its id says which one."""
    answer = {"type": "tool_result", "tool_use_id": call["id"], "content": text or "(no output)"}
    return {**answer, "is_error": True} if is_error else answer


def run_call(agent: Agent, call: dict) -> dict:
    try:
        return result_of(call, bash(**call["input"]))
    except Exception as error:  # the model should read it, and go on
        return result_of(call, f"{type(error).__name__}: {error}", is_error=True)


def agent_loop(agent: Agent, turns: int = 50) -> str:
    """Ask the model and run its calls, until it calls nothing; return what it said last."""
    for _ in range(turns):
        reply = client.messages.create(
            model=MODEL,
            max_tokens=16_000,
            system=agent.system,
            tools=agent.specs,
            messages=agent.messages,
        )
        content = [block.to_dict() for block in reply.content]
        said = {"role": "assistant", "content": content}
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            agent.messages += [said] if content else []  # the API takes no empty message
            return "\n".join(block["text"] for block in content if block["type"] == "text")
        results = []
        try:
            if reply.stop_reason != "max_tokens":  # half a command may do something else
                for call in calls:
                    results.append(run_call(agent, call))
        finally:  # Ctrl-C, too, must leave a result for each call
            missing = calls[len(results) :]
            results += [result_of(call, UNFINISHED, is_error=True) for call in missing]
            agent.messages += [said, {"role": "user", "content": results}]
    return f"(stopped after {turns} turns)"


def run(agent: Agent, prompt: str, turns: int = 50) -> str:
    agent.messages.append({"role": "user", "content": prompt})
    return agent_loop(agent, turns)

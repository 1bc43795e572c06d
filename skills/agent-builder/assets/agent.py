"""A complete agent with one tool: copy it, then change the tool and the prompt.

    export ANTHROPIC_API_KEY=… ANTHROPIC_MODEL=…
    python agent.py "Which Python files are here, and which is the longest?"

It runs any command that the model asks for, in the current folder, with your rights: use a
throw-away folder or a container.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from typing import Any

import anthropic

SYSTEM = "You are a coding agent in the folder you start in. Act with tools; then say what you did."
MAX_TURNS = 30
SECONDS = 120.0
KEPT = 50_000  # characters of one result

TOOLS = [
    {
        "name": "bash",
        "description": "Run a bash command and return its output, errors included. Each call "
        "starts afresh in the same folder; there is no input to type into.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "What to run."}},
            "required": ["command"],
        },
    }
]


def bash(command: str) -> str:
    """Run a command; kill it with all its children at the time limit."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
    with tempfile.TemporaryFile() as output:  # a pipe would wait for a child that stays behind
        process = subprocess.Popen(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        ending = ""
        try:
            if process.wait(SECONDS):
                ending = f"\n[exit code {process.returncode}]"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            ending = f"\n[killed after {SECONDS:g} s]"
        output.seek(0)
        text = output.read().decode(errors="replace")
    if len(text) > KEPT:
        left_out = len(text) - KEPT
        text = f"{text[: KEPT // 2]}\n[… {left_out:,} characters …]\n{text[-KEPT // 2 :]}"
    return (text.rstrip() + ending).strip() or "(no output)"


def answer(call: Any, *, cut: bool) -> dict[str, Any]:
    """The result for one call: always one, also when the call cannot be run."""
    failed = True
    if cut:
        text = "Not run: the reply was cut off. Send a shorter call."
    elif call.name != "bash":
        text = f"There is no tool {call.name!r}. The tools are: bash."
    elif not isinstance(call.input.get("command"), str):
        text = f"bash needs 'command', a string; it got {call.input!r}."
    else:
        text, failed = bash(call.input["command"]), False
    return {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed}


def run(client: Any, prompt: str, model: str, max_turns: int = MAX_TURNS) -> tuple[str, list[Any]]:
    """Work on a prompt; return the last text and the whole message array."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    for _ in range(max_turns):
        reply = client.messages.create(
            model=model,
            max_tokens=16_000,
            cache_control={"type": "ephemeral"},  # what the next request repeats is cheaper
            system=SYSTEM,
            tools=TOOLS,
            messages=messages,
        )
        text = "\n".join(block.text for block in reply.content if block.type == "text")
        if reply.content:  # the API refuses an empty message
            messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            unfinished = reply.stop_reason not in ("end_turn", "stop_sequence")
            note = f"[not finished: stop_reason is {reply.stop_reason}]" if unfinished else ""
            return "\n".join(filter(None, [text, note])), messages
        cut = reply.stop_reason == "max_tokens"
        messages.append({"role": "user", "content": [answer(call, cut=cut) for call in calls]})
    return f"[stopped at the limit of {max_turns} turns]", messages


if __name__ == "__main__":
    if len(sys.argv) != 2 or "ANTHROPIC_MODEL" not in os.environ:
        sys.exit('usage: ANTHROPIC_MODEL=… python agent.py "what to do"')
    print(run(anthropic.Anthropic(), sys.argv[1], os.environ["ANTHROPIC_MODEL"])[0])

"""Lesson 1's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.files import EXAMPLE
from learnkit.events.text import count

#: The tool that the checks offer; what it does is up to the check.
TOOLS = [
    {
        "name": "bash",
        "description": "Run a bash command.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    }
]


def _play(loop: Callable[..., Any], script: Sequence[Any], *more: Any) -> tuple[Any, list[Any]]:
    """What a learner's loop returns for a script, and the messages after it."""
    messages: list[Any] = [{"role": "user", "content": "go"}]
    returned = loop(lk.scripted(script), TOOLS, messages, lambda call: "done", *more)
    return returned, messages


def check_bounded_loop(loop: Any) -> Verdict:
    """Check that a loop asks at most ``max_turns`` times, and says how it ended."""
    from anthropic import BadRequestError

    from learnkit.clients.scripted import ScriptEnded

    endless = [lk.use("bash", command=f"echo {n}") for n in range(3)]
    try:
        returned, messages = _play(loop, endless, 3)
    except ScriptEnded:
        return (
            "With max_turns=3, your loop asked a model that never stops a fourth time. It should "
            "return after three replies."
        )
    except BadRequestError:
        return (
            "The API refused one of your requests (error 400). Append each reply first, and after "
            "it one message with the results of its calls."
        )
    asked = sum(message["role"] == "assistant" for message in messages)
    if asked != 3:
        return (
            f"With max_turns=3 and a model that never stops, the messages hold {asked} replies. "
            "They should hold three: ask the model until the limit is reached."
        )
    if messages[-1]["role"] != "user":
        return (
            "Your loop returned without answering the last call, so these messages can't be sent "
            "again. Append its result first."
        )
    if returned != "turn_limit":
        return f"At the limit your loop returned {returned!r}. It should return 'turn_limit'."
    returned, _ = _play(loop, [lk.use("bash", command="ls"), lk.say("ready")], 3)
    if returned != "end_turn":
        return (
            f"The model stopped by itself, and your loop returned {returned!r}. It should return "
            "that reply's stop_reason, 'end_turn'."
        )
    return None


BOUNDED_COUNTING = """
def bounded_loop(client, tools, messages, run, max_turns):
    turns = 0
    while True:
        if turns == max_turns:
            return "turn_limit"
        turns += 1
        reply = client.messages.create(
            model=client.model, max_tokens=16_000, tools=tools, messages=messages
        )
        content = [block.to_dict() for block in reply.content]
        messages.append({"role": "assistant", "content": content})
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            return reply.stop_reason
        messages.append({"role": "user", "content": [answered(call, run) for call in calls]})


def answered(call, run):
    return {"type": "tool_result", "tool_use_id": call["id"], "content": run(call)}
""".strip()


BOUNDED_RECURSIVE = """
def bounded_loop(client, tools, messages, run, max_turns):
    if max_turns == 0:
        return "turn_limit"
    reply = client.messages.create(
        model=client.model, max_tokens=16_000, tools=tools, messages=messages
    )
    messages.append({"role": "assistant", "content": reply.content})
    if not any(block.type == "tool_use" for block in reply.content):
        return reply.stop_reason
    calls = [block.to_dict() for block in reply.content if block.type == "tool_use"]
    results = [answered(call, run) for call in calls]
    messages.append({"role": "user", "content": results})
    return bounded_loop(client, tools, messages, run, max_turns - 1)


def answered(call, run):
    return {"type": "tool_result", "tool_use_id": call["id"], "content": run(call)}
""".strip()


def check_answer_all(answer_all: Any) -> Verdict:
    """Check that each call gets one result, in order, and an exception becomes an error result."""
    calls = [
        {"type": "tool_use", "id": f"call_{n}", "name": "bash", "input": {"command": command}}
        for n, command in enumerate(("ls", "boom", "date"))
    ]

    def run(call: dict[str, Any]) -> str:
        if call["input"]["command"] == "boom":
            raise ValueError("it broke")
        return f"ran {call['input']['command']}"

    try:
        results = answer_all(calls, run)
    except ValueError:
        return (
            "The second call raised ValueError, and so did your function: the other calls got no "
            "result. Catch the error for each call."
        )
    if not isinstance(results, list):
        return (
            f"Your function returned {results!r}. It should return a list with one tool_result for "
            "each call."
        )
    if len(results) != len(calls):
        return (
            f"Three calls came in, and your list has {count(len(results), 'result')}. The API "
            "refuses a request in which a call has no result, or two."
        )
    if not all(isinstance(one, dict) and one.get("type") == "tool_result" for one in results):
        return "Each result should be a dict of type 'tool_result'; at least one of yours is not."
    ids = [result.get("tool_use_id") for result in results]
    if ids != [call["id"] for call in calls]:
        return (
            f"Your results have the tool_use_ids {ids}. They should have the ids of the calls, in "
            "the same order."
        )
    texts = [_text(result.get("content")) for result in results]
    if None in texts:
        return "A result's content should be text: what run(call) returned, or str(error)."
    if not results[1].get("is_error"):
        return (
            "The second call raised an error, but its result has no is_error. To the model it "
            "looks like a success."
        )
    if "it broke" not in str(texts[1]):
        return (
            "The second call raised ValueError('it broke'), but its result doesn't say so. The "
            "model needs the error's text to try something else."
        )
    for number, name, wanted in ((0, "first", "ran ls"), (2, "third", "ran date")):
        if results[number].get("is_error") or texts[number] != wanted:
            return f"The {name} call returned {wanted!r}, but its result is {results[number]}."
    return None


def _text(content: object) -> str | None:
    """The text of a result; None if there is none. The API takes a string or text blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = [str(one["text"]) for one in blocks if isinstance(one, dict) and "text" in one]
    return "".join(parts) if parts and len(parts) == len(blocks) else None


ANSWER_SPLIT = """
def one(call, run):
    try:
        content, failed = run(call), False
    except Exception as error:
        content, failed = str(error), True
    blocks = [{"type": "text", "text": content}]
    return dict(type="tool_result", tool_use_id=call["id"], content=blocks, is_error=failed)


def answer_all(calls, run):
    return [one(call, run) for call in calls]
""".strip()


def check_replies(replies: Any) -> Verdict:
    """Check that a scripted model finds the hottest station, whatever the readings are."""
    from learnkit.clients.scripted import ScriptEnded

    if not isinstance(replies, (list, tuple)):
        return f"`replies` should be a list of replies; yours is a {type(replies).__name__}."
    for hottest in ("cairo", "oslo"):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "heatwatch"
            shutil.copytree(EXAMPLE, workspace)
            if hottest == "oslo":
                with (workspace / "stations" / "oslo.csv").open("a", encoding="utf-8") as station:
                    station.write("Wed 08:00,48.5,11\n")
            agent = lk.Agent(
                lk.scripted(list(replies)), [lk.Toolbox(lk.CodingTools(workspace).bash)]
            )
            try:
                outcome = agent.run("Write the name of the hottest station to hottest.txt.")
            except ScriptEnded:
                return (
                    "Your last reply holds a call, so the loop asked again, and there was no reply "
                    'left. End with a text: lk.say("…").'
                )
            written = workspace / "hottest.txt"
            found = written.read_text(encoding="utf-8").strip() if written.exists() else None
        if found is None:
            return (
                "The run ended without a file hottest.txt. One of your replies should call bash "
                "with a command that writes it."
            )
        if found != hottest:
            return (
                f"In this weather {hottest} is the hottest, but hottest.txt says {found!r}. The "
                "command has to compare the readings itself."
            )
        if outcome.reason != "end_turn":
            return f"The run ended with {outcome.reason!r}. It should end with a text: 'end_turn'."
    return None


REPLIES_SEPARATE = """
import learnkit as lk

replies = (
    lk.reply(
        "I'll list the stations first.",
        lk.use("bash", command="python -m heatwatch stations"),
        lk.use("bash", command="grep -c . stations/*.csv"),
    ),
    lk.use(
        "bash",
        command="for f in stations/*.csv; do "
        'echo "$(tail -n1 $f | cut -d, -f2) $(basename $f .csv)"; '
        "done | sort -n | tail -n1 | cut -d' ' -f2 > hottest.txt",
    ),
    "Done.",
)
""".strip()


REPLIES_PYTHON = '''
import learnkit as lk

CODE = """
from heatwatch import parse
hottest = max(parse.names(), key=lambda name: parse.latest(name).celsius)
open("hottest.txt", "w").write(hottest)
"""
replies = [lk.use("bash", command=f"python - <<'END'\\n{CODE}END"), lk.say("Done.")]
'''.strip()


EXERCISES = {
    "bounded_loop": Check(check_bounded_loop, [BOUNDED_COUNTING, BOUNDED_RECURSIVE]),
    "answer_all": Check(check_answer_all, [ANSWER_SPLIT]),
    "replies": Check(check_replies, [REPLIES_PYTHON, REPLIES_SEPARATE]),
}

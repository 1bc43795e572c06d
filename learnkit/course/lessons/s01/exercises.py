"""Lesson 1's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.lessons import EXAMPLE, Verdict
from learnkit.course.lessons.sources import SOLUTION, STUB, Check

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
    """Check that a loop asks at most ``max_turns`` times, and says how it ended.

    Args:
        loop: the learner's function of client, tools, messages, ``run`` and ``max_turns``.
    """
    from learnkit.clients.scripted import ScriptEnded

    endless = [lk.use("bash", command=f"echo {n}") for n in range(3)]
    try:
        returned, messages = _play(loop, endless, 3)
    except ScriptEnded:
        return "with max_turns=3 it asked the model a fourth time"
    asked = sum(message["role"] == "assistant" for message in messages)
    if asked != 3:
        return f"with max_turns=3 it asked the model {asked} times, not 3"
    if messages[-1]["role"] != "user":
        return "it stopped without answering the last call, so the messages cannot be sent again"
    if returned != "turn_limit":
        return f"at the limit it returned {returned!r}, not 'turn_limit'"
    returned, _ = _play(loop, [lk.use("bash", command="ls"), lk.say("ready")], 3)
    if returned != "end_turn":
        return f"for a model that stops by itself it returned {returned!r}, not 'end_turn'"
    return None


BOUNDED_COUNTING = STUB.replace(
    "    while True:",
    "    turns = 0\n    while True:\n        if turns == max_turns:\n"
    '            return "turn_limit"\n'
    "        turns += 1",
)


def check_answer_all(answer_all: Any) -> Verdict:
    """Check that each call gets one result, in order, and an exception becomes an error result.

    Args:
        answer_all: the learner's function of the calls and of ``run``, which runs one.
    """
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
        return "the second call raised ValueError, and so did your function: the others got nothing"
    if not isinstance(results, list) or len(results) != len(calls):
        found = len(results) if isinstance(results, list) else results
        return f"three calls need three results; it returned {found}"
    ids = [result.get("tool_use_id") for result in results]
    if ids != [call["id"] for call in calls]:
        return f"the results must carry the calls' ids, in order; they carry {ids}"
    if any(result.get("type") != "tool_result" for result in results):
        return "every result is a block of type 'tool_result'"
    if not results[1].get("is_error"):
        return "the call that raised has a result without is_error, so it looks like a success"
    if "it broke" not in str(results[1].get("content")):
        return "the error result does not tell the model what went wrong ('it broke')"
    if results[0].get("is_error") or results[0].get("content") != "ran ls":
        return f"the first call ran well, but its result is {results[0]}"
    return None


ANSWER_SPLIT = """
def one(call, run):
    try:
        content, failed = run(call), False
    except Exception as error:
        content, failed = str(error), True
    return dict(type="tool_result", tool_use_id=call["id"], content=content, is_error=failed)


def answer_all(calls, run):
    return [one(call, run) for call in calls]
""".strip()


def check_replies(replies: Any) -> Verdict:
    """Check that a scripted model finds the hottest station, whatever the readings are.

    Args:
        replies: the learner's list of replies.
    """
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
            outcome = agent.run("Write the name of the hottest station to hottest.txt.")
            written = workspace / "hottest.txt"
            found = written.read_text(encoding="utf-8").strip() if written.exists() else None
        if found is None:
            return "the run ended, and there is no hottest.txt in the workspace"
        if found != hottest:
            return f"{hottest} has the highest latest reading, but hottest.txt says {found!r}"
        if outcome.reason != "end_turn":
            return f"the run ended with {outcome.reason!r}, not because the model was done"
    return None


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
    "bounded_loop": Check(
        check_bounded_loop,
        right=[BOUNDED_COUNTING],
        wrong=[
            SOLUTION.replace("range(max_turns)", "range(max_turns + 1)"),
            SOLUTION.replace('return "turn_limit"', "return None"),
        ],
    ),
    "answer_all": Check(
        check_answer_all,
        right=[ANSWER_SPLIT],
        wrong=[
            "def answer_all(calls, run):\n"
            '    return [{"type": "tool_result", "tool_use_id": call["id"],\n'
            '             "content": run(call)} for call in calls]',
            SOLUTION.replace(', "is_error": True', ""),
            SOLUTION.replace("for call in calls", "for call in reversed(calls)"),
        ],
    ),
    "replies": Check(
        check_replies,
        right=[REPLIES_PYTHON],
        wrong=[
            'import learnkit as lk\n\nreplies = [\n    lk.use("bash", command="echo cairo > '
            'hottest.txt"),\n    lk.say("Done."),\n]',
            SOLUTION.replace("sort -t: -k2 -rn", "sort -t: -k2 -n"),
        ],
    ),
}

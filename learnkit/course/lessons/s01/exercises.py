"""Lesson 1's exercises: what is wrong with an answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.files import EXAMPLE
from learnkit.events.text import blocks_of, content_text, one_line

#: Seconds that a command of the learner's may take.
LIMIT = 5.0


def _array(*replies: list[Any]) -> list[dict[str, Any]]:
    """Messages with these replies: each a list of texts, and of inputs of calls of ``bash``."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go"}]
    for number, reply in enumerate(replies):
        content, results = list[dict[str, Any]](), list[dict[str, Any]]()
        for place, part in enumerate(reply):
            if isinstance(part, str):
                content.append({"type": "text", "text": part})
                continue
            id = f"toolu_{number}{place}"
            content.append({"type": "tool_use", "id": id, "name": "bash", **part})
            results.append({"type": "tool_result", "tool_use_id": id, "content": "ok"})
        messages.append({"role": "assistant", "content": content})
        messages += [{"role": "user", "content": results}] if results else []
    return messages


def check_stuck(stuck: Any) -> Verdict:
    """Check that three replies in a row with the same calls are noticed, and nothing else."""
    ls, pwd = {"input": {"command": "ls"}}, {"input": {"command": "pwd"}}
    other = {"name": "read", **ls}
    cases: tuple[tuple[bool, list[list[Any]], str], ...] = (
        (True, [[ls], [ls], [ls]], "Three replies call `ls`"),
        (False, [[ls], [ls]], "Only two replies call `ls`"),
        (True, [["Hm.", pwd], ["Again.", ls], [ls], ["So?", ls]], "The last three call `ls`"),
        (False, [[ls], [ls], [pwd]], "The replies call `ls`, `ls` and `pwd`"),
        (False, [[ls], [ls], [pwd], [ls]], "Three of four replies call `ls`, but not in a row"),
        (False, [[ls], [ls], [other]], "The third reply calls another tool with the same input"),
        (True, [[ls, pwd], [ls, pwd], [ls, pwd]], "Each of three replies calls `ls` and `pwd`"),
        (False, [[ls, pwd], [ls], [ls]], "Only the first of three replies calls `pwd`, too"),
        (False, [["a"], ["a"], ["a"]], "Three replies have no call at all"),
        (False, [], "There is no reply yet"),
    )
    for right, replies, what in cases:
        said = stuck(_array(*replies))
        if bool(said) != right or said is None:
            return f"{what}, and your function returned {said!r}. It should return {right}."
    return None


def check_replies(replies: Any) -> Verdict:
    """Check that a scripted model finds the hottest station, whatever the readings are."""
    from learnkit.clients.scripted import ScriptEnded

    script = replies()
    if not isinstance(script, (list, tuple)):
        return f"Your function returned {script!r}. It should return a list of replies."
    for hottest in ("cairo", "oslo"):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "heatwatch"
            shutil.copytree(EXAMPLE, workspace)
            if hottest == "oslo":
                with (workspace / "stations" / "oslo.csv").open("a", encoding="utf-8") as station:
                    station.write("Wed 08:00,48.5,11\n")
            bash = lk.CodingTools(workspace, timeout=LIMIT).bash
            agent = lk.Agent(lk.scripted(list(script)), [lk.Toolbox(bash)])
            try:
                outcome = agent.run("Write the name of the hottest station to hottest.txt.")
            except ScriptEnded:
                return (
                    "Your last reply holds a call, so the loop asked again, and there was no reply "
                    'left. End with a text: lk.say("…").'
                )
            if "[timed out after" in str(agent.messages):
                return f"One of your commands didn't end within {LIMIT:g} seconds."
            written = workspace / "hottest.txt"
            found = written.read_text(encoding="utf-8").strip() if written.exists() else None
        if found is None:
            blocks = [block for one in agent.messages for block in blocks_of(one["content"])]
            errors = [content_text(one["content"]) for one in blocks if one.get("is_error")]
            return (
                "The run ended without a file hottest.txt. One of your replies should call bash "
                "with a command that writes it."
                + "".join(f" A call failed: {one_line(error, 100)}." for error in errors[:1])
            )
        if found != hottest:
            return (
                f"In this weather {hottest} is the hottest, but hottest.txt says {found!r}. The "
                "command has to compare the readings itself."
            )
        if outcome.reason != "end_turn":
            return f"The run ended with {outcome.reason!r}. It should end with a text: 'end_turn'."
    return None


EXERCISES = {
    "stuck": check_stuck,
    "replies": check_replies,
}

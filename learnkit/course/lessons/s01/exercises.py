"""Lesson 1's exercises: what is wrong with an answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.verdicts import first_wrong
from learnkit.events.text import blocks_of, content_text, one_line

#: Seconds that a command of the learner's may take.
LIMIT = 5.0


def _array(*replies: list[Any]) -> tuple[list[dict[str, Any]]]:
    """Messages with these replies: each a list of texts, and of commands after a ``$``."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go"}]
    for number, reply in enumerate(replies):
        content, results = list[dict[str, Any]](), list[dict[str, Any]]()
        for place, part in enumerate(reply):
            name, is_call, command = part.partition("$ ")
            if not is_call:
                content.append({"type": "text", "text": part})
                continue
            id, given = f"toolu_{number}{place}", {"command": command}
            content.append({"type": "tool_use", "id": id, "name": name or "bash", "input": given})
            results.append({"type": "tool_result", "tool_use_id": id, "content": "ok"})
        messages.append({"role": "assistant", "content": content})
        messages += [{"role": "user", "content": results}] if results else []
    return (messages,)


def check_stuck(stuck: Any) -> Verdict:
    """Check that three replies in a row with the same calls are noticed, and nothing else."""
    ls, pwd, other = "$ ls", "$ pwd", "read$ ls"
    cases = (
        ("three replies that call `ls`", _array([ls], [ls], [ls]), True),
        ("two replies that call `ls`", _array([ls], [ls]), False),
        (
            "four replies, of which the last three call `ls`",
            _array([pwd], ["Hm.", ls], [ls], [ls]),
            True,
        ),
        (
            "four replies, three of which call `ls`, not in a row",
            _array([ls], [ls], [pwd], [ls]),
            False,
        ),
        (
            "three replies that call `ls`, and then one that calls `pwd`",
            _array([ls], [ls], [ls], [pwd]),
            False,
        ),
        (
            "three replies with one input, the last for another tool",
            _array([ls], [ls], [other]),
            False,
        ),
        ("three replies that call `ls` and `pwd`", _array([ls, pwd], [ls, pwd], [ls, pwd]), True),
        (
            "three replies that call `ls`, the first one `pwd`, too",
            _array([ls, pwd], [ls], [ls]),
            False,
        ),
        (
            "three replies that call `ls`, and then one without a call",
            _array([ls], [ls], [ls], ["Done."]),
            False,
        ),
        ("three replies without a call", _array(["a"], ["a"], ["a"]), False),
        ("no reply yet", _array(), False),
    )
    return first_wrong(stuck, cases, bool)


def check_replies(replies: Any) -> Verdict:
    """Check that a scripted model finds the hottest station, whatever the readings are."""
    from learnkit.clients.scripted import ScriptEnded

    script = list(replies())
    for hottest in ("cairo", "oslo"):
        with tempfile.TemporaryDirectory() as folder:
            workspace = Path(folder) / "heatwatch"
            shutil.copytree(EXAMPLE, workspace)
            if hottest == "oslo":
                for name, degrees in (("oslo", 48.5), ("beijing", 9.5)):  # as texts, 9.5 is more
                    with (workspace / "stations" / f"{name}.csv").open(
                        "a", encoding="utf-8"
                    ) as station:
                        station.write(f"Wed 08:00,{degrees},11\n")
            bash = lk.CodingTools(workspace, timeout=LIMIT).bash
            agent = lk.Agent(lk.scripted(list(script)), [lk.Toolbox(bash)])
            try:
                agent.run("Write the name of the hottest station to hottest.txt.")
            except ScriptEnded:
                return (
                    "Your last reply holds a call, so the loop asked again, and there was no reply "
                    'left. End with a text: lk.say("…").'
                )
            written = workspace / "hottest.txt"
            found = written.read_text(encoding="utf-8").strip() if written.exists() else None
        if found is None:
            blocks = [block for one in agent.messages for block in blocks_of(one["content"])]
            errors = [content_text(one["content"]) for one in blocks if one.get("is_error")]
            return (
                "The run ended without a file hottest.txt. One of your replies should call bash "
                "with a command that writes it."
                + "".join(
                    f" A call failed: {one_line(error, 100).rstrip('.')}." for error in errors[:1]
                )
            )
        if found != hottest and hottest in found:
            return (
                f"hottest.txt says {found!r}. It should hold the name, {hottest}, and nothing else."
            )
        if found != hottest:
            return (
                f"In this weather {hottest} is the hottest, but hottest.txt says {found!r}. The "
                "command has to compare the readings itself."
            )
    return None

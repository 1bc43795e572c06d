"""``agent.py`` where it is tried hard: odd files, odd replies, Ctrl-C, and who owns a task."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.agent_file.process import Terminal
from learnkit.course.agent_file.source import Source

TEXT = str(Source.reference("s12"))


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Any]:
    """The whole file as a module that works in an empty folder, and allows everything."""
    module = types.ModuleType("agent_under_test")
    exec(compile(TEXT, "agent.py", "exec", dont_inherit=True), module.__dict__)
    module.ROOT, module.POLICY = tmp_path, {"write": "allow"}
    yield module
    module.end()


def answers(agent: Any, model: Any) -> Any:
    """Let a script answer for the model."""
    agent.client = lk.scripted(model)
    agent.MODEL = agent.client.model
    return agent.client


def call(agent: Any, who: Any, name: str, **given: Any) -> str:
    """What the model reads when it has called a tool."""
    return str(agent.run_call(who, {"id": "toolu_1", "name": name, "input": given})["content"])


def until(holds: Callable[[], Any], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_s02_an_edit_keeps_the_line_ends_of_a_file(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bat").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (tmp_path / "b.txt").write_bytes(b"one\ntwo\n\x0c")
    lead = agent.Agent()
    for name in ("a.bat", "b.txt"):
        assert "Edited" in call(
            agent, lead, "edit_file", path=name, old_text="one\ntwo\n", new_text="1\n2\n"
        )
    assert (tmp_path / "a.bat").read_bytes() == b"1\r\n2\r\nthree\r\n"
    assert (tmp_path / "b.txt").read_bytes() == b"1\n2\n\x0c"
    said = call(agent, lead, "edit_file", path="b.txt", old_text="", new_text="x")
    assert "does not contain" in said  # it does, at each place between two letters


def test_s02_a_question_shows_what_would_hide_a_line(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    agent.input = lambda text: shown.append(text) or "n"
    agent.POLICY["write"] = "ask"
    call(agent, agent.Agent(), "write_file", path="a", content="rm -rf ~\x1b[2Kls\n")
    assert "rm -rf ~?[2Kls" in shown[0]


def test_s02_no_command_outlives_the_process(tmp_path: Path) -> None:
    """Not even one of a thread that nobody joins."""
    program = """
from threading import Thread
import time
Thread(target=agent.bash, args=(agent.Agent(), "echo $$ > part; mv part pid; exec sleep 60"),
       daemon=True).start()
while not (agent.ROOT / "pid").exists():
    time.sleep(0.01)
"""
    with Terminal(TEXT, lambda _: lk.say("."), tmp_path) as terminal:
        terminal.run("", program=program)
        pid = int((tmp_path / "pid").read_text())

        def is_gone() -> bool:
            try:
                return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
            except OSError:
                return True

        until(is_gone, 5)

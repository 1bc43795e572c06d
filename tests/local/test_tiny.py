"""The smallest real model in the loop: it is fetched, it answers, and every call has its form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.clients import local
from learnkit.course.lessons.b4 import measured


def test_it_is_fetched_and_every_reply_has_a_form_that_the_loop_can_use() -> None:
    local.fetch_tiny()
    asked: list[str] = []

    def weather(city: str) -> str:
        """Current weather of a city."""
        asked.append(city)
        return f"31.4 °C in {city}"

    agent = lk.Agent(lk.local("tiny", context=2048), tools=[weather], max_turns=2)
    outcome = agent.run("How warm is it in Rome?")
    assert outcome.reason in ("end_turn", "turn_limit")
    assert all(event.data["how"] == "ran" for event in agent.events if event.type == "tool.ended")
    assert outcome.usage.output_tokens > 0
    assert not outcome.usage.simulated


def test_served_it_answers_a_program_in_another_process(tmp_path: Path) -> None:
    local.fetch_tiny()
    program = tmp_path / "ask.py"
    program.write_text(
        "import os, anthropic\n"
        "said = anthropic.Anthropic().messages.create(model=os.environ['ANTHROPIC_MODEL'],\n"
        "    max_tokens=20, messages=[{'role': 'user', 'content': 'Say hello.'}])\n"
        "print(said.content[0].text)\n"
    )
    command = [sys.executable, "-m", "learnkit", "serve", "tiny", "--here", "--", "python", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_lesson_asks_it_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    local.fetch_tiny()
    prompt = "Is it hot in Cairo right now?"
    as_measured = measured.reply_to(prompt)
    assert as_measured.startswith('as measured: { "tool": "latest"')
    assert "isn't here" in measured.reply_to("What is love?")
    monkeypatch.setattr(measured, "is_live", lambda: True)
    assert measured.reply_to(prompt).startswith('here, now: {"tool": "latest"')

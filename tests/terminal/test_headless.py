"""``learnkit chat -p`` as a script uses it: what is on standard output, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from messages_server import MessagesServer, serving

import learnkit as lk

pytestmark = pytest.mark.slow  # each starts a process
TOUCH = [lk.use("bash", command="touch made"), lk.say("Ready.")]


def ask(
    work: Path, script: Any, *options: str, stdin: str = "", **server: Any
) -> tuple[subprocess.CompletedProcess[str], MessagesServer]:
    """Ask for an answer in a workspace."""
    with serving(script, **server) as api:
        folders = {"XDG_CONFIG_HOME": str(work.parent / "config")}
        done = subprocess.run(
            [sys.executable, "-m", "learnkit", "chat", "-p", *options],
            cwd=work,
            env={**os.environ, **api.env, **folders, "XDG_STATE_HOME": str(work.parent / "state")},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "Traceback" not in done.stderr
    return done, api


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_the_answer_is_all_of_standard_output_and_standard_input_is_in_the_prompt(
    work: Path,
) -> None:
    done, api = ask(work, [lk.say("It adds a line.")], "What is this?", stdin="+ a line\n")
    assert (done.stdout, done.stderr, done.returncode) == ("It adds a line.\n", "", 0)
    assert api.bodies[0]["messages"][0]["content"] == "What is this?\n\n+ a line\n"


@pytest.mark.parametrize(
    ("options", "code", "made"),
    [
        ([], 2, False),
        (["--allow", "bash(touch:*)"], 0, True),
        (["--allow", "bash(rm:*)"], 2, False),
        (["--yes"], 0, True),
    ],
)
def test_what_nobody_can_allow_is_refused_said_and_is_exit_code_2(
    work: Path, options: list[str], code: int, made: bool
) -> None:
    done, _ = ask(work, TOUCH, "Make it.", *options)
    assert (done.stdout, done.returncode) == ("Ready.\n", code)
    assert (work / "made").exists() == made
    assert ("refused, since nobody can be asked: bash touch made" in done.stderr) == (not made)


def test_a_limit_and_a_server_that_is_waited_for_are_said(work: Path) -> None:
    done, _ = ask(work, lambda body: lk.use("task_list"), "Go on.", "--max-turns", "2")
    assert (done.returncode, done.stderr) == (2, "learnkit: ended by turn limit\n")
    done, _ = ask(work, [lk.fail(529, "busy"), lk.say("Hi.")], "Hello.")
    assert (done.stdout, done.returncode) == ("Hi.\n", 0)
    assert "the server is overloaded (529, busy)" in done.stderr
    assert "trying again in" in done.stderr


def test_json_has_the_answer_what_it_cost_and_the_session_that_goes_on(work: Path) -> None:
    done, _ = ask(work, [lk.say("Blue.")], "Which colour?", "--json")
    first = json.loads(done.stdout)
    assert (first["text"], first["reason"], first["turns"]) == ("Blue.", "end_turn", 1)
    assert first["cost"] > 0
    assert first["usage"]["output_tokens"] > 0
    done, api = ask(work, [lk.say("Green.")], "And now?", "--stream-json", "--continue")
    *events, last = map(json.loads, done.stdout.splitlines())
    assert (last["session"], last["text"]) == (first["session"], "Green.")
    assert last["usage"]["requests"] == 1, "of this run"
    assert [one["seq"] for one in events] == list(range(events[0]["seq"], events[-1]["seq"] + 1))
    said = [one["content"] for one in api.bodies[0]["messages"] if one["role"] == "user"]
    assert said == ["Which colour?", "And now?"]
    done, _ = ask(work, [lk.fail(404, "model: gone")], "Hello.", "--json")
    failed = json.loads(done.stdout)
    assert "the name of the model in LEARNKIT_MODEL" in failed["error"]
    assert (failed["reason"], failed["turns"], done.returncode) == ("error", 1, 1)
    assert {**failed, "error": ""}.keys() == {**first, "error": ""}.keys()
    script = [lk.fail(400, "Could not process image")]
    done, api = ask(work, script, "And this?", "--resume", first["session"])
    assert done.returncode == 1
    done, api = ask(work, [lk.say("Red.")], "Now?", "--resume", first["session"])
    assert "And this?" not in str(api.bodies[0]["messages"])


@pytest.mark.parametrize(
    ("script", "options", "settings", "code", "reason", "error"),
    [
        ([lk.fail(401, "no key")], [], "", 1, "error", "401, no key; check ANTHROPIC_API_KEY"),
        (lambda body: lk.use("task_list"), ["--max-turns", "1"], "", 2, "turn_limit", None),
        ([], ["--allow", "bash("], "", 1, "error", "is no pattern"),
        ([], ["--resume", "7"], "", 1, "error", "there is no session '7' here"),
        ([], [], "[permission]", 1, "error", "line 1: there is no 'permission' here; write [perm"),
        ([], ["@data.bin"], "", 1, "error", "not sent: data.bin: it is no text"),
    ],
)
def test_json_is_there_whatever_happens(
    work: Path, script: Any, options: list[str], settings: str, code: int, reason: str, error: Any
) -> None:
    (work / "data.bin").write_bytes(b"\0")
    (work.parent / "config" / "learnkit").mkdir(parents=True)
    (work.parent / "config" / "learnkit" / "settings.toml").write_text(settings)
    prompt, *more = ["Hello.", *options] if options[:1] != ["@data.bin"] else options
    done, _ = ask(work, script, prompt, "--stream-json" if error else "--json", *more)
    said = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, said["type"], said["reason"]) == (code, "result", reason)
    assert error is None or (error in said["error"] and error in done.stderr)


def test_a_reader_that_leaves_ends_it_without_a_traceback(work: Path) -> None:
    with serving([lk.say("one " * 50_000)]) as api:
        command = f"{sys.executable} -m learnkit chat -p hello --stream-json | head -c 10"
        done = subprocess.run(
            ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
            cwd=work,
            env={**os.environ, **api.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")

"""What docs/live.md says about sandboxes: its two examples, as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import screen
from messages_server import serving
from project import ROOT
from screen import CTRL_D, ENTER, Screen

import learnkit as lk

PAGE = (ROOT / "docs" / "live.md").read_text("utf-8")


def block(language: str, holds: str) -> str:
    """The fenced block that holds a word."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = [one for one in blocks if holds in one]
    return str(found)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    begin = "git init -q && git config user.name Ada && git config user.email ada@example.com"
    subprocess.run(f"{begin} && git commit -q --allow-empty -m first", shell=True, cwd=folder)
    return folder


def subjects(repo: Path) -> list[str]:
    log = ["git", "log", "--format=%an: %s"]
    return subprocess.run(log, cwd=repo, capture_output=True, text=True).stdout.splitlines()


def commands(outside: Path) -> str:
    return f"echo no > {outside}; echo yes > inside; git add -A; git commit -qm work && echo ended"


def test_the_whole_chat_in_a_sandbox(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = Path.home() / f"escaped-{os.getpid()}"
    chat = f"--ro-bind {ROOT} {ROOT} {shlex.join(screen.CHAT)} --yes"
    command = block("sh", "bwrap").replace("learnkit chat", chat)
    assert "--yes" in command
    command = command.replace("~/.local/state/learnkit", str(tmp_path / "state" / "learnkit"))
    monkeypatch.setattr(screen, "CHAT", ("bash", "-c", command))
    script = [
        lk.use("bash", command=commands(outside)),
        lk.use("worktree_create", name="w"),
        lk.use("worktree_run", name="w", command="git commit -q --allow-empty -m there"),
        lk.use("worktree_merge", name="w"),
        lk.say("All is done."),
    ]
    with serving(script) as server:
        env = {
            **server.env,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "LEARNKIT_REPRODUCIBLE": "0",
            "PYTHONPATH": str(ROOT),
        }
        with Screen(folder=repo, **env) as terminal:
            terminal.expect("0 turns")
            terminal.type(f"work{ENTER}")
            terminal.expect("All is done.")
            terminal.type(CTRL_D)
            assert terminal.ended() == 0
    assert not outside.exists()
    assert "Read-only file system" in str(server.bodies[1]["messages"])
    assert sorted(subjects(repo)) == ["Ada: Merge wt/w", "Ada: first", "Ada: there", "Ada: work"]
    assert (tmp_path / "state" / "learnkit" / "chat_history").read_text()


def test_only_the_commands_of_a_script_in_a_sandbox(repo: Path) -> None:
    outside = Path.home() / f"escaped-{os.getpid()}"
    ask = "import socket; socket.create_connection(('127.0.0.1', PORT))"
    with serving(lambda body: next(script)) as server:
        ask = ask.replace("PORT", server.url.rpartition(":")[2])
        script = iter(
            [
                lk.use("bash", command=f'{commands(outside)}; python3 -c "{ask}"'),
                lk.say("All is done."),
            ]
        )
        run = subprocess.run(
            [sys.executable, "-c", block("python", "BwrapShell")],
            cwd=repo,
            env={
                **os.environ,
                **server.env,
                "LEARNKIT_REPRODUCIBLE": "0",
                "PYTHONPATH": str(ROOT),
            },
            capture_output=True,
            text=True,
        )
    assert (run.stdout, run.stderr) == ("All is done.\n", "")
    assert not outside.exists()
    answer = str(server.bodies[1]["messages"])
    assert "Read-only file system" in answer
    assert "ended" in answer
    assert re.search(r"Connection refused|Network is unreachable", answer)
    assert subjects(repo) == ["Ada: work", "Ada: first"]

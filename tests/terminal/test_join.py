"""``learnkit join`` as a process: it works, is led, and leaves without a trace."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fault_run import Run, sqlite
from processes import until
from project import ROOT
from typer.testing import CliRunner

import learnkit as lk
from learnkit.backends.interface import Backend
from learnkit.clients.scripted import Reply
from learnkit.errors import UsageError
from learnkit.terminal.cli import app

PROGRAM = "from learnkit.terminal.cli import main; main()"


def runs_its_task(request: dict[str, Any]) -> Reply:
    """A model by rules: it runs its task, which is a command, and completes it."""
    text = str(request["messages"])
    task = list(re.finditer(r"Task #(\d+): (.+?)(?:\\n|</auto)", text))[-1]
    done = text.count("tool_use_id", task.end())
    steps = [
        lk.use("bash", command=task[2]),
        lk.use("task_update", task_id=int(task[1]), status="completed"),
    ]
    return steps[done] if done < len(steps) else lk.say("Done.")


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with lk.MessagesServer(runs_its_task) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "offline")
        yield


@contextmanager
def joined(folder: Path, url: str, name: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM, "join", url, "--name", name, "--yes"]
    command += ["--workspace", str(folder / name), *more]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def status(backend: Backend, name: str) -> str:
    entries = [one for one in backend.roster().members() if one["name"] == name]
    return entries[0]["status"] if entries else ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_the_middle_of_a_task_which_is_free_at_once(
    tmp_path: Path, number: signal.Signals
) -> None:
    url = sqlite(tmp_path)
    backend = lk.open_backend(url)
    board = backend.board()
    board.create("echo hello > hello.txt")
    board.create("sleep 100")
    with joined(tmp_path, url, "alice") as process:
        until(lambda: board.get(2).status == "in_progress")
        assert board.get(1).status == "completed"
        assert (tmp_path / "alice/hello.txt").read_text().strip() == "hello"
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 128 + number
    assert "alice leaves, and gives back what it holds." in said
    assert "Traceback" not in said
    assert board.get(2).status == "pending"
    assert status(backend, "alice") == "shutdown"
    backend.close()


@pytest.mark.slow
@pytest.mark.parametrize("told", [True, False])
def test_it_ends_with_its_terminal(tmp_path: Path, told: bool) -> None:
    """A closed window sends SIGHUP; what is printed there may fail before that has come."""
    url = sqlite(tmp_path)
    backend = lk.open_backend(url)
    board = backend.board()
    window, terminal = os.openpty()
    command = [sys.executable, "-c", PROGRAM, "join", url, "--name", "alice", "--yes"]
    process = subprocess.Popen(
        [*command, "--workspace", str(tmp_path / "alice")],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    try:
        os.close(terminal)
        said = b""
        while b"Ctrl-C ends it." not in said or b"alice is idle" not in said:
            said += os.read(window, 4096)
        if told:
            os.close(window)
            process.send_signal(signal.SIGHUP)
        else:  # the line about this command is the first that fails
            board.create(f"until [ -e {tmp_path / 'closed'} ]; do sleep 0.1; done")
            until(lambda: board.get(1).status == "in_progress")
            os.close(window)
            (tmp_path / "closed").touch()
        assert process.wait(60) == 128 + signal.SIGHUP
        assert status(backend, "alice") == "shutdown"
        assert all(task.status != "in_progress" for task in board.tasks())
    finally:
        process.kill()
        process.wait()
        backend.close()


@pytest.mark.slow
def test_the_second_of_a_name_ends_the_first_and_max_idle_ends_the_second(tmp_path: Path) -> None:
    url = sqlite(tmp_path)
    backend = lk.open_backend(url)
    with joined(tmp_path, url, "alice", "--lease", "3") as first:
        until(lambda: status(backend, "alice") == "idle")
        with joined(tmp_path, url, "alice", "--lease", "3", "--max-idle", "6") as second:
            said, _ = first.communicate(timeout=60)
            assert first.returncode == 1
            assert "alice has ended: the name alice belongs to another process now" in said
            second.communicate(timeout=60)
            assert second.returncode == 0
    assert status(backend, "alice") == "shutdown"
    backend.close()


@pytest.mark.slow
def test_nothing_is_lost_when_workers_are_killed_and_stopped(tmp_path: Path) -> None:
    summary = Run(tmp_path, sqlite(tmp_path), kills=3, seed=1).go(6)
    assert summary.problems == []
    assert (summary.lost, summary.twice) == (0, 0)
    assert summary.kills >= 3
    assert summary.tasks >= 6


@pytest.mark.slow
def test_the_page_s_three_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/several-machines.md as it is written, but the pip line; the three share one terminal."""
    page = (ROOT / "docs/several-machines.md").read_text("utf-8")
    prepare = page[page.index("mkdir ~/joint") : page.index("learnkit serve crew.py")]
    program, *_ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    chat, alice, bob = re.findall(r"^learnkit ((?:chat|join) .*)$", page, re.MULTILINE)[:3]
    given: dict[str, Any] = {}
    exec(program, given)
    monkeypatch.setenv("HOME", str(tmp_path))
    git = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.example"}
    for name, value in git.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.replace("AUTHOR", "COMMITTER"), value)
    here, binaries = tmp_path / "joint", Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{binaries}:{os.environ['PATH']}")
    subprocess.run(["bash", "-ec", prepare], check=True, cwd=tmp_path, capture_output=True)
    monkeypatch.setenv("LEARNKIT_BACKEND", f"sqlite:///{here}/team.db")

    def started(words: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words.split()],
            **{"cwd": here, "stdin": pipe, "stdout": pipe, "stderr": subprocess.STDOUT},
            text=True,
        )

    processes = list[subprocess.Popen[str]]()
    backend = lk.open_backend()
    board = backend.board()
    try:
        with lk.MessagesServer(given["script"]) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            lead = started(chat)
            processes.append(lead)
            assert lead.stdin is not None
            lead.stdin.write("Prepare the parser\n")
            lead.stdin.flush()
            until(lambda: any(task.worktree for task in board.tasks()))
            processes += [started(alice), started(bob)]
            until(lambda: board.get(1).status == "completed")
            lead.stdin.write("Merge the parser\n")
            lead.stdin.flush()
            until((here / "lead/parser.txt").exists)
            until(lambda: status(backend, "alice") != "")  # bob may have done it all
            shown, _ = lead.communicate("/team\n", timeout=60)
            assert lead.returncode == 0, shown
            assert "alice" in shown
    finally:
        for process in processes:
            process.kill()
            process.communicate()
        backend.close()


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    run = CliRunner().invoke
    with pytest.raises(UsageError, match=r"no ANTHROPIC_API_KEY.*learnkit serve"):
        run(app, ["join", "files:.", "--name", "alice"], catch_exceptions=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "offline")
    with pytest.raises(UsageError, match="nobody can be asked here about commands and edits"):
        run(app, ["join", "files:.", "--name", "alice"], catch_exceptions=False)
    assert run(app, ["join", "files:."]).exit_code == 2
    assert os.environ.get("LEARNKIT_BACKEND") is None


def test_a_name_that_cannot_be_is_refused(tmp_path: Path) -> None:
    words = ["--yes", "--workspace", str(tmp_path)]
    with pytest.raises(UsageError, match="'lead' is the lead; join under another name"):
        CliRunner().invoke(
            app, ["join", f"files:{tmp_path}", "--name", "lead", *words], catch_exceptions=False
        )

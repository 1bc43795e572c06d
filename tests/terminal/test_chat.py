"""The terminal: what is shown, what is asked, and a cancelled turn that leaves all in order."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from messages_server import serving
from project import ROOT
from rich.console import Console

import learnkit as lk
from learnkit.core.catalog import DEFAULT_MODEL, MODELS
from learnkit.terminal.chat import ALLOWED, Chat
from learnkit.terminal.slash_commands import COMMANDS

OTHER = next(name for name in MODELS if name != DEFAULT_MODEL)
pytestmark = pytest.mark.usefixtures("no_thread_is_left")


class Talk:
    """A conversation with a script on one side and typed lines on the other."""

    def __init__(self, folder: Path, script: Any, lines: list[Any], **options: Any) -> None:
        self.file = io.StringIO()
        self.asked: list[str] = []
        left = iter(lines)

        def read(prompt: str) -> str:
            self.asked.append(prompt)
            line = next(left, None)
            if line is None:
                raise EOFError
            if isinstance(line, BaseException):
                raise line
            return str(line)

        console = Console(file=self.file, width=200, highlight=False, soft_wrap=True)
        client = lk.scripted(script)
        with client.clock:
            self.chat = Chat(client, folder, read=read, console=console, **options)
            self.chat.run()

    @property
    def text(self) -> str:
        return self.file.getvalue()


def test_text_streams_and_a_call_is_one_line(tmp_path: Path) -> None:
    look = lk.reply("I look.", lk.use("bash", command="echo one; echo two"))
    talk = Talk(tmp_path, [look, lk.say("Two lines.")], ["look", "o"])
    assert "I look.\n" in talk.text
    assert re.search(r"  → bash echo one; echo two ✓ \d\.\d s, 2 lines: one two\n", talk.text)
    assert talk.text.rstrip().endswith("Two lines.")
    assert talk.asked[0].startswith("\n[≈0 tokens · 0 turns] > ")
    assert re.match(r"\n\[≈\d+ tokens · 2 turns\] > ", talk.asked[-1])


def test_a_summary_is_nothing_that_the_model_says_to_the_user(tmp_path: Path) -> None:
    def model(request: Any) -> Any:
        if "tools" not in request:
            return lk.say("SUMMARY: we have said hello.")
        return lk.say(f"reply {len(request['messages'])}")

    talk = Talk(tmp_path, model, ["hello", "/compact", "go on"])
    assert "reply 1" in talk.text
    assert any(event.type == "compaction.summarised" for event in talk.chat.agent.events)
    assert "SUMMARY" not in talk.text


@pytest.mark.parametrize(
    ("answers", "how"),
    [
        (["o", "n"], ["ran", "refused"]),
        (["what?", "yes", "no"], ["ran", "refused"]),
        (["a"], ["ran", "ran"]),
        (["n", "o"], ["refused", "ran"]),
    ],
)
def test_what_could_change_something_is_asked_about(
    tmp_path: Path, answers: list[str], how: list[str]
) -> None:
    touch = lk.use("bash", command="touch a.txt")
    talk = Talk(tmp_path, [touch, touch, lk.say("done")], ["go", *answers])
    ended = [e.data["how"] for e in talk.chat.agent.events if e.type == "tool.ended"]
    assert ended == how
    assert "bash: touch a.txt" in talk.text


def test_reading_is_not_asked_about_and_with_yes_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    script = [lk.use("read_file", path="a.txt"), lk.use("task_list"), lk.say("done")]
    talk = Talk(tmp_path, script, ["go"])
    assert len(talk.asked) == 2
    talk = Talk(tmp_path, [lk.use("bash", command="ls"), lk.say("done")], ["go"], ask=False)
    assert len(talk.asked) == 2


def test_what_runs_without_asking_neither_writes_files_nor_runs_commands(tmp_path: Path) -> None:
    assert not set(ALLOWED) & {"bash", "write_file", "edit_file", "background_run"}
    asked = {"worktree_create", "worktree_run", "worktree_merge", "worktree_remove"}
    assert not set(ALLOWED) & asked


def test_every_command_answers(tmp_path: Path) -> None:
    lk.LocalShell().run("git init -q", tmp_path)
    items = [{"id": "1", "text": "write", "status": "in_progress"}]
    script = [
        lk.reply(lk.use("todo", items=items), lk.use("task_create", subject="parse")),
        lk.use("spawn_teammate", name="alice", role="coder", prompt="Begin."),
        *[lk.say("done")] * 9,
    ]
    lines = ["go", *(f"/{name}" for name in COMMANDS if name != "quit"), "/events 2", "/nothing"]
    talk = Talk(tmp_path, lambda request: script.pop(0), [*lines, "/quit", "never read"])
    for said in (
        "this list",
        "estimated tokens before every turn",
        "[ ] #1: parse",
        "alice (coder): ",
        "no unread mail",
        "[>] #1: write",
        "there are no skills",
        "will be summarised with the next turn",
        "all: ",
        "run.ended",
        "there is no /nothing; there are: /help, ",
    ):
        assert said in talk.text, said
    assert "never read" not in talk.text


def test_what_the_api_says_is_shown_and_the_talk_goes_on(tmp_path: Path) -> None:
    script = [lk.fail(400, "too long"), lk.say("better")]
    talk = Talk(tmp_path, script, ["first", "second"])
    assert "too long" in talk.text
    assert talk.text.rstrip().endswith("better")


def test_ctrl_c_cancels_the_turn_and_the_array_stays_valid(tmp_path: Path) -> None:
    def model(request: Any) -> Any:
        if len(request["messages"]) < 3:
            return lk.use("bash", command="ls")
        return lk.say("here again")

    talk = Talk(tmp_path, model, ["go", KeyboardInterrupt(), KeyboardInterrupt(), "again"])
    assert "(cancelled; the conversation is kept)" in talk.text
    assert "(/quit leaves)" in talk.text
    assert talk.text.rstrip().endswith("here again")


# In a terminal


class Terminal:
    """``learnkit chat`` in a pseudo-terminal."""

    def __init__(self, arguments: list[str], **env: str) -> None:
        self.main, side = pty.openpty()
        command = [sys.executable, "-c", "from learnkit.terminal.cli import main; main()", "chat"]
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=ROOT,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "160", **env},
            start_new_session=True,
            preexec_fn=_controls_terminal,
        )
        os.close(side)
        self.text = ""

    def expect(self, said: str, within: float = 40.0) -> None:
        """Wait until something new is shown."""
        end = time.monotonic() + within
        while said not in self.text:
            assert time.monotonic() < end, f"no {said!r} in: {self.text[-2000:]}"
            if select.select([self.main], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.main, 65536).decode(errors="replace")
                except OSError:
                    break
        assert said in self.text, self.text[-2000:]
        self.text = self.text.partition(said)[2]

    def type(self, text: str) -> None:
        os.write(self.main, text.encode())

    def close(self) -> int:
        """Wait for the end; return the exit code."""
        try:
            return self.process.wait(timeout=20)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self.main)


def _controls_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's children would ignore the window's end


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    replies: list[Any] = []
    with serving(lambda request: replies.pop(0)) as server:
        server.replies = replies  # type: ignore[attr-defined]
        yield server


def test_commands_for_what_was_left_out_say_so() -> None:
    agent = lk.Agent(lk.scripted([lk.say("done")]))
    said = {name: answer(agent, "") for name, (_, answer) in COMMANDS.items()}
    assert [said[name] for name in ("tasks", "team", "inbox", "todo", "skills", "compact")] == [
        "there is no board here",
        "there is no team here",
        "there is no team here",
        "there is no list here",
        "there are no skills",
        "there is no compaction here",
    ]


@pytest.mark.slow
def test_a_recording_plays_without_a_key() -> None:
    terminal = Terminal(["--replay", "s12"])
    terminal.expect("Press Enter to say: Build mean.py")
    terminal.expect("> ")
    terminal.type("\r")
    terminal.expect("→ alice write_file")
    terminal.expect("Both worktrees are merged and removed.", within=60)
    terminal.expect("> ")
    terminal.type("/tasks\r")
    terminal.expect("(2/2 completed)")
    terminal.type("/quit\r")
    assert terminal.close() == 0


@pytest.mark.slow
def test_what_was_shown_can_be_saved_and_fetches_nothing(tmp_path: Path) -> None:
    terminal = Terminal(["--replay", "s12", "--picture", str(tmp_path / "chat.svg")])
    terminal.expect("> ")
    terminal.type("/help\r")
    terminal.expect("this list")
    terminal.type("/quit\r")
    assert terminal.close() == 0
    svg = (tmp_path / "chat.svg").read_text()
    assert "this&#160;list" in svg
    assert "url(" not in re.sub(r"url\(#", "", svg)
    shipped = (ROOT / "docs" / "chat.svg").read_text("utf-8")
    assert "worktree_merge" in shipped
    assert "url(" not in re.sub(r"url\(#", "", shipped)


def test_live_in_a_terminal_with_ctrl_c(tmp_path: Path, live: Any) -> None:
    mark = f"7{os.getpid()}19"
    live.replies += [lk.use("bash", command=f"sleep {mark}"), lk.say("I am still here.")]
    env = {"ANTHROPIC_API_KEY": "for-a-local-server", "LEARNKIT_MODEL": OTHER}
    terminal = Terminal([str(tmp_path)], ANTHROPIC_BASE_URL=live.url, **env)
    terminal.expect("> ")
    terminal.type("sleep\r")
    terminal.expect("run it?")
    terminal.type("o\r")
    end = time.monotonic() + 20
    while not _running(mark):
        assert time.monotonic() < end
        time.sleep(0.05)
    terminal.type("\x03")
    terminal.expect("(cancelled; the conversation is kept)")
    terminal.expect("> ")
    while _running(mark):
        assert time.monotonic() < end + 20
        time.sleep(0.05)
    terminal.type("and now?\r")
    terminal.expect("I am still here.")
    terminal.expect("> ")
    terminal.type("\x04")
    assert terminal.close() == 0
    assert live.bodies[-1]["stream"] is True
    assert {body["model"] for body in live.bodies} == {OTHER}


def _running(mark: str) -> bool:
    lines = (" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"]))
    return any(f"sleep {mark}" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "there is no ANTHROPIC_API_KEY; set one, or try: chat --replay s12"),
        pytest.param(
            ["--replay", "s03"], "only s12 can be played, not 's03'", marks=pytest.mark.slow
        ),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(arguments: list[str], says: str) -> None:
    terminal = Terminal(arguments, ANTHROPIC_API_KEY="")
    terminal.expect(says)
    assert terminal.close() == 2


@pytest.mark.slow
def test_closing_the_window_ends_it(tmp_path: Path) -> None:
    terminal = Terminal(["--replay", "s12"])
    terminal.expect("> ")
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.close() != 0

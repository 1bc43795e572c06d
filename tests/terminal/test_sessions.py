"""Saved sessions: what a killed process leaves, and how another one goes on with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from full_disk import room
from messages_server import serving
from project import ROOT

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.terminal.saved import Record, chosen, folder_of, listing, sessions

CHAT = [sys.executable, "-m", "learnkit", "chat"]


class Pipe:
    """A chat in a pipe, in a workspace, with a local server as the API."""

    def __init__(self, work: Path, script: Any, *options: str) -> None:
        self.work, self.stack = work, ExitStack()
        self.server = self.stack.enter_context(serving(script))
        env = {**os.environ, **self.server.env}
        pipe: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = self.stack.enter_context(
            subprocess.Popen([*CHAT, str(work), "--yes", *options], cwd=ROOT, env=env, **pipe)
        )
        self.stack.callback(self.process.kill)

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def say(self, text: str) -> None:
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def until(self, said: str) -> str:
        """Read until something is said."""
        shown = ""
        while said not in shown:
            line = self.process.stdout.readline()
            assert line, shown
            shown += line
        return shown

    def rest(self) -> str:
        self.process.stdin.close()
        return self.process.stdout.read()


def two_turns(body: Any) -> Any:
    """A list and a call, then a reply; later what is asked for."""
    turn = len(body["messages"])
    if turn == 1:
        items = [{"id": "1", "text": "look around", "status": "in_progress"}]
        return lk.reply(
            "A list.", lk.use("todo", items=items), lk.use("task_create", subject="parse")
        )
    if turn == 3:
        return lk.say("Listed.")
    return lk.use("bash", command="echo $$ > pid; sleep 600")


def killed(work: Path) -> list[dict[str, Any]]:
    """Have a chat killed in its second turn, while a command runs; return what it had sent."""
    with Pipe(work, two_turns) as chat:
        chat.say("Look around, please.")
        chat.until("Listed.")
        chat.say("Wait for it.")
        while not (work / "pid").exists():
            chat.process.poll()
        chat.process.send_signal(signal.SIGKILL)
        chat.process.wait()
        return chat.server.bodies


@pytest.mark.slow
def test_a_killed_chat_goes_on_with_its_messages_its_list_and_its_tasks(tmp_path: Path) -> None:
    sent = killed(tmp_path)[-1]["messages"]
    (path,) = folder_of(tmp_path).glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"seq": 999, "time": 1.0, "la')  # as when it dies while it writes
    before = [json.loads(line) for line in path.read_bytes().splitlines()[:-1]]
    with Pipe(tmp_path, lambda body: lk.say("Here I am again."), "--continue") as chat:
        chat.until("(this turn was cut off; say how to go on)")
        chat.say("/todo")
        chat.until("[>] #1: look around")
        chat.say("/tasks")
        chat.until("[ ] #1: parse")
        chat.say("/show 3")
        chat.until("(it has not ended yet)")
        chat.say("Go on.")
        chat.until("Here I am again.")
        chat.say("/cost")
        assert "4 turns" in chat.until("all: ")
        chat.rest()
    (body,) = chat.server.bodies  # which has checked that every call has a result
    assert body["messages"][: len(sent)] == sent
    *_, results, prompt = body["messages"]
    assert results["content"][0]["type"] == "tool_result"
    assert prompt["content"] == "Go on."
    log = lk.EventLog.load(path)
    assert [event.seq for event in log] == list(range(len(log)))
    assert [one["type"] for one in before[1:]] == [one.type for one in log][: len(before) - 1]
    times = [event.time for event in log]
    assert times == sorted(times)


@pytest.mark.slow
def test_clear_begins_a_new_session_and_resume_lists_the_others_and_goes_back(
    tmp_path: Path,
) -> None:
    with Pipe(tmp_path, lambda body: lk.say(f"reply to {len(body['messages'])}")) as chat:
        chat.say("the first one")
        chat.until("reply to 1")
        chat.say("/clear")
        chat.say("/cost")
        assert "0 turns" in chat.until("all: ")
        chat.say("the second one")
        chat.until("reply to 1")
        chat.say("/resume")
        listed = chat.until("/resume NUMBER")
        assert re.search(r" 1  [\d-]+ [\d:]+  the second one  \(1 turn, \$0\.00\)  \d{8}-", listed)
        assert " 2  " in listed.partition("the first one")[0]
        chat.say("/resume 7")
        chat.until("there is no session '7' here")
        chat.say("/resume 1")
        chat.until("this is that session")
        with Pipe(tmp_path, [], "--resume", "2") as other:
            other.until("> the first one")
            chat.say("/resume 2")
            chat.until("is open in another chat")
            other.rest()
            other.process.wait()
        chat.say("/resume 2")
        chat.until("> the first one")
        chat.say("and now?")
        chat.until("reply to 3")
        chat.say("/export")
        chat.rest()
    said = [one["content"] for one in chat.server.bodies[-1]["messages"]]
    assert said[0] == "the first one"
    assert (tmp_path / "conversation.md").read_text() == (
        "## You\n\nthe first one\n\n## Model\n\nreply to 1\n\n"
        "## You\n\nand now?\n\n## Model\n\nreply to 3\n"
    )
    assert len(sessions(folder_of(tmp_path))) == 2


@pytest.mark.slow
def test_plan_mode_is_back_with_the_conversation_until_the_plan_is_approved(tmp_path: Path) -> None:
    chat = [*CHAT, str(tmp_path)]
    plan = lk.use("propose_plan", plan="1. Touch a.")
    for option, script, lines, said in (
        ("--plan", [lk.say("I look.")], "hello\n", "I look."),
        ("--continue", [lk.use("bash", command="true"), lk.say("ok")], "go\nn\n", "mode: plan"),
        ("--continue", [plan, lk.say("Approved.")], "go\ny\n", "Approve it? [y]es [n]o:"),
        ("--continue", [], "", "mode: default"),
    ):
        with serving(script) as api:
            done = subprocess.run(
                [*chat, option],
                input=f"{lines}/permissions\n",
                env={**os.environ, **api.env},
                capture_output=True,
                text=True,
                check=True,
            )
        assert said in done.stdout


def log_of(record: Record, *said: str) -> None:
    for one in said:
        record.events.append("run.started", prompt=one)


def test_a_session_is_open_only_once_and_found_by_a_part_of_its_name(tmp_path: Path) -> None:
    first = Record(tmp_path)
    log_of(first, "hello")
    with pytest.raises(UsageError, match=f"session {first.path.stem} is open in another chat"):
        Record(tmp_path, first.path)
    second = Record(tmp_path)  # in the same second, perhaps
    log_of(second, "again")
    for one in (first, second):
        one.close()
    assert chosen(tmp_path, first.path.stem) == first.path
    with pytest.raises(UsageError, match="there are several sessions '20"):
        chosen(tmp_path, first.path.stem[:4])
    nothing = Record(tmp_path)
    nothing.close()
    assert len(listing(tmp_path).splitlines()) == 3
    assert listing(tmp_path / "none") == "nothing is saved here"


def test_what_a_full_disk_has_kept_out_of_the_file_follows_when_there_is_room(
    tmp_path: Path,
) -> None:
    record = Record(tmp_path)
    log_of(record, "one")
    with room(record.path.stat().st_size + 20):
        log_of(record, "two", "three")
    assert record.problem.startswith("this session is not saved at present: ")
    log_of(record, "four")
    assert record.problem == ""
    record.close()
    again = Record(tmp_path, record.path)
    assert [one.data["prompt"] for one in again.events] == ["one", "two", "three", "four"]
    again.close()

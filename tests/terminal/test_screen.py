"""What a user sees of ``learnkit chat``: a real process in a real terminal, wide and narrow."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from messages_server import MessagesServer, serving
from processes import processes
from screen import (
    ALT_ENTER,
    BACKSPACE,
    CTRL_C,
    CTRL_J,
    CTRL_U,
    DOWN,
    ENTER,
    TAB,
    UP,
    Screen,
)

import learnkit as lk

Body = dict[str, Any]
pytestmark = pytest.mark.slow  # each starts a process or two
widths = pytest.mark.parametrize("columns", [80, 40])


class Desk:
    """A workspace, a local server as the API, and chats that use both."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.work, self.state = folder / "work", folder / "state"
        self.work.mkdir()
        self._stack = stack
        self.server: MessagesServer | None = None

    def chat(
        self,
        script: Any,
        *options: str,
        columns: int = 80,
        pace: float = 0.0,
        forked: bool = True,
        ready: str = "0 turns",
    ) -> Screen:
        """Start a chat, whose model answers by a script; as a new process for tests of its end."""
        self.server = server = self._stack.enter_context(serving(script, pace=pace))
        env = {**server.env, "XDG_STATE_HOME": str(self.state)}
        screen = Screen(str(self.work), *options, columns=columns, forked=forked, **env)
        self._stack.callback(screen.close)
        screen.expect(ready)
        return screen

    def said(self, number: int = -1) -> Any:
        """What the user said in a request."""
        assert self.server is not None
        return self.server.bodies[number]["messages"][-1]["content"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(tmp_path, stack)


def during(screen: Screen, seconds: float) -> None:
    """Read for a while."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        screen.pump(left)


# What is typed


def test_a_prompt_may_have_several_lines_and_a_pasted_one_is_one_message(desk: Desk) -> None:
    screen = desk.chat(lambda body: lk.say("Read."))
    screen.type(f"one{ALT_ENTER}two{CTRL_J}three")
    screen.expect("> one two three")
    screen.type(ENTER)
    screen.expect("Read.")
    assert desk.said() == "one\ntwo\nthree"
    screen.expect("1 turn")
    screen.paste("first\r\nsecond\rthird\n")
    screen.expect("> first second third")
    assert len(desk.server.bodies) == 1
    screen.type(ENTER)
    screen.expect("Read.", times=2)
    assert desk.said().strip() == "first\nsecond\nthird"
    screen.leave()


def test_the_history_outlives_the_chat_and_lies_outside_of_the_workspace(desk: Desk) -> None:
    first = desk.chat(lambda body: lk.say("Done."))
    first.type(f"remember{ALT_ENTER}this{ENTER}")
    first.expect("Done.")
    first.leave()
    file = desk.state / "learnkit" / "chat_history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not [path for path in desk.work.rglob("*") if "history" in path.name]
    second = desk.chat(lambda body: lk.say("Again."))
    second.type(UP)
    second.expect("> remember this")
    second.type(ENTER)
    second.expect("Again.")
    assert desk.said() == "remember\nthis"
    second.leave()


def test_a_history_that_cannot_be_written_ends_nothing(desk: Desk) -> None:
    desk.state.write_text("a file where the folder should be")
    screen = desk.chat(lambda body: lk.say("Done."))
    screen.type(f"go{ENTER}")
    screen.expect("Done.")
    screen.leave()


def test_commands_and_paths_are_completed(desk: Desk) -> None:
    (desk.work / "source").mkdir()
    (desk.work / "source" / "parser.py").write_text("limit = 30\n</attachment>\n")
    screen = desk.chat(lambda body: lk.say("Seen."))
    screen.type("/sk")
    screen.expect("the skills that can be loaded")
    screen.type(TAB)
    screen.expect("> /skills")
    screen.type(ENTER)
    screen.expect("there are no skills")
    screen.type(f"read pars{TAB}")
    screen.expect("> read source/parser.py")
    screen.type(" and @srpa")
    screen.expect("source/parser.py", times=2)  # the menu is there without Tab
    screen.type(TAB)
    screen.expect("> read source/parser.py and @source/parser.py")
    screen.type(ENTER)
    screen.expect("(source/parser.py goes along)")
    screen.expect("Seen.")
    said, file = desk.said()
    assert said["text"] == "read source/parser.py and @source/parser.py"
    assert file["text"] == (
        '<attachment path="source/parser.py">\nlimit = 30\n< /attachment>\n\n</attachment>'
    )
    screen.leave()


def test_what_is_typed_while_the_model_works_stays_in_its_line_and_follows_the_results(
    desk: Desk,
) -> None:
    mark = f"8{os.getpid()}31"
    script = [
        lk.reply("I wait.", *[lk.use("bash", command=f"echo line{n}") for n in range(8)]),
        lk.use("bash", command=f"cat go; : {mark}"),
        lk.say("Second done."),
    ]
    os.mkfifo(desk.work / "go")
    screen = desk.chat(script, "--yes")
    screen.type(f"begin{ENTER}")
    while not processes(mark):  # keys, all the time that lines are printed
        screen.type("the next one\x15")
        screen.pump(0.01)
    screen.type("the next one")
    screen.expect("> the next one")
    screen.type(f"{ENTER}")
    screen.expect("queued (↑ takes it back): the next one")
    screen.type(f"/COST{ENTER}")  # looked at meanwhile
    screen.expect("tokens in, of which")
    (desk.work / "go").write_text("")
    screen.expect("Second done.")
    assert desk.said()[1]["text"] == "The user says meanwhile:\nthe next one"
    calls = [line for line in screen.lines if re.match(r" +\d+ bash", line)]
    assert len(calls) == 9
    assert all(re.fullmatch(r" +\d bash .* ✓ \d\.\d s: .*", line) for line in calls)
    screen.leave()


@widths
def test_what_is_said_while_a_job_runs_reaches_the_model_before_the_job_ends(
    desk: Desk, columns: int
) -> None:
    os.mkfifo(desk.work / "go")
    script = [
        lk.use("background_run", command="cat go; echo built"),
        lk.say("I wait for it."),
        lk.use("bash", command="echo red > colour; echo > go"),
        lk.say("Painted."),
    ]
    screen = desk.chat(script, "--yes", columns=columns)
    screen.type(f"build it{ENTER}")
    screen.expect("I wait for it.")
    screen.type(f"/compact{ENTER}paint it red{ENTER}")  # a command waits, and what follows it
    screen.expect("queued (↑ takes it back): paint")
    screen.type(UP)
    screen.until(lambda: screen.text.endswith("> /compact\n  paint it red"), "both in the input")
    screen.type(f"{CTRL_U}{BACKSPACE}{CTRL_U}paint it red{ENTER}")
    screen.expect("> paint it red")
    screen.expect("Painted.")
    assert re.search(r"Job \w{8}: completed after \d\.\d s: “built”", screen.words)
    assert desk.said(2)[0]["text"] == "The user says meanwhile:\npaint it red"
    assert (desk.work / "colour").read_text() == "red\n"
    screen.leave()


# What is shown


@widths
def test_a_reply_is_markdown_and_wrapped_at_words(desk: Desk, columns: int) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    text = (
        f"# A title\n\nSome **bold** and `code`.\n\n- {words}\n- second\n\n```python\nx = 1\n```\n"
    )
    screen = desk.chat([lk.say(text)], columns=columns)
    screen.type(f"go{ENTER}")
    screen.expect("x = 1")
    screen.expect("1 turn")
    assert "**" not in screen.text
    assert "```" not in screen.text
    assert " • second" in screen.text
    shown = re.findall(r"word\d+", screen.text)
    assert shown == words.split()
    assert max(map(len, screen.lines)) <= columns
    screen.leave()


@widths
def test_a_call_is_one_line_and_can_be_unfolded(desk: Desk, columns: int) -> None:
    command = "for n in 1 2 3 4 5 6 7 8 9; do echo result number $n of the long command; done"
    screen = desk.chat([lk.use("bash", command=command), lk.say("Ready.")], columns=columns)
    screen.type(f"go{ENTER}")
    screen.expect("Run it?")
    assert command in screen.words  # all of it: it is asked about
    screen.type(f"o{ENTER}")
    screen.expect("Ready.")
    assert "number 9" not in screen.words
    (line,) = [line for line in screen.lines if line.startswith("   1 bash")]
    assert len(line) <= columns
    screen.type(f"/Show 1{ENTER}")
    screen.expect("result number 9 of the long command")
    screen.type(f"/show 2{ENTER}")
    screen.expect("there is no call 2; there are 1 call so far")
    screen.leave()


@widths
def test_while_a_command_runs_its_last_lines_are_seen_and_kept_when_it_is_cancelled(
    desk: Desk, columns: int
) -> None:
    os.mkfifo(desk.work / "go")
    command = "for n in 1 2 3 4 5; do echo row $n of it; done; cat go; echo row 6; cat go"
    call = lk.use("bash", command=command, timeout=900)
    screen = desk.chat([call, lk.say("Which row?")], "--yes", columns=columns)
    screen.type(f"go{ENTER}")
    screen.expect("│ row 3 of it │ row 4 of it │ row 5 of it")
    assert "row 2" not in screen.words
    line = re.compile(r"^. [1-9]\d* s · 10 tokens in · 5 out", re.MULTILINE)  # and it grows
    screen.until(lambda: bool(line.search(screen.text)), "the time and the tokens")
    (desk.work / "go").write_text("")
    screen.expect("│ row 4 of it │ row 5 of it │ row 6")
    screen.type(CTRL_C)
    screen.expect("(cancelled; the conversation is kept)")
    screen.until(lambda: not line.search(screen.text), "the end of that line")
    screen.type(f"/show{ENTER}")
    screen.expect("Cancelled: the run was interrupted. row 1 of it row 2 of it")
    screen.type(f"and now?{ENTER}")
    screen.expect("Which row?")
    result = desk.server.bodies[-1]["messages"][2]["content"][0]["content"]
    assert result.startswith("Cancelled: the run was interrupted.\nrow 1 of it\n")
    screen.leave()


def test_control_characters_of_a_model_or_a_file_never_reach_the_terminal(desk: Desk) -> None:
    (desk.work / "evil.txt").write_text("\x1b]0;owned\x07\x1b[2Jfile\n")
    script = [lk.use("read_file", path="evil.txt"), lk.say("Text \x1b[2J\x1b]0;owned\x07 here.")]
    screen = desk.chat(script)
    screen.type(f"go{ENTER}")
    screen.expect("here.")
    screen.type(f"/show 1{ENTER}")
    screen.expect("ended after")
    assert screen.words.count("␛]0;owned␇") >= 2
    assert screen.title != "owned"
    screen.leave()


def test_another_size_of_the_window_is_noticed(desk: Desk) -> None:
    screen = desk.chat(lambda body: lk.say("word " * 30))
    screen.resize(40, 50)
    screen.type(f"go{ENTER}")
    screen.expect("word", times=30)
    screen.expect("1 turn")
    assert max(len(line) for line in screen.lines if "word" in line) <= 40
    screen.leave()


def test_what_waited_for_its_turn_is_back_in_the_input_after_ctrl_c(desk: Desk) -> None:
    mark = f"5{os.getpid()}41"
    script = [lk.use("bash", command=f"sleep {mark}"), lk.say("Edited.")]
    screen = desk.chat(script, "--yes")
    screen.type(f"go{ENTER}")
    screen.until(lambda: processes(f"sleep {mark}"), "the command")
    screen.type(f"the next{ENTER}")
    screen.expect("queued (↑ takes it back): the next")
    screen.type(UP)
    screen.gone("queued")
    screen.type(f" one{ENTER}")
    screen.expect("queued (↑ takes it back): the next one")
    screen.type(CTRL_C)
    screen.expect("(cancelled; the conversation is kept)")
    screen.until(lambda: screen.text.endswith("> the next one"), "the line in the input")
    screen.type(f", changed{ENTER}")
    screen.expect("Edited.")
    assert desk.said() == "the next one, changed"
    screen.leave()


def test_a_prompt_that_the_api_refuses_is_back_in_the_input_and_sent_once(desk: Desk) -> None:
    (desk.work / "a.png").write_bytes(b"no picture")
    os.mkfifo(desk.work / "go")
    call = lk.use("bash", command="cat go")
    script = [lk.fail(400, "no such field"), lk.say("Better."), call, lk.fail(400, "Too much.")]
    screen = desk.chat(script, "--yes")
    screen.type(f"see @a.png{ENTER}")
    screen.expect("not sent: a.png: it is no text, and no picture")
    screen.until(lambda: screen.text.endswith("> see @a.png"), "the prompt in the input")
    screen.type(f"\x15hello{ENTER}")
    screen.expect("the API: 400, no such field")
    screen.until(lambda: screen.text.endswith("> hello"), "the prompt in the input")
    screen.type(f" again{ENTER}")
    screen.expect("Better.")
    assert [m["content"] for m in desk.server.bodies[-1]["messages"]] == ["hello again"]
    screen.type(f"go on{ENTER}")
    screen.expect("cat go (")
    screen.type(f"/compact{ENTER}and then{ENTER}")
    screen.expect("queued (↑ takes it back): and then")
    (desk.work / "go").write_text("")
    screen.expect("(the conversation is kept; /rewind lists the prompts that you can go back to)")
    screen.until(lambda: screen.text.endswith("> /compact\n  and then"), "what waited")
    assert len(desk.server.bodies) == 4
    screen.type(f"{CTRL_U}{BACKSPACE}{CTRL_U}")
    screen.leave()


def test_after_going_back_the_prompt_is_in_the_input_to_be_changed(desk: Desk) -> None:
    write = lk.use("write_file", path="a.txt", content="made")
    screen = desk.chat([write, lk.say("Made."), lk.say("Other one.")], "--yes")
    screen.type(f"make it{ENTER}")
    screen.expect("Made.")
    screen.type(f"/rewind 1{ENTER}")
    screen.expect("put back: a.txt; commands are not undone")
    screen.until(lambda: screen.text.endswith("> make it"), "the prompt in the input")
    assert not (desk.work / "a.txt").exists()
    screen.type(f" red{ENTER}")
    screen.expect("Other one.")
    assert [m["content"] for m in desk.server.bodies[-1]["messages"]] == ["make it red"]
    screen.leave()


@widths
def test_a_session_is_taken_from_a_list_with_arrow_keys(desk: Desk, columns: int) -> None:
    for said in ("parse dates", "parse numbers", "draw"):
        screen = desk.chat([lk.say(f"I {said}.")])
        screen.type(f"{said}{ENTER}")
        screen.expect("1 turn")
        screen.leave()
    screen = desk.chat([lk.say("On.")], "--resume", columns=columns, ready="Ctrl-C leaves")
    screen.until(lambda: bool(re.search(r"> +1\. 2.*draw", screen.text)), "the latest one, chosen")
    assert max(map(len, screen.lines)) <= columns
    screen.type(f"{DOWN}{DOWN}{DOWN}{UP}{DOWN}{ENTER}")
    screen.expect("I parse dates.")
    screen.type(f"go on{ENTER}")
    screen.expect("On.")
    assert desk.server.bodies[0]["messages"][0]["content"] == "parse dates"
    screen.leave()
    screen = desk.chat([], "--resume", columns=columns, ready="Ctrl-C leaves")
    screen.type(CTRL_C)
    assert screen.ended() == 0
    assert screen.modes == screen.before


# What is asked


def two_agents(body: Body) -> Any:
    """The lead edits a file; alice, whom it started, reads one again and again."""
    turn = len(body["messages"])
    if "You are alice" in json.dumps(body["system"]):
        if turn < 40:
            return lk.reply(lk.use("read_file", path="a.py"), latency=0.2)
        return lk.say("Read.")
    if turn == 1:
        return lk.use("spawn_teammate", name="alice", role="reader", prompt="Read a.py.")
    if turn == 3:
        return lk.use("edit_file", path="a.py", old_text="limit = 30", new_text="limit = 31")
    return lk.say("The limit is 31.")


@widths
def test_an_edit_is_asked_about_with_its_diff_while_a_teammate_works_on(
    desk: Desk, columns: int
) -> None:
    file = desk.work / "a.py"
    file.write_text("one = 1\nlimit = 30\ntwo = 2\n")
    screen = desk.chat(two_agents, columns=columns, pace=1.0)
    screen.type(f"change it{ENTER}")
    screen.expect("Run it? [o]nce [a]lways [k]eep [n]o:")
    lines = [line.strip() for line in screen.lines]
    at = lines.index("edit_file a.py")
    calls = screen.words.count("alice read_file")
    screen.expect("alice read_file", times=calls + 2)  # she works on, and the question stays
    assert lines[at + 1 : at + 6] == [
        "@@ -1,3 +1,3 @@",
        "one = 1",
        "-limit = 30",
        "+limit = 31",
        "two = 2",
    ]
    assert "31" not in file.read_text()
    screen.type(f"perhaps{ENTER}")
    screen.expect("answer with one of the letters, or with n and the reason")
    assert "31" not in file.read_text()
    screen.type(f"O{ENTER}")
    screen.expect("The limit is 31.")
    assert "limit = 31" in file.read_text()
    screen.leave()


def test_what_was_being_typed_is_no_answer_and_comes_back(desk: Desk) -> None:
    script = [
        lk.reply(lk.use("bash", command="touch made"), latency=1.0),
        lk.say("No file then."),
        lk.say("As you like."),
    ]
    screen = desk.chat(script, pace=1.0)
    screen.type(f"go{ENTER}")
    screen.expect("tokens in")
    screen.type("add a")
    screen.expect("Run it?")
    screen.gone("add a")
    screen.type(f"n{ENTER}")
    screen.expect("No file then.")
    screen.expect("> add a")
    screen.type(f" test{ENTER}")
    screen.expect("As you like.")
    assert desk.said() == "add a test"
    assert not (desk.work / "made").exists()
    screen.leave()


# Ends


def test_the_first_ctrl_c_stops_what_runs_and_the_second_leaves(desk: Desk) -> None:
    mark = f"7{os.getpid()}23"
    script = [lk.use("bash", command=f"sleep {mark}"), lk.say("Still here."), lk.say("Never.")]
    screen = desk.chat(script, "--yes")
    screen.type(f"go{ENTER}")
    screen.until(lambda: processes(f"sleep {mark}"), "the command")
    screen.type(CTRL_C)
    screen.expect("(cancelled; the conversation is kept)")
    screen.until(lambda: not processes(f"sleep {mark}"), "the end of the command")
    screen.type(f"and now?{ENTER}")
    screen.expect("Still here.")  # the server has checked the message array
    screen.type(f"half a line{CTRL_C}")
    screen.gone("half a line")
    screen.type(CTRL_C)
    screen.expect("(Ctrl-C again, or Ctrl-D, leaves)")
    screen.type(CTRL_C)
    assert screen.ended() == 0
    assert screen.modes == screen.before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
@pytest.mark.parametrize("when", ["idle", "running", "asking"])
def test_a_signal_ends_it_and_leaves_nothing_behind(
    desk: Desk, number: signal.Signals, when: str
) -> None:
    mark = f"6{os.getpid()}{int(number)}7"
    script = [lk.use("bash", command=f"sleep {mark}"), lk.say("Never.")]
    screen = desk.chat(script, *(["--yes"] if when == "running" else []), forked=False)
    if when != "idle":
        screen.type(f"go{ENTER}")
    if when == "running":
        screen.until(lambda: processes(f"sleep {mark}"), "the command")
    if when == "asking":
        screen.expect("Run it?")
    screen.process.send_signal(number)
    assert screen.ended() == 128 + number
    assert not processes(f"sleep {mark}")
    assert "Traceback" not in screen.text
    if number == signal.SIGTERM:
        assert screen.modes == screen.before


def test_leaving_does_not_wait_for_a_teammates_reply(desk: Desk) -> None:
    def model(body: Body) -> Any:
        if "You are alice" in json.dumps(body["system"]):
            return lk.reply("Late.", latency=30.0)
        return [
            lk.use("spawn_teammate", name="alice", role="thinker", prompt="Think."),
            lk.say("She thinks."),
        ][len(body["messages"]) // 2]

    screen = desk.chat(model, pace=1.0, forked=False)
    screen.type(f"go{ENTER}")
    screen.expect("She thinks.")
    screen.type(CTRL_C)
    screen.expect("(cancelled; the conversation is kept)")
    screen.type(CTRL_C)
    assert screen.ended(within=20) == 0
    assert screen.modes == screen.before

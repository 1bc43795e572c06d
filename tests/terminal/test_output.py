"""What the terminal prints while a reply is still being written, and what its commands refuse."""

from __future__ import annotations

import io
import random
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent, DummyCompleter
from prompt_toolkit.document import Document
from rich.console import Console
from rich.text import Text

import learnkit as lk
from learnkit.core.interface import Call
from learnkit.terminal.commands import answer, parsed
from learnkit.terminal.completion import Known
from learnkit.terminal.export import as_markdown
from learnkit.terminal.input import PATIENCE, Keyboard
from learnkit.terminal.output import Output, Status, last_block
from learnkit.terminal.permission import Question, proposal

LISTENER = SimpleNamespace(completer=DummyCompleter)
REPLY = """# Title

First paragraph, with **bold**.

1. one

   still one
2. two

```python
a = 1

b = 2
```

| a | b |
|---|---|
| 1 | 2 |

Last words.
"""


def printed(pieces: list[str], *, markdown: bool = True) -> str:
    file = io.StringIO()
    console = Console(file=file, width=60, force_terminal=True, color_system=None)
    output = Output(console, markdown=markdown)
    for piece in pieces:
        output.write(piece)
    output.end()
    assert output.tail == ""
    return file.getvalue()


@pytest.mark.parametrize("drawn", [False, True])
def test_what_is_waited_for_is_said_once_unless_the_input_line_shows_it(drawn: bool) -> None:
    file = io.StringIO()
    output = Output(Console(file=file, width=60), markdown=drawn)
    output.wait("it is away; waiting, 1 s", False)
    output.wait("it is away; waiting, 2 s", False)
    assert output.status.line(60) == "it is away; waiting, 2 s"
    output.wait("it is back", True)
    assert output.status.line(60) == ""
    assert file.getvalue().splitlines() == ["it is away; waiting, 1 s"] * (not drawn) + [
        "it is back"
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_streamed_reply_looks_like_the_whole_one(seed: int) -> None:
    chance, rest, pieces = random.Random(seed), REPLY, []
    while rest:
        size = chance.randint(1, 12)
        pieces.append(rest[:size])
        rest = rest[size:]
    assert printed(pieces).split() == printed([REPLY]).split()
    assert "**" not in printed(pieces)
    assert printed(pieces, markdown=False) == REPLY.rstrip("\n") + "\n"


def test_a_long_block_is_not_parsed_again_for_each_of_its_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = list[str]()
    monkeypatch.setattr(
        "learnkit.terminal.output.last_block", lambda text: parsed.append(text) or 0
    )
    printed(["```\n", *[f"line {n}\n" for n in range(200)], "```\n"])
    assert len(parsed) < 5


def test_a_block_is_printed_once_it_is_complete() -> None:
    file = io.StringIO()
    output = Output(Console(file=file, width=60), markdown=True)
    output.write("One.\n\nTwo")
    assert file.getvalue() == "One.\n"
    assert output.tail == "Two"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("one\n\ntwo", "two"),
        ("- a\n\n- b\n\n  more", "- a\n\n- b\n\n  more"),
        ("text\n\n```\na\n\nb\n", "```\na\n\nb\n"),
        ("one\r\n\r\ntwo", "two"),
        ("", ""),
    ],
)
def test_the_last_block_is_the_one_that_may_still_change(text: str, rest: str) -> None:
    assert text[last_block(text) :] == rest


def test_what_a_model_writes_moves_no_cursor_and_hides_nothing() -> None:
    text = "Safe \x1b[2J\x1b]0;owned\x07 text.\n\nMore \x9b2J, \U000e0069\u00ad\u3164."
    assert not set(printed([text])) & set("\x1b\x07\x9b\U000e0069\u00ad\u3164")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/HELP", "this list"),
        ("/tasks all", "/tasks takes no argument, so 'all' means nothing to it"),
        ("/show", "no tool has been called yet"),
        ("/export no/there.md", "there is no folder"),
        ("/inbox nobody", "there is no inbox of 'nobody'; there are: lead"),
        ("/nothing", "there is no /nothing; there are: /help, "),
    ],
)
def test_a_command_is_found_in_any_case_and_a_wrong_argument_is_said(
    line: str, said: str, tmp_path: Path
) -> None:
    agent = lk.full_agent(lk.scripted([lk.say("done")]), tmp_path)
    assert said in answer(agent, line)


def test_commands_are_about_the_agent_and_the_call_that_they_name(tmp_path: Path) -> None:
    broken = tmp_path / "skills" / "broken"
    broken.mkdir(parents=True)
    (broken / "SKILL.md").write_text("no description")
    agent = lk.full_agent(lk.scripted([]), tmp_path)
    (team,) = (one for one in agent.mechanisms if isinstance(one, lk.Team))
    team.roster.begin()
    team.roster.note({"name": "alice", "role": "coder", "status": "idle"})
    for name in ("lead", "alice"):
        team.mailbox.open(name)
        team.mailbox.send("bob", name, f"for {name}")
    for output in ("first", "second"):  # some servers begin each reply's ids at the same number
        for lane in ("lead", "alice"):
            agent.events.append("tool.started", lane=lane, id="t", name="bash", input={})
        for lane in ("alice", "lead"):
            data = {"name": "bash", "output": f"{lane}'s {output}", "is_error": False}
            agent.events.append("tool.ended", lane=lane, id="t", seconds=1.0, **data)
    for lane in ("lead", "alice", "alice"):
        agent.events.append("model.replied", lane=lane, usage={"input_tokens": 1})
    ended = [answer(agent, f"/show {n}".rstrip()).splitlines()[-1] for n in ("", 1, 2, 3, 4)]
    first = ["lead's first", "alice's first", "lead's second", "alice's second"]
    assert ended == [first[-1], *first]
    assert [answer(agent, f"/inbox{name}").endswith(f"for {to}") for name, to in INBOXES] == [
        True
    ] * 2
    assert [line[:14] for line in answer(agent, "/cost").splitlines()[:3]] == [
        "lead: 1 turn ·",
        "alice: 2 turns",
        "all: 3 turns ·",
    ]
    assert answer(agent, "/skills").startswith("! broken")


INBOXES = (("", "lead"), (" alice", "alice"))


def test_only_what_concerns_the_user_is_shown_of_other_agents() -> None:
    file, log = io.StringIO(), lk.EventLog()
    output = Output(Console(file=file, width=100))
    log.subscribe(output.event)
    output.status.start()
    output.write("The lead is wri")
    for lane in ("lead", "alice"):
        log.append("tool.started", lane=lane, id="t", name="bash", input={"command": f"{lane}'s"})
    for to in ("alice", "lead"):
        log.append("mail.sent", lane="bob", mail={"from": "bob", "to": to, "content": f"to {to}"})
    ends = {"name": "bash", "output": "", "is_error": False, "seconds": 1.0}
    cache = {"cache_read_input_tokens": 20, "cache_creation_input_tokens": 100}
    usage = {"input_tokens": 7, "output_tokens": 2, **cache}
    log.append("model.replied", lane="alice", usage=usage)
    assert output.tail == "The lead is wri"
    log.append("tool.ended", lane="alice", id="t", **ends)
    log.append("job.started", lane="lead", id="abc", command="sleep\n5")
    assert "job: abc sleep 5 (0 s)" in output.status.line(100)
    log.append("job.ended", lane="lead", id="abc", status="failed", code=3, seconds=5.0, output="")
    for _ in range(2):
        said = {"outcome": "not started", "said": "guard cannot be started"}
        log.append("hook.ran", lane="lead", moment="before_tool", command="guard", **said)
    log.append(
        "hook.ran", lane="lead", moment="stop", command="c", outcome="refused", said="No test."
    )
    lines = [line.split(" ✓")[0].strip() for line in file.getvalue().splitlines()]
    job = "Job abc: failed (exit code 3) after 5.0 s: “no output”."
    mail = "bob writes to lead: “to lead”."
    on = "a hook lets the model go on: No test."
    assert lines == [mail, "2 alice bash alice's", job, "guard cannot be started", on]
    assert "127 tokens in" in output.status.line(100)
    output.status.stop()
    output.status.start()  # what the lead's cancelled turn left open is gone
    assert "bash" not in output.status.line(100)
    assert "0 tokens in" in output.status.line(100)


def test_a_run_that_only_waits_for_a_job_says_what_the_user_can_do() -> None:
    status, log = Status(), lk.EventLog()
    log.subscribe(status.event)
    status.start()
    log.append("job.started", lane="lead", id="abc", command="serve")
    for lane, type, waits in (
        ("lead", "model.requested", False),
        ("alice", "model.replied", False),
        ("lead", "model.replied", True),
        ("lead", "model.requested", False),
    ):
        log.append(type, lane=lane, stop_reason="end_turn")
        assert status.line(200).endswith("type on, or Ctrl-C ends it") is waits


def test_a_command_that_failed_has_no_tick_and_says_its_last_line() -> None:
    file, log = io.StringIO(), lk.EventLog()
    log.subscribe(Output(Console(file=file, width=100)).event)
    said = "===== session\n1 failed, 2 passed\n[exit code 1]"
    for output in (said, "[exit code 2]", "it prints [exit code 3] and goes on"):
        log.append("tool.started", lane="lead", id="t", name="bash", input={"command": "test"})
        ends = {"name": "bash", "output": output, "is_error": False, "seconds": 1.0}
        log.append("tool.ended", lane="lead", id="t", **ends)
    cancelled = {"name": "bash", "output": "Cancelled.", "is_error": True, "seconds": 0.0}
    log.append("tool.ended", lane="lead", id="never-started", **cancelled)
    assert file.getvalue().splitlines() == [
        "   1 bash test ✗ 1.0 s, 3 lines: exit code 1: 1 failed, 2 passed",
        "   2 bash test ✗ 1.0 s: exit code 2:",
        "   3 bash test ✓ 1.0 s: it prints [exit code 3] and goes on",
        "     bash ✗ 0.0 s: Cancelled.",
    ]


def test_a_question_shows_whose_call_it_is_and_all_that_it_hides(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\nz\nx\n")
    agent = lk.Agent(lk.scripted([]), [lk.CodingTools(tmp_path)], name="alice")
    mail = Call("1", "mcp__mail__send", {"body": "Hello.\nto: me", "to": "all"})
    lines = proposal(agent, mail).plain.splitlines()
    assert [line for line in lines if line.lstrip().startswith("to: ")] == [
        "    to: me",
        "  to: all",
    ]
    edit = Call("1", "edit_file", {"path": "a.txt", "old_text": "x", "new_text": "y"})
    assert proposal(agent, edit).plain.split() == [
        "alice:",
        "edit_file",
        "a.txt",
        "@@",
        "-1,3",
        "+1,3",
        "@@",
        "-x",
        "+y",
        "z",
        "x",
    ]
    long = proposal(agent, Call("2", "bash", {"command": "echo\n" * 49 + "echo"})).plain
    assert long.splitlines()[-1] == "  … 10 more lines; /show has all of it"
    wide = proposal(agent, Call("3", "bash", {"command": "x" * 5000})).plain
    assert wide.count("x") + int(wide.split("… ")[1].split()[0].replace(",", "")) == 5000
    question = Question(agent, edit, proposal(agent, edit), [])
    question.reply(False)
    question.reply(True)  # a key that was pressed too late
    assert question.answer is False


def test_a_question_of_an_agent_that_is_stopped_is_answered_with_no(tmp_path: Path) -> None:
    agent, answers = lk.Agent(lk.scripted([])), list[object]()
    keyboard = Keyboard(Output(Console(file=io.StringIO())), LISTENER, tmp_path / "history")
    question = Question(agent, Call("id", "bash", {}), Text("Run it?"), [])
    asked = threading.Thread(target=lambda: answers.append(keyboard.ask(question)), daemon=True)
    asked.start()
    agent.stop.set()
    asked.join(20 * PATIENCE)
    assert answers == [False]


def test_always_answers_what_the_same_patterns_cover(tmp_path: Path) -> None:
    agent, screen = lk.Agent(lk.scripted([])), Output(Console(file=io.StringIO()))
    keyboard = Keyboard(screen, LISTENER, tmp_path / "history")
    tests, lint = "bash(pytest:*)", "bash(ruff:*)"
    patterns = ([tests, lint], [lint], [tests, "bash(rm:*)"], [])  # the last one: none can be made
    questions = [Question(agent, Call("id", "bash", {}), Text("Run?"), one) for one in patterns]
    for question in questions:
        keyboard._add(question)
    keyboard._answer("always")
    assert [one.answered.is_set() for one in questions] == [True, True, False, False]
    assert [one.answer for one in questions] == ["always", True, False, False]


@given(st.lists(st.sampled_from(("send", "/send", "steer", "next", "take back")), max_size=40))
def test_no_queued_line_is_lost_comes_twice_or_overtakes_another(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        keyboard = Keyboard(Output(Console(file=io.StringIO())), LISTENER, Path(folder) / "history")
    sent: list[str] = []
    got: list[str] = []
    keyboard.give_back = lambda text: got.extend(text.split("\n"))  # type: ignore[method-assign]
    for number, step in enumerate(steps):
        waiting = list(keyboard.queued)
        assert got + waiting == sent
        if step.endswith("send"):
            sent.append(step.replace("send", str(number)))
            keyboard.send(sent[-1])
        elif step == "steer":  # a command stays, and what was said after it
            taken = keyboard.take(lambda line: not line.startswith("/"))
            assert not any(line.startswith("/") for line in taken)
            assert len(taken) == len(waiting) or keyboard.queued[0].startswith("/")
            got += taken
        elif step == "take back":
            keyboard.take_back()
            assert keyboard.queued == []
        elif waiting:
            got.append(keyboard.next(""))


def test_a_path_at_the_beginning_is_no_command() -> None:
    assert parsed("/etc/hosts is empty") is None
    assert parsed("/Show  3 ") == ("show", "3")


def test_commands_and_files_are_completed_by_any_of_their_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("src/one.py", "src/other.md", ".git/config", "two words.md", "evil\x1b[2J.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    known = Known({"show": "a call", "team": "who"}, lambda: tmp_path)

    def offered(before: str) -> list[tuple[str, int]]:
        made = known.get_completions(Document(before), CompleteEvent())
        return [(one.text, one.start_position) for one in made]

    assert offered("see @sone") == [("src/one.py", -4)]
    assert offered("see src/o") == [("src/one.py", -5), ("src/other.md", -5)]
    assert offered("see @tw") == [('"two words.md"', -2)]
    assert offered("see nowhere/x") == []
    assert offered("see config") == []  # hidden, where there is no git
    monkeypatch.setattr("learnkit.terminal.completion.FRESH", 0.0)
    (tmp_path / "src" / "new_module.py").write_text("")
    assert offered("@new_m") == [("src/new_module.py", -5)]
    assert offered("see @evil") == []  # it could not be shown as it is
    assert offered("see ") == []
    assert offered("/Sw") == [("/show", -3)]
    assert offered("/show /sh") == []


def test_an_exported_text_with_fences_stays_inside_of_its_own() -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": "```sh\nls\n```\n# Not ours"}
    shown = as_markdown([{"role": "user", "content": [result]}])
    assert shown == "Result:\n\n````\n```sh\nls\n```\n# Not ours\n````\n"

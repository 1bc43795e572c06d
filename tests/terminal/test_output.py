"""What the terminal prints while a reply is still being written, and what its commands refuse."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import pytest
from rich.console import Console

import learnkit as lk
from learnkit.terminal.commands import answer, parsed
from learnkit.terminal.completion import completions
from learnkit.terminal.output import Output, Status, last_block

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


@pytest.mark.parametrize(
    ("terminal", "asked", "expected"),
    [
        (False, False, "it is away; waiting, 1 s\nmeanwhile\nit is back\n"),
        (True, True, "it is away; waiting, 1 s\nmeanwhile\nit is back\n"),
        (True, False, "meanwhile\nit is back\n"),
    ],
)
def test_what_is_waited_for_is_one_line(terminal: bool, asked: bool, expected: str) -> None:
    """In a terminal it stands in one place, where nothing else is being written."""
    file = io.StringIO()
    console = Console(file=file, width=60, force_terminal=terminal, color_system=None)
    if not terminal:
        console = Console(file=file, width=60)
    output = Output(console)
    output.asking = asked
    output.wait("it is away; waiting, 1 s", False)
    output.wait("it is away; waiting, 2 s", False)
    assert output.status.line(60) == "it is away; waiting, 2 s"
    output.say("meanwhile")
    output.wait("it is away; waiting, 3 s", False)
    output.wait("it is back", True)
    assert output.status.line(60) == ""
    assert re.sub(r"[^\n]*\r\x1b\[2K", "", file.getvalue()) == expected


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
        ("/events x", "/events takes how many events to show, such as /events 3, not 'x'"),
        ("/events 0", "/events takes how many events to show, such as /events 3, not '0'"),
        ("/tasks all", "/tasks takes no argument, so 'all' means nothing to it"),
        ("/show", "no tool has been called yet"),
        ("/inbox nobody", "there is no inbox of 'nobody'; there are: lead"),
        ("/nothing", "there is no /nothing; there are: /help, "),
    ],
)
def test_a_command_is_found_in_any_case_and_a_wrong_argument_is_said(
    line: str, said: str, tmp_path: Path
) -> None:
    agent = lk.full_agent(lk.scripted([lk.say("done")]), tmp_path)
    assert said in answer(agent, line)


def test_a_path_at_the_beginning_is_no_command() -> None:
    assert parsed("/etc/hosts is empty") is None
    assert parsed("/Show  3 ") == ("show", "3")


def test_paths_are_relative_to_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.py").write_text("")
    (tmp_path / ".git").mkdir()
    assert list(completions("see s", {}, tmp_path)) == [("src/", 1, "src/")]
    assert list(completions("see @src/o", {}, tmp_path)) == [("@src/one.py", 6, "one.py")]
    assert list(completions("see ./", {}, tmp_path)) == [("./src/", 2, "src/")]
    assert list(completions("see nowhere/x", {}, tmp_path)) == []
    assert list(completions("/s", {"show": "x", "team": "y"}, tmp_path)) == [
        ("/show", 2, "/show  x")
    ]


def test_the_time_in_which_the_user_is_asked_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    status = Status()
    status.start()
    now += 2
    with status.asking("lead"):
        now += 60
        assert " 2 s" in status.line(80)
    with status.asking("alice"):  # meanwhile the lead works on
        now += 3
    assert " 5 s" in status.line(80)

"""Splitting a command line: bash is the judge of what a line runs."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learnkit.runtime.command_split import commands_of


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("pytest -q tests", [["pytest", "-q", "tests"]]),
        (
            "cd a && pytest; ls|wc -l &\ndone=1",
            [["cd", "a"], ["pytest"], ["ls"], ["wc", "-l"], ["done=1"]],
        ),
        ("git commit -m 'a; b' \"c $x\"", [["git", "commit", "-m", "a; b", None]]),
        ("ls *.py ~/x $HOME {a,b}", [["ls", None, None, None, None]]),
        ("a 2>&1 >/dev/null &>/dev/null | b", [["a"], ["b"]]),
        ("a # ; rm x", [["a"]]),
        ("a#b 'x'\"y\"\\z ''", [["a#b", "xyz", ""]]),
        ("py\\\ntest", [["pytest"]]),
        ("", []),
    ],
)
def test_what_a_line_runs(line: str, commands: list[list[str | None]]) -> None:
    assert commands_of(line) == commands


@pytest.mark.parametrize(
    "line",
    [
        "a $(rm x)", "a `rm x`", 'a "$(rm x)"', 'a "`rm x`"', "a ${x:-`rm`}",
        "a <(rm x)", "pytest > conftest.py", "pytest >| x", "pytest 2>x", "pytest </dev/tcp/h/1",
        "pytest >/dev/nullx", "pytest <<E\nx\nE", "(rm x)", "{ rm x; }", "if rm x; then a; fi",
        "! rm x", "time rm x", "$x y", "r? y", "~/x", "pytest() { rm x; }", "a 'b", 'a "b', "a \\",
        "printf -v 'a[$(rm x)]' y", "test -v 'a[$(rm x)]'$y", "declare -i 'a=b[`rm x`]'",
        "compgen -W '$(rm x)'", "a $[b]", "a $'b'", "a\rb", "a\0b", "a " * 20_000,
    ],
)  # fmt: skip
def test_what_cannot_be_split(line: str) -> None:
    assert commands_of(line) is None


#: Few that lead to no answer at all: the others are what can go wrong.
pieces = st.sampled_from(
    [*"ab12 ;&|'\"\\#!=^-\n\t,", "&&", "||", "$x", ">/dev/null", "2>&1", "&>/dev/null", " a ",
     " b ", " a\n", "a=", "é", " \\\n", "''", "{x,y}", "*", "~", "if ", ">", "(", "`", "${x}"]
)  # fmt: skip


@given(st.lists(pieces, min_size=1, max_size=14).map("".join))
@example("a ||\nb")
@example("a\\\n;b")
@example("a 2>/dev/null;b")
def test_bash_runs_nothing_that_was_not_named(line: str) -> None:
    """No command exists here, so that bash gives each one to a function, which writes it down."""
    commands = commands_of(line)
    if commands is None:
        return
    handler = (
        "command_not_found_handle() {\n"
        "  printf -v said '%s\\037' \"$@\"; printf '%s\\036' \"$said\" >&9; return $R\n}\n"
    )
    for code in ("0", "1"):  # so that what follows && runs, and what follows ||
        done = subprocess.run(
            [shutil.which("bash") or "bash", "-c", f"exec 9>&1 >/dev/null\n{handler}{line}"],
            env={"PATH": "/nowhere", "R": code, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            cwd="/",
            check=False,
            timeout=20,
        )
        ran = [one.split("\037")[:-1] for one in done.stdout.decode().split("\036")[:-1]]
        for words in ran:
            assert any(_matches(command, words) for command in commands), (line, words, commands)


def _matches(command: list[str | None], words: list[str]) -> bool:
    """Whether these may be the words of a command, without assignments, and once expanded."""
    known = command.index(None) if None in command else max(len(command), len(words))
    if words[:known] == command[:known]:
        return True
    assigns = re.match(r"[A-Za-z_][A-Za-z0-9_]*\+?=", command[0] or "") if command else None
    return bool(assigns) and _matches(command[1:], words)

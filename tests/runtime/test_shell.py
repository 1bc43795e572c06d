"""The shell, with real processes: nothing hangs, leaks, floods or stays behind."""

from __future__ import annotations

import _thread
import contextlib
import fcntl
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from threads import beside, once

from learnkit.errors import ToolError
from learnkit.runtime import process_tree
from learnkit.runtime.file_lock import is_free
from learnkit.runtime.shell import DISK_LIMIT, LocalShell, ShellResult
from learnkit.runtime.shell_environment import REPRODUCIBLE
from learnkit.runtime.truncate import OUTPUT_LIMIT, head_and_tail


def run(command: str, cwd: Path, **options: object) -> ShellResult:
    return LocalShell().run(command, cwd, **options)  # type: ignore[arg-type]


def pid_in(path: Path) -> int:
    """The process id that a command writes into a file, once it is there."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"no process id appeared in {path.name}")


def run_and_stop(command: str, cwd: Path) -> ShellResult:
    """Run a command, and stop it when it has written a file called pid."""
    stop = threading.Event()
    with beside(once(lambda: pid_in(cwd / "pid"), stop.set)):
        return run(command, cwd, stop=stop)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that only waits to be reaped has."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):  # it may be reaped between the two
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_output_holds_both_streams_in_order_and_the_code_is_kept(tmp_path: Path) -> None:
    result = run("echo one; echo two >&2; echo three; exit 3", tmp_path)
    assert result == ShellResult("one\ntwo\nthree\n", 3)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_standard_input_is_closed(tmp_path: Path) -> None:
    assert run("cat; echo end of input", tmp_path, timeout=30) == ShellResult("end of input\n", 0)


@pytest.mark.parametrize("text", ["", "one\ntwo\n", "né\udcff", "a" * 3_000_000])
def test_a_command_reads_what_it_is_given(text: str, tmp_path: Path) -> None:
    copied = run("cat > copy; echo done", tmp_path, stdin=text)
    assert (copied.output, copied.code) == ("done\n", 0)
    assert (tmp_path / "copy").read_text() == text.replace("\udcff", "?")
    # One that reads nothing is not kept waiting, and keeps nobody waiting.
    assert run("true", tmp_path, stdin=text).code == 0


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_folder_that_is_none_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match=rf"{name}'.*Create it first"):
        run("true", tmp_path / name)


# The time limit and the stop signal


@pytest.mark.slow
def test_the_limit_ends_the_command_and_keeps_its_output(tmp_path: Path) -> None:
    result = run("echo begun; sleep 300; echo never", tmp_path, timeout=2)
    assert result == ShellResult("begun\n", None, timed_out=True)


def test_stop_from_another_thread_ends_the_command(tmp_path: Path) -> None:
    result = run_and_stop("echo begun; echo $$ >pid; sleep 300", tmp_path)
    assert result == ShellResult("begun\n", None, stopped=True)
    assert is_gone(pid_in(tmp_path / "pid"))


def test_a_command_may_clean_up_before_it_ends(tmp_path: Path) -> None:
    command = "trap 'echo bye' TERM; echo begun; echo $$ >pid; sleep 300 & wait"
    work = "; for ((n = 0; n < 20000; n++)); do :; done"  # in which it is not asked again
    assert run_and_stop(command + work, tmp_path).output == "begun\nbye\n"


def test_a_command_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$ >pid; (while :; do sleep 0.1; done) & wait"
    assert run_and_stop(command, tmp_path).stopped
    assert is_gone(pid_in(tmp_path / "pid"))


def test_an_interrupt_kills_the_command_and_goes_on_up(tmp_path: Path) -> None:
    with (
        beside(once(lambda: pid_in(tmp_path / "pid"), _thread.interrupt_main)),
        pytest.raises(KeyboardInterrupt) as raised,
    ):
        run("echo begun; setsid sleep 300 & echo $! >pid; sleep 300", tmp_path)
    assert is_gone(pid_in(tmp_path / "pid"))
    assert raised.value.__notes__ == ["begun\n"], "what it had printed is not lost"


def test_what_a_command_prints_is_heard_while_it_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    heard: list[str] = []

    def hear(said: str) -> None:
        heard.append(said)
        if "two" in said:  # it ends when it has been heard
            (tmp_path / "go").write_text("")

    command = "echo one; sleep 0.6; head -c 9000 /dev/zero | tr '\\0' x; echo; echo two; cat go"
    result = run(command, tmp_path, heard=hear)
    assert heard[0] == "one\n"
    assert len("".join(heard)) < 4_100
    assert result.output.endswith("x\ntwo\n")


# Processes that would stay behind

ESCAPES = {
    "background": "sleep 300 & echo $! >pid",
    "nohup": "nohup sleep 300 & echo $! >pid",
    "ignores TERM": "(trap '' TERM; echo $BASHPID >pid; sleep 300; sleep 300) &",
    "new session": "setsid bash -c 'echo $$ >pid; exec sleep 300' &",
    "new session, orphan": "(setsid bash -c 'echo $$ >pid; exec sleep 300' &) &",
    "two new sessions": "setsid setsid bash -c 'echo $$ >pid; exec sleep 300' & ",
    "no environment": "env -i bash -c 'echo $$ >pid; exec sleep 300' &",
    "stopped": "bash -c 'echo $$ >pid; kill -STOP $$' &",
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_what_a_command_left_running_ends_with_it(tmp_path: Path, escape: str) -> None:
    # It holds the output open as well: a shell that read to the end of a pipe would wait for it.
    wait_for_it = "until [ -s pid ]; do sleep 0.01; done"
    result = run(f"{escape}\n{wait_for_it}; echo done", tmp_path, timeout=60)
    assert result.code == 0
    assert result.output.endswith("done\n")
    assert is_gone(pid_in(tmp_path / "pid"))


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
def test_what_a_command_has_started_ends_on_stop(tmp_path: Path, escape: str) -> None:
    assert run_and_stop(f"{escape}\nsleep 300", tmp_path).stopped
    assert is_gone(pid_in(tmp_path / "pid"))


CHAIN = """
import fcntl, os, signal, sys, time
lock = os.open("lock", os.O_RDWR | os.O_CREAT)
fcntl.flock(lock, fcntl.LOCK_EX)  # all that are forked hold it
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    time.sleep(float(sys.argv[1]))
    os._exit(0)
end = time.monotonic() + 20  # one that is left would slow the tests that follow
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""


@pytest.mark.parametrize(
    ("seconds", "rounds"), [(0.2, 1), pytest.param(60, 30, marks=pytest.mark.slow)]
)
def test_a_chain_in_which_each_process_starts_the_next_in_a_new_session_is_ended(
    tmp_path: Path, seconds: float, rounds: int
) -> None:
    (tmp_path / "chain.py").write_text(CHAIN)
    for _ in range(rounds):
        result = run(f"{sys.executable} chain.py {seconds}", tmp_path, timeout=0.6)
        assert result.timed_out == (seconds > 1)
        assert is_free(tmp_path / "lock"), "one of them is left"


@pytest.mark.parametrize(
    ("end_of_code", "environment"),
    [
        (0, b"MARK=1"),  # the kernel may be slow to load a program
        (4096, b"MARK=1"),  # it has done so after the first of two looks
        (4096, b""),  # there is none
    ],
)
def test_a_program_that_is_being_loaded_is_looked_at_again(
    tmp_path: Path, end_of_code: int, environment: bytes
) -> None:
    """A folder that reads as one in /proc does."""
    (tmp_path / "stat").write_text(f"7 (a) b) R {'1 ' * 23}{end_of_code} 0 0")
    (tmp_path / "environ").touch()
    environments, begin = process_tree.Environments(), time.monotonic()
    assert environments.of(str(tmp_path)) is None
    while end_of_code == 0 and time.monotonic() < begin + 2 * process_tree.SETTLING:
        assert environments.of(str(tmp_path)) is None
    (tmp_path / "environ").write_bytes(environment)
    while (found := environments.of(str(tmp_path))) is None:
        assert time.monotonic() < begin + 30
    assert found == ([environment] if environment else [])


#: Each process starts another whenever one of 16 slots is free; they are free when who has them
#: ends. So there are no more of them, and they end by themselves.
BOMB = """
import fcntl, os, signal, time
os.nice(19)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
slots, end = os.open("slots", os.O_RDWR | os.O_CREAT), time.monotonic() + 5
def is_there_room():
    for place in range(16):
        try:
            fcntl.lockf(slots, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            return True
        except OSError:
            continue
while time.monotonic() < end:
    if os.fork() == 0:
        os.setsid()
        if not is_there_room():
            os._exit(0)
"""
CROWDS = {
    "a fork bomb": f"exec {sys.executable} -S -E bomb.py",
    "without environments": "for i in {1..60}; do env -i setsid sleep 20 & done; sleep 60",
}


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS.values(), ids=CROWDS)
def test_ending_many_processes_takes_no_longer_than_is_promised(tmp_path: Path, crowd: str) -> None:
    (tmp_path / "bomb.py").write_text(BOMB)
    begin = time.monotonic()
    assert run(crowd, tmp_path, timeout=0.5).timed_out
    took = time.monotonic() - begin - 0.5
    slots = (tmp_path / "slots").open("w")
    end = time.monotonic() + 60
    while True:  # what is left of the bomb would disturb other tests
        with contextlib.suppress(BlockingIOError):
            fcntl.lockf(slots, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        assert time.monotonic() < end
        time.sleep(0.01)
    slots.close()
    assert took < 2.5 + 3.0  # the last look at them may take long on a busy machine


def test_a_command_does_not_end_the_processes_of_another(tmp_path: Path) -> None:
    results: list[ShellResult] = []

    def long() -> None:
        command = "setsid sleep 300 & until [ -e go ]; do sleep 0.01; done; kill -0 $! && echo well"
        results.append(run(f"echo $$ >pid; {command}", tmp_path))

    with beside(long):
        pid_in(tmp_path / "pid")
        assert run("sleep 300 &", tmp_path).code == 0
        (tmp_path / "go").touch()
    assert results == [ShellResult("well\n", 0)]


# Output


def test_long_output_keeps_head_and_tail_and_counts_the_rest(tmp_path: Path) -> None:
    result = run("seq 1 100000", tmp_path)
    whole = "".join(f"{number}\n" for number in range(1, 100_001))
    head, left_out, tail = _parts(result.output)
    assert result.truncated
    assert len(result.output) <= OUTPUT_LIMIT
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head) + left_out + len(tail) == len(whole)


def _parts(output: str) -> tuple[str, int, str]:
    match = re.fullmatch(r"(.*)\n\[… ([\d,]+) characters left out …\]\n(.*)", output, re.DOTALL)
    assert match is not None, output[:200]
    return match[1], int(match[2].replace(",", "")), match[3]


@example(["a" * 60, "b" * 40], 100)
@given(st.lists(st.text(max_size=300)), st.integers(min_value=80, max_value=400))
def test_head_and_tail_lose_nothing_unsaid(parts: list[str], limit: int) -> None:
    whole = "".join(parts)
    text, cut = head_and_tail(parts, limit)
    assert cut == (len(whole) > limit)
    assert len(text) <= limit
    if not cut:
        assert text == whole
        return
    note = re.search(r"\n\[… ([\d,]+) characters left out …\]\n", text)
    assert note is not None
    left_out = int(note[1].replace(",", ""))
    room = len(text) - len(note[0])
    assert left_out + room == len(whole)
    assert whole.startswith(text[: (room + 1) // 2])
    assert whole.endswith(text[len(text) - room // 2 :])


def test_a_flood_is_stopped_and_said(tmp_path: Path) -> None:
    result = run("yes", tmp_path, timeout=100)
    assert result.code is None
    assert result.truncated
    assert not result.timed_out
    assert result.output.startswith("y\ny\n")
    assert result.output.endswith("[stopped: it printed more than 64 MB; the rest is dropped]")
    assert len(result.output) <= OUTPUT_LIMIT


def test_a_file_of_a_terabyte_without_content_is_not_read(tmp_path: Path) -> None:
    result = run("truncate -s 1T /dev/stdout", tmp_path)
    assert result.code is None
    assert _parts(result.output)[1] < 2 * DISK_LIMIT


# The environment


def test_the_environment_is_this_list_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "BASH_ENV")
    for name in ("HOME", "TERM", "TMPDIR", "USER", *keys):
        monkeypatch.setenv(name, "/tmp")
    lines = LocalShell({"MINE": "yes"}).run("env", tmp_path).output.splitlines()
    names = {line.split("=")[0] for line in lines}
    of_git = {name for name in names if name.startswith("GIT_")}
    of_bash = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert names - of_git - of_bash == {
        *("PATH", "HOME", "TERM", "TMPDIR", "USER", "MINE"),
        *("LC_ALL", "PYTHONDONTWRITEBYTECODE", "LEARNKIT_RUN"),
    }


@pytest.mark.parametrize("reproducible", ["1", "0"])
def test_the_caller_decides_over_our_settings_and_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reproducible: str
) -> None:
    monkeypatch.setenv("LEARNKIT_REPRODUCIBLE", reproducible)
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    shell = LocalShell({"LC_ALL": "C", "GIT_AUTHOR_NAME": "me", "PATH": "/nowhere:/usr/bin:/bin"})
    output = shell.run("echo $LC_ALL $GIT_AUTHOR_NAME $PATH", tmp_path).output
    assert output == "C me /nowhere:/usr/bin:/bin\n"


def test_in_a_users_folder_their_own_programs_come_before_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEARNKIT_REPRODUCIBLE", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/theirs:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    output = run("echo $PATH", tmp_path).output
    assert output == f"/theirs:/usr/bin:/bin:{Path(sys.executable).parent}\n"


def test_python_is_the_one_that_runs_us(tmp_path: Path) -> None:
    output = run("python -c 'import sys; print(sys.prefix)'", tmp_path).output
    assert Path(output.strip()) == Path(sys.prefix)


# In somebody's repository


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, and the environment outside of a lesson."""
    monkeypatch.delenv("LEARNKIT_REPRODUCIBLE")
    for name in (*REPRODUCIBLE, "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    home = _made(tmp_path / "home")
    (home / ".gitconfig").write_text("[user]\n name = Ada\n email = ada@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    return home


def test_the_users_virtual_environment_comes_first(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin = _made(_made(tmp_path / "theirs") / "bin")
    for name in ("python", "tool"):
        (bin / name).write_text("#!/bin/sh\necho theirs\n")
        (bin / name).chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(bin.parent))
    monkeypatch.chdir(Path(sys.prefix).parent)  # also where ours would need no activation
    assert (
        run("python; tool; echo $VIRTUAL_ENV", tmp_path).output == f"theirs\ntheirs\n{bin.parent}\n"
    )


@pytest.mark.slow
def test_a_lesson_asks_for_what_repeats(own: Path, tmp_path: Path) -> None:
    """In a process of its own, since it holds for the whole kernel."""
    script = (
        "import learnkit as lk\nlab = lk.lesson('s12')\n"
        "print(lk.LocalShell().run('git init -q; git commit -q --allow-empty -m first;"
        " git log --format=\"%an %ad %H\" --date=short', '.').output)\nlab.remove()"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=_made(tmp_path / name),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-2:]
        for name in ("one", "two")
    ]
    assert done[0] == done[1]
    assert "learnkit 2026-01-01 " in done[0][0]

"""Worktrees of several agents at once: a git command that takes long keeps nobody else waiting.

A slow git is the real one behind a shell function, which waits until the test lets it go on.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from processes import until
from repos import begun, branches, commit, git
from threads import beside

import learnkit as lk
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.git import Git

pytestmark = pytest.mark.usefixtures("no_thread_is_left")

LONG = 60.0  # seconds: far more than any of this takes

SLOW = """git() {{
  case "$*" in {word}*)
    touch {folder}/reached
    until [ -e {folder}/go ]; do sleep 0.01; done ;;
  esac
  command git "$@"
}}
"""


class SlowGit(lk.LocalShell):
    """A shell in which one command of git waits."""

    def __init__(self, word: str, folder: Path) -> None:
        super().__init__()
        folder.mkdir()
        self._folder = folder
        self._function = SLOW.format(word=shlex.quote(word), folder=shlex.quote(str(folder)))

    def run(self, command: str, *more: Any, **options: Any) -> lk.ShellResult:
        return super().run(self._function + command, *more, **options)

    def wait(self) -> None:
        """Wait until the command was called."""
        until((self._folder / "reached").exists, LONG)

    def go_on(self) -> None:
        (self._folder / "go").touch()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learnkit.runtime.git.LIMIT", 3 * LONG)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = begun(tmp_path / "repo")
    commit(folder, "first", "first")
    return folder


@pytest.fixture
def trees(repo: Path) -> WorktreeRegistry:
    return WorktreeRegistry(repo)


@contextmanager
def meanwhile(shell: SlowGit, act: Callable[[], object]) -> Iterator[None]:
    """Run the body while another thread does something in which git waits."""
    with beside(act):
        try:
            shell.wait()
            yield
        finally:
            shell.go_on()


def at_once(act: Callable[[], object], shell: SlowGit) -> None:
    """Do something, which must end while git still waits."""
    thread = threading.Thread(target=act)
    thread.start()
    thread.join(LONG)
    waits = thread.is_alive()
    shell.go_on()  # else a thread that waits would never end
    thread.join()
    assert not waits, "it waited for another agent's git"


def prepared(trees: WorktreeRegistry) -> None:
    """Two worktrees, each with a commit."""
    for name in ("slow", "other"):
        trees.create(name)
        commit(trees.path(name), name, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "act"),
    [
        ("merge --no-ff", lambda trees: trees.merge("slow")),
        ("worktree remove", lambda trees: trees.remove("slow")),
        ("worktree add", lambda trees: trees.create("fresh")),
        ("worktree list", lambda trees: trees.all()),
    ],
)
def test_nobody_waits_for_the_git_of_another_agent(
    repo: Path,
    trees: WorktreeRegistry,
    tmp_path: Path,
    word: str,
    act: Callable[[WorktreeRegistry], object],
) -> None:
    prepared(trees)
    shell = SlowGit(word, tmp_path / "slow")
    slow = WorktreeRegistry(repo, shell)

    def others() -> None:
        trees.create("new")
        assert trees.get("other").status == "active"
        trees.keep("other")
        trees.remove("new")
        if "merge" not in word:
            assert trees.merge("other") == ["other"]
        trees.remove("other")

    with meanwhile(shell, lambda: act(slow)):
        at_once(others, shell)
    states = {tree.name: tree.status for tree in trees.all()}
    assert (states["new"], states["other"]) == ("removed", "removed")
    assert states["slow"] == ("removed" if "remove" in word else "active")
    assert states.get("fresh") == ("active" if "add" in word else None)
    assert ("slow" in git(repo, "log --format=%s").split()) == ("merge" in word)


@pytest.mark.slow
def test_merges_into_the_main_folder_take_turns(
    repo: Path, trees: WorktreeRegistry, tmp_path: Path
) -> None:
    prepared(trees)
    shell = SlowGit("merge --no-ff", tmp_path / "slow")
    merged: list[str] = []
    second = threading.Thread(target=lambda: merged.extend(trees.merge("other")))
    with meanwhile(shell, lambda: merged.extend(WorktreeRegistry(repo, shell).merge("slow"))):
        second.start()
        second.join(1)  # a merge without a turn would be done by then
        assert merged == []
    second.join()
    assert merged == ["slow", "other"]


@pytest.mark.slow
def test_one_that_is_being_made_is_shown_and_cannot_be_used_yet(
    repo: Path, trees: WorktreeRegistry, tmp_path: Path
) -> None:
    shell = SlowGit("worktree add", tmp_path / "slow")
    seen: list[str] = []

    def look() -> None:
        seen.extend(tree.status for tree in trees.all())
        for use in (trees.get, trees.remove, trees.keep, trees.merge):
            with pytest.raises(lk.ToolError) as caught:
                use("parser")
            seen.append(str(caught.value))

    with meanwhile(shell, lambda: WorktreeRegistry(repo, shell).create("parser", 7)):
        at_once(look, shell)
    refused = "the worktree 'parser' is still being created; try again in a moment"
    assert seen == ["creating", *[refused] * 4]
    assert [(tree.status, tree.task_id) for tree in trees.all()] == [("active", 7)]


def _both(*steps: str) -> list[str]:
    return [f"{step}.{when}" for step in steps for when in ("before", "after")]


# Killed processes

#: As git leaves a worktree until it is complete.
HALF_MADE = """git() {
  command git "$@" || return
  case "$*" in "worktree add"*) command git worktree lock "${@: -2:1}"; exit 137 ;; esac
}
"""


#: Dies at a command of git: before it, after it, or (a worktree that is added) in the middle.
DYING = """
import os, signal, sys
import learnkit as lk
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry

repo, what, name, number, when, function = sys.argv[1:]

class Dying(lk.LocalShell):
    left = int(number)

    def run(self, command, *more, **options):
        self.left -= 1
        if self.left == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = super().run(function + command, *more, **options)
        if self.left == 0 or result.code == 137:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

trees = WorktreeRegistry(repo, Dying())
if what == "create":
    trees.create(name, 7)
else:
    getattr(trees, what)(name)
"""


def killed(
    repo: Path, what: str, name: str, number: int, when: str = "", function: str = ""
) -> bool:
    """Whether a process was killed while it did something to a worktree; else it has done it."""
    command = [sys.executable, "-c", DYING, str(repo), what, name, str(number), when, function]
    code = subprocess.run(command, env=os.environ, check=False).returncode
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.slow
def test_what_a_killed_process_has_left_half_made_is_removed(
    repo: Path, trees: WorktreeRegistry
) -> None:
    assert killed(repo, "create", "parser", 0, function=HALF_MADE)
    assert trees.path("parser").exists()
    assert trees.all() == []
    assert not trees.path("parser").exists()
    assert branches(repo) == ["main"]
    assert trees.create("parser").status == "active"


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_git_command_of_making_one(
    repo: Path, trees: WorktreeRegistry, when: str
) -> None:
    number, whole = 1, 0
    while killed(repo, "create", f"t{number}", number, when):
        name = f"t{number}"
        states = {tree.name: tree for tree in trees.all()}
        if name in states:
            assert (states[name].status, states[name].task_id) == ("active", 7)
            assert (trees.path(name) / "first").read_text() == "first"
            whole += 1
        else:
            assert f"wt/{name}" not in branches(repo)
            assert trees.create(name).status == "active"
        assert trees.remove(name).status == "removed"
        number += 1
    assert number > 5
    assert (whole > 0) == (when == "after")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["remove", "merge"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_git_command_of_using_one(
    repo: Path, trees: WorktreeRegistry, what: str, when: str
) -> None:
    number = 1
    while True:
        name = f"t{number}"
        trees.create(name)
        commit(trees.path(name), name, name)
        if not killed(repo, what, name, number, when):
            break
        there = name in {tree.name for tree in trees.all() if tree.status == "active"}
        assert there == trees.path(name).is_dir()
        if there:
            assert trees.merge(name) in ([name], [])
            assert trees.remove(name).status == "removed"
        assert f"wt/{name}" in branches(repo)
        number += 1
    assert number > 5
    assert git(repo, "status --porcelain") == ""


BUSY = """
import subprocess, sys
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
trees = WorktreeRegistry(sys.argv[1])
for number in range(3):
    name = f"{sys.argv[2]}-{number}"
    trees.create(name)
    folder = trees.path(name)
    (folder / name).write_text(name)
    subprocess.run(f"git add -A && git commit -q -m {name}", shell=True, cwd=folder, check=True)
    assert trees.merge(name) == [name]
    trees.remove(name)
"""


@pytest.mark.slow
def test_processes_that_make_merge_and_remove_at_once_lose_nothing(
    repo: Path, trees: WorktreeRegistry
) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", BUSY, str(repo), name]) for name in "abc"]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    names = {f"{name}-{number}" for name in "abc" for number in range(3)}
    assert {tree.name for tree in trees.all() if tree.status == "removed"} == names
    assert {path.name for path in repo.iterdir()} >= names
    assert len(Git(repo).checkouts()) == 1
    steps = [entry["event"] for entry in trees.journal.read()[0]]
    assert sorted(steps) == sorted(f"worktree.{what}" for what in _both(*_STEPS) * len(names))
    exclude = (repo / ".git" / "info" / "exclude").read_text()
    assert exclude.count(".worktrees/") == 1


_STEPS = ("create", "merge", "remove")

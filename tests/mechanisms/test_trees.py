"""Worktrees on real git: nothing is lost, nothing is left half-made, and git is believed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from repos import branches, commit, git

import learnkit as lk
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.git import Git

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a commit, made once: each test has a copy."""
    folder = tmp_path_factory.mktemp("begun")
    git(folder, "init -q")
    (folder / ".gitignore").write_text("*.pyc\n")
    commit(folder, "one\n")
    return folder


@pytest.fixture
def repo(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "repo")


@pytest.fixture
def trees(repo: Path) -> WorktreeRegistry:
    return WorktreeRegistry(repo)


def events(trees: WorktreeRegistry) -> list[tuple[str, str]]:
    entries, _ = trees.journal.read()
    return [(entry["event"].removeprefix("worktree."), entry["name"]) for entry in entries]


def test_a_worktree_is_a_folder_and_a_branch(repo: Path, trees: WorktreeRegistry) -> None:
    tree = trees.create("parser", task_id=7)
    assert (tree.branch, tree.status, tree.task_id) == ("wt/parser", "active", 7)
    assert (trees.path("parser") / "a.txt").read_text() == "one\n"
    assert git(trees.path("parser"), "branch --show-current").strip() == "wt/parser"
    assert git(repo, "status --porcelain") == ""  # the folder does not disturb the repository
    assert WorktreeRegistry(repo).all() == [tree]
    assert events(trees) == [("create.before", "parser"), ("create.after", "parser")]
    data = json.loads((repo / ".worktrees" / "index.json").read_text())
    assert data["worktrees"][0]["name"] == "parser"
    assert data["worktrees"][0]["path"] == ".worktrees/parser"


def test_names_that_cannot_be_leave_no_trace(repo: Path, trees: WorktreeRegistry) -> None:
    names = ["", ".", "..", "-x", ".x", "x.lock", "x.", "a..b", "x" * 41, "a/b", "../x", "a b"]
    for name in (*names, "a\n", "ä", "a;b", "$(a)", "index.json", "events.jsonl"):
        with pytest.raises(lk.ToolError, match="is not a valid worktree name"):
            trees.create(name)
    assert branches(repo) == ["main"]
    assert trees.all() == []


def test_a_name_is_given_once_and_a_branch_that_stayed_is_named(
    repo: Path, trees: WorktreeRegistry
) -> None:
    trees.create("parser")
    with pytest.raises(lk.ToolError, match="the branch wt/parser already exists"):
        trees.create("parser")
    trees.remove("parser")
    assert branches(repo) == ["main", "wt/parser"]
    with pytest.raises(lk.ToolError, match="the branch wt/parser already exists"):
        trees.create("parser")
    (repo / ".worktrees" / "other").mkdir()
    with pytest.raises(lk.ToolError, match=r"\.worktrees/other already exists"):
        trees.create("other")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        ("echo two > a.txt", r"M a\.txt"),
        ("echo new > b.txt", r"\?\? b\.txt"),
        ("touch x.pyc", r"!! x\.pyc"),
    ],
)
def test_work_that_is_not_committed_is_not_removed(
    trees: WorktreeRegistry, make: str, says: str
) -> None:
    trees.create("parser")
    assert lk.LocalShell().run(make, trees.path("parser")).code == 0
    with pytest.raises(lk.ToolError, match=says):
        trees.remove("parser")
    assert trees.get("parser").status == "active"
    assert events(trees)[-1] == ("remove.failed", "parser")
    assert trees.remove("parser", force=True).status == "removed"
    assert not trees.path("parser").exists()


@pytest.mark.parametrize("place", ["a detached HEAD", "a reference of its own", "a rebase"])
def test_commits_that_are_in_no_branch_are_not_removed(
    repo: Path, trees: WorktreeRegistry, place: str
) -> None:
    trees.create("parser")
    folder = trees.path("parser")
    if place == "a rebase":
        commit(folder, "theirs\n")
        commit(repo, "ours\n")
        assert lk.LocalShell().run("git rebase main", folder).code != 0  # it stops at the conflict
        (folder / "a.txt").write_text("settled\n")
        git(folder, "commit -q -a -m settled")
    else:
        git(folder, "checkout -q --detach")
        commit(folder, "a day of work\n")
    if place == "a reference of its own":
        git(folder, "update-ref refs/worktree/mine HEAD")
        git(folder, "checkout -q wt/parser")
    with pytest.raises(
        lk.ToolError, match=r"on no branch: [0-9a-f]{7} .*git branch NAME"
    ) as caught:
        trees.remove("parser")
    assert "wt/parser" not in str(caught.value)
    assert folder.is_dir()
    assert events(trees)[-1] == ("remove.failed", "parser")
    if place == "a detached HEAD":
        git(folder, "branch keep")
        assert trees.remove("parser").status == "removed"
        assert git(repo, "show keep:a.txt") == "a day of work\n"
    else:
        assert trees.remove("parser", force=True).status == "removed"


def test_when_git_cannot_read_the_head_nothing_is_removed(
    repo: Path, trees: WorktreeRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure is no answer: there may be commits that are on no branch."""
    trees.create("parser")
    git(trees.path("parser"), "checkout -q --detach")
    commit(trees.path("parser"), "a day of work\n")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "git"
    fails = 'case "$*" in "rev-parse --verify --quiet HEAD") kill $$ ;; esac'
    program.write_text(f'#!/bin/sh\n{fails}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with pytest.raises(lk.ToolError, match="git rev-parse"):
        WorktreeRegistry(repo).remove("parser")
    assert trees.path("parser").is_dir()


def test_a_merge_brings_the_commits_back(repo: Path, trees: WorktreeRegistry) -> None:
    trees.create("parser")
    commit(trees.path("parser"), "two\n")
    commit(repo, "beside\n", "b.txt")
    assert trees.merge("parser") == ["a.txt"]
    assert trees.merge("parser") == []
    assert (repo / "a.txt").read_text() == "two\n"
    assert "Merge wt/parser" in git(repo, "log --format=%s -1")


def test_a_conflict_is_reported_and_undone(repo: Path, trees: WorktreeRegistry) -> None:
    trees.create("parser")
    commit(trees.path("parser"), "theirs\n")
    commit(repo, "ours\n")
    before = Git(repo).commit_of("HEAD")
    with pytest.raises(lk.ToolError, match=r"wt/parser conflicts in a\.txt; the merge was undone"):
        trees.merge("parser")
    assert (repo / "a.txt").read_text() == "ours\n"
    assert Git(repo).commit_of("HEAD") == before
    assert git(repo, "status --porcelain") == ""
    assert events(trees)[-1] == ("merge.failed", "parser")


@pytest.mark.parametrize("where", ["repo", "tree"])
def test_nothing_is_merged_over_work_that_is_not_committed(
    repo: Path, trees: WorktreeRegistry, where: str
) -> None:
    trees.create("parser")
    commit(trees.path("parser"), "two\n")
    ((repo if where == "repo" else trees.path("parser")) / "a.txt").write_text("not yet\n")
    with pytest.raises(lk.ToolError, match="has uncommitted changes"):
        trees.merge("parser")
    assert git(repo, "log --format=%s").split() == ["one"]


# Git is the truth


def test_a_lost_index_is_made_anew(repo: Path, trees: WorktreeRegistry) -> None:
    trees.create("parser")
    (repo / ".worktrees" / "index.json").unlink()
    assert [(tree.name, tree.status) for tree in trees.all()] == [("parser", "active")]


def test_a_repository_without_commits_and_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(lk.UsageError, match="is in no git repository"):
        WorktreeRegistry(tmp_path)
    with pytest.raises(lk.UsageError, match="is no folder"):
        WorktreeRegistry(tmp_path / "nothing")
    git(tmp_path, "init -q")
    with pytest.raises(lk.ToolError, match="has no commits yet"):
        WorktreeRegistry(tmp_path).create("parser")


# A step that fails


class Fails(lk.LocalShell):
    """A shell in which one command of git does not work."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word = word

    def run(self, command: str, *more: Any, **options: Any) -> lk.ShellResult:
        if self.word in command:
            return lk.ShellResult("fatal: broken", 128)
        return super().run(command, *more, **options)


def test_when_the_last_step_fails_nothing_is_left(repo: Path, trees: WorktreeRegistry) -> None:
    def bind(tree: Any) -> None:
        assert trees.path("parser").is_dir()
        raise lk.ToolError("there is no task 7")

    with pytest.raises(lk.ToolError, match="there is no task 7"):
        trees.create("parser", 7, bind=bind)
    assert not trees.path("parser").exists()
    assert branches(repo) == ["main"]
    assert trees.all() == []
    assert events(trees) == [("create.before", "parser"), ("create.failed", "parser")]
    assert trees.create("parser").status == "active"
    trees.remove("parser", force=True)
    lk.LocalShell().run("git branch -D wt/parser", repo)
    with pytest.raises(lk.ToolError, match="there is no task 7"):
        trees.create("parser", 7, bind=bind)
    assert [one.status for one in trees.all()] == ["removed"], "as it was before"


@pytest.mark.parametrize(
    "word", ["worktree add", "rev-parse --verify --quiet HEAD", "git worktree list"]
)
def test_when_git_fails_nothing_is_left(repo: Path, word: str) -> None:
    with pytest.raises(lk.ToolError):
        WorktreeRegistry(repo, Fails(word)).create("parser")
    assert branches(repo) == ["main"]
    assert WorktreeRegistry(repo).all() == []

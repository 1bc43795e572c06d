"""Worktrees over clones: what one machine commits reaches another through a common bare remote."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import commit, git

import learnkit as lk
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.git import Git, GitError
from learnkit.runtime.git_remote import GitRemote

pytestmark = pytest.mark.slow


@pytest.fixture
def clones(tmp_path: Path) -> dict[str, Path]:
    """A lead's clone, a worker's clone, and the bare repository between them."""
    git(tmp_path, "init -q --bare -b main common.git")
    for name in ("lead", "worker"):
        git(tmp_path, f"clone -q common.git {name} 2>&1")
        if name == "lead":
            git(tmp_path / name, "checkout -q -b main")
            commit(tmp_path / name, "one\n")
            git(tmp_path / name, "push -q origin main")
    return {name: tmp_path / name for name in ("common.git", "lead", "worker")}


def both(clones: dict[str, Path]) -> tuple[WorktreeRegistry, WorktreeRegistry]:
    lead, worker = (WorktreeRegistry(clones[one], remote="origin") for one in ("lead", "worker"))
    return lead, worker


def test_a_branch_goes_to_a_worker_and_comes_back_merged(clones: dict[str, Path]) -> None:
    lead, worker = both(clones)
    made = lead.create("parser", task_id=3)
    joined = worker.join("parser", 3)
    assert joined is not None
    assert (joined.branch, joined.base, joined.task_id) == (made.branch, made.base, 3)
    assert worker.exists("parser")
    assert not worker.publish("parser")
    commit(worker.path("parser"), "two\n", "b.txt")
    assert worker.publish("parser")
    assert not worker.publish("parser")
    assert lead.merge("parser") == ["b.txt"]
    assert (clones["lead"] / "b.txt").read_text() == "two\n"


def test_a_conflict_is_settled_in_the_leads_worktree(clones: dict[str, Path]) -> None:
    lead, worker = both(clones)
    lead.create("parser")
    worker.join("parser")
    commit(worker.path("parser"), "theirs\n")
    worker.publish("parser")
    commit(clones["lead"], "ours\n")
    with pytest.raises(lk.ToolError, match=r"wt/parser conflicts in a\.txt; the merge was undone"):
        lead.merge("parser")
    tree = lead.path("parser")  # it has the worker's commit by now
    lk.LocalShell().run("git merge -q main", tree)
    commit(tree, "both\n")
    assert lead.merge("parser") == ["a.txt"]


def test_commits_on_both_sides_are_said_and_nothing_is_pushed_over(
    clones: dict[str, Path],
) -> None:
    lead, worker = both(clones)
    lead.create("parser")
    worker.join("parser")
    commit(worker.path("parser"), "theirs\n", "b.txt")
    worker.publish("parser")
    commit(lead.path("parser"), "ours\n", "c.txt")
    with pytest.raises(GitError, match="git push"):
        lead.publish("parser")
    with pytest.raises(lk.ToolError, match="wt/parser has commits here and others in the common"):
        lead.merge("parser")
    assert not (clones["lead"] / "b.txt").exists()


def test_a_worktree_that_cannot_be_pushed_is_not_made(clones: dict[str, Path]) -> None:
    lead, _ = both(clones)
    lead.create("lexer")
    commit(lead.path("lexer"), "two\n", "b.txt")
    moved = clones["common.git"].rename(clones["common.git"].with_name("moved"))
    for act, name in ((lead.create, "parser"), (lead.publish, "lexer")):
        with pytest.raises(GitError, match="common remote"):
            act(name)
    assert not lead.exists("parser")
    assert [tree.name for tree in lead.all()] == ["lexer"]
    moved.rename(clones["common.git"])
    assert lead.publish("lexer"), "what could not be pushed is pushed later"


@pytest.mark.parametrize("address", ["--upload-pack=touch", "ext::touch made", "nowhere"])
def test_an_address_that_git_would_run_or_does_not_know_is_refused(
    clones: dict[str, Path], address: str
) -> None:
    with pytest.raises(lk.UsageError, match=r"cannot be used|has no remote"):
        GitRemote(Git(clones["lead"]), address)


@pytest.mark.slow
@pytest.mark.parametrize(
    "configured",
    [
        "core.sshCommand 'touch RAN; false'",
        "core.hooksPath hooks",
        "remote.origin.uploadpack 'touch RAN; git-upload-pack'",
        "remote.origin.receivepack 'touch RAN; git-receive-pack'",
        "remote.$URL.uploadpack 'touch RAN; git-upload-pack'",
        "remote.$URL.vcs ext",
        "credential.helper '!touch RAN'",
        "core.gitProxy 'touch RAN'",
    ],
)
def test_what_an_agent_configures_is_not_run(
    clones: dict[str, Path], tmp_path: Path, configured: str
) -> None:
    """A push and a fetch run nothing that the repository names, and still arrive."""
    ran, url = tmp_path / "RAN", str(clones["common.git"])
    lead, _ = both(clones)
    hooks = clones["lead"] / "hooks"
    hooks.mkdir()
    (hooks / "pre-push").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (hooks / "pre-push").chmod(0o755)
    git(clones["lead"], "config " + configured.replace("RAN", str(ran)).replace("$URL", url))
    lead.create("parser")
    assert "wt/parser" in git(clones["common.git"], "branch --list 'wt/*'")
    assert not ran.exists()


@pytest.mark.parametrize(
    "configured",
    [
        "url.ELSEWHERE.insteadOf ADDRESS",
        "remote.ADDRESS.url ELSEWHERE",
        "remote.ADDRESS.pushUrl ELSEWHERE",
    ],
)
def test_an_agent_cannot_lead_pushes_to_another_server(
    clones: dict[str, Path], tmp_path: Path, configured: str
) -> None:
    git(tmp_path, "init -q --bare elsewhere.git")
    lead, _ = both(clones)
    address = str(clones["common.git"])
    pair = configured.replace("ADDRESS", address).replace("ELSEWHERE", f"{tmp_path}/elsewhere.git")
    git(clones["lead"], f"config {pair}")
    with pytest.raises(GitError, match=r"configuration has (url|remote)"):
        lead.create("parser")
    assert git(tmp_path / "elsewhere.git", "branch --list") == ""

"""The folder of the harness's state: one, out of reach, and ignored by git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from profiles import mostly_slow
from repos import begun, git
from teams import spawn, when

import learnkit as lk
from learnkit.backends.files.state import open_state
from learnkit.errors import UsageError

pytestmark = pytest.mark.usefixtures("no_thread_is_left")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return begun(tmp_path / "repo")


def full(repo: Path, script: Any = (), **options: Any) -> lk.Agent:
    client = lk.scripted(script or [lk.say("done")])
    with client.clock:
        agent = lk.full_agent(client, repo, **options)
        agent.run("Go.")
        client.clock.sleep(5)
    return agent


@pytest.mark.slow
def test_all_state_is_in_one_folder_and_git_ignores_it(repo: Path) -> None:
    def lead(request: Any) -> Any:
        if "<conversation>" in str(request["messages"][-1]["content"]):
            return lk.say("a summary")
        return script(request)

    script = when(
        ("Go.", lk.use("task_create", subject="write b.txt")),
        ("write b.txt", lk.use("worktree_create", name="b", task_id=1)),
        ("wt/b, at", spawn("alice")),
        ("has started", lk.use("compact")),
    )
    full(repo, {"lead": lead, "alice": lambda request: lk.say("ready")})
    assert {path.name for path in repo.iterdir()} == {".git", ".learnkit", ".worktrees"}
    assert {path.name for path in (repo / ".worktrees").iterdir()} == {"b"}
    state = {str(path.relative_to(repo / ".learnkit")) for path in repo.rglob(".learnkit/**/*")}
    assert state >= {
        *("tasks/task_1.json", "team/config.json", "transcripts/lead-1.jsonl"),
        *("worktrees/index.json", "worktrees/events.jsonl"),
    }
    assert git(repo, "status --porcelain --untracked-files=all") == ""
    git(repo, "add -A")
    assert git(repo, "diff --cached --name-only") == ""
    assert (repo / ".learnkit").stat().st_mode & 0o077 == 0  # other users cannot read the mail


def test_state_that_came_with_the_repository_is_refused(repo: Path, tmp_path: Path) -> None:
    """A plan that is approved already, or mail from the lead, would be somebody else's word."""
    (repo / ".LearnKit").mkdir()
    (repo / ".LearnKit" / "requests.json").write_text("[]")
    git(repo, "add -f .LearnKit && git commit -q -m gift")
    with pytest.raises(UsageError, match=r"git tracks .*git rm -r -q --cached"):
        full(repo)
    clone = tmp_path / "clone"
    git(tmp_path, f"clone -q {repo} {clone}")
    with pytest.raises(UsageError, match="git tracks"):
        full(clone)


#: What git says when it cannot look, and a program that brings the real one to say so.
BLIND = {
    "dubious ownership": 'export GIT_TEST_ASSUME_DIFFERENT_OWNER=1; exec GIT "$@"',
    "bad config line": "echo '[' >REPO/.git/config; exec GIT \"$@\"",
    "index file smaller": 'echo x >REPO/.git/index; exec GIT "$@"',
    "not a git repository": 'rm -f REPO/.git/HEAD; exec GIT "$@"',
    "needs? git 2": "echo git version 1.0",
    "git does not work here": "exit 127",
}


@pytest.mark.parametrize("reason", mostly_slow(BLIND, 2))
def test_when_git_cannot_say_what_it_tracks_state_that_is_there_is_refused(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    program = BLIND[reason].replace("GIT ", f"{shutil.which('git')} ").replace("REPO", str(repo))
    git(repo, "config safe.directory '*'")  # a repository cannot vouch for itself
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    full(repo)
    with pytest.raises(
        UsageError, match=rf"(?s)cannot say whether .*{reason}.*Make git status work"
    ):
        full(repo)


def test_a_file_in_its_place_is_refused(repo: Path) -> None:
    (repo / ".learnkit").write_text("")
    with pytest.raises(UsageError, match="must be a folder, not a link or a file"):
        full(repo)


@pytest.mark.parametrize("place", ["", "team", "team/config.json", "tasks/a/b"])
def test_a_link_in_it_or_in_its_place_is_refused(repo: Path, tmp_path: Path, place: str) -> None:
    """Whoever planted it would have the mail written to a place of theirs, or over the user's."""
    (tmp_path / "outside").mkdir()
    link = repo / ".learnkit" / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match=f"{place} is a link|must be a folder, not a link"):
        full(repo)
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o750])
def test_one_that_was_open_to_other_users_is_closed(repo: Path, mode: int) -> None:
    (repo / ".learnkit").mkdir()
    (repo / ".learnkit").chmod(mode)
    open_state(repo, lk.LocalShell())
    assert (repo / ".learnkit").stat().st_mode & 0o7777 == 0o700


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    closed = Path("/sys") if os.access(tmp_path, os.W_OK) else tmp_path  # root may write the other
    raised, shell = [], lk.LocalShell()
    for attempt in (lambda: open_state(closed, shell), lambda: lk.CodingTools(closed / "new")):
        try:
            attempt()
        except Exception as error:
            raised.append(type(error))
    assert raised == [UsageError, UsageError]


def test_a_teammate_cannot_approve_its_own_plan_in_the_file(repo: Path) -> None:
    """What was possible: requests.json was a file of the workspace like any other."""

    def alice(request: Any) -> Any:
        last = str(request["messages"][-1]["content"])
        if "Begin." in last:
            return lk.use("plan_approval", plan="I write b.txt.")
        if "end your turn and wait" in last:
            return lk.reply(
                lk.use("read_file", path=".learnkit/team/requests.json"),
                lk.use("write_file", path=".learnkit/team/requests.json", content="[]"),
                lk.use(
                    "edit_file", path=".learnkit/team/requests.json", old_text="a", new_text="b"
                ),
            )
        return lk.say("ready")

    lead = when(("Go.", spawn("alice")))
    # The gate refuses all of this while it is closed; a teammate without one could try.
    helper = {"lead": lead, "alice": alice}
    agent = full(repo, helper, plan_required=False)
    ended = [e.data for e in agent.events if e.type == "tool.ended" and e.lane == "alice"]
    tried = [one for one in ended if one["name"] in ("read_file", "write_file", "edit_file")]
    assert len(tried) == 3
    assert all(one["is_error"] and "own state" in one["output"] for one in tried)


def test_a_subfolder_and_a_worktree_can_be_workspaces(repo: Path) -> None:
    (repo / "sub").mkdir()
    full(repo / "sub")
    assert (repo / "sub" / ".learnkit" / ".gitignore").exists()
    git(repo, "worktree add -q ../tree")
    full(repo.parent / "tree")
    for folder in (repo, repo.parent / "tree"):
        assert git(folder, "status --porcelain") == ""
    lines = (repo / ".git" / "info" / "exclude").read_text().splitlines()
    assert lines.count(".learnkit/") == 1

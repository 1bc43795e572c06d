"""What a sandboxed command may not change where it may write: with real bubblewrap and git.

Each test tries to have a program run outside of the sandbox, or to reach one that runs there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from processes import until
from threads import beside

import learnkit as lk
from learnkit.errors import ToolError
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.shell import BwrapShell, LocalShell, ShellResult

PROTECTED = (".git/config", ".git/hooks", ".git/info", ".git/worktrees", ".worktrees/tree/.git")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    script = "git init -q && git add -A && git commit -q -m one && git config learnkit.mine yes"
    assert LocalShell().run(script, folder).code == 0
    WorktreeRegistry(folder, state=tmp_path / "state").create("tree")
    return folder


def state(repo: Path) -> dict[str, object]:
    """All of git's files that name programs or other folders, and what they say."""
    found: dict[str, object] = {}
    for place in PROTECTED:
        path = repo / place
        files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
        names = ("config", "config.worktree", "commondir", "gitdir", ".git")
        for one in files:
            if "worktrees" not in place or one.name in names:
                found[str(one)] = (one.read_text("utf-8", "replace"), one.stat().st_mode)
    return found


# Commits work


@pytest.mark.parametrize("where", [".", ".worktrees/tree", "sub"])
def test_commits_work(repo: Path, where: str) -> None:
    (repo / "sub").mkdir()
    script = (
        "echo two >a.txt && git add a.txt && git commit -q -m two && git branch mine"
        " && git tag v1 && git stash list && git status --porcelain && git log --format=%s"
        " && echo three >a.txt && git stash -q && git stash pop -q && git commit -q -a -m three"
    )
    result = BwrapShell().run(script, repo / where)
    assert (result.code, result.output) == (0, "two\none\n")
    assert BwrapShell().run("git log -1 --format=%s", repo / where).output == "three\n"


@pytest.mark.parametrize("where", [".", ".worktrees/tree"])
def test_a_merge_a_rebase_and_a_pick_work(repo: Path, where: str) -> None:
    script = (
        "git checkout -q -b first && echo two >b.txt && git add -A && git commit -q -m two"
        " && git checkout -q -b second HEAD~1 && echo x >c.txt && git add -A && git commit -q -m x"
        " && git merge -q --no-ff -m merged first && git reset -q --hard HEAD~1"
        " && git rebase -q first && git checkout -q first && git cherry-pick second >pick"
        " && rm pick && git branch -q -D second 2>warning; rm warning; git gc -q 2>&1;"
        " git status --porcelain; git log --format=%s; git branch --list second"
    )
    result = BwrapShell().run(script, repo / where)
    assert result.output.endswith("x\ntwo\none\n"), result.output
    assert "could not" not in result.output


# What names programs cannot be changed

WAYS = {
    "config": "git config core.fsmonitor 'touch mark'",
    "config, by hand": "printf '[core]\\nfsmonitor = touch mark\\n' >>.git/config",
    "config, renamed over": "cp .git/config c; echo '[a]' >>c; mv -f c .git/config",
    "config, removed": "rm -f .git/config; echo >.git/config",
    "config of a worktree": "git config extensions.worktreeConfig true",
    "a hook": "echo touch mark >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "hooks, renamed": "mv .git/hooks .git/h; mkdir .git/hooks; echo x >.git/hooks/pre-commit",
    "attributes": "echo '* filter=x' >.git/info/attributes",
    "excludes": "echo '*' >.git/info/exclude",
    "git's folder, renamed": "mv .git g && cp -r g .git && echo x >>.git/config",
    "git's folder, replaced": "cp -r .git g && rm -rf .git/config; echo x >>.git/config",
    "the folder of worktrees": "mv .git/worktrees w && cp -r w .git/worktrees",
    "a worktree's folder": "mv .git/worktrees/tree w && cp -r w .git/worktrees/tree",
    "where a worktree's repository is": "echo ../../../evil >.git/worktrees/tree/commondir",
    "where a worktree is": "echo /tmp/x >.git/worktrees/tree/gitdir",
    "a worktree's link": "echo 'gitdir: ../../evil' >.worktrees/tree/.git",
    "a worktree's link, replaced": "rm -f .worktrees/tree/.git; mkdir .worktrees/tree/.git",
    "a worktree, renamed": "mv .worktrees/tree w; cp -r w .worktrees/tree",
    "all worktrees, renamed": "mv .worktrees w; cp -r w .worktrees",
    "unmounted": "umount .git/config; umount -l .git/hooks; echo x >>.git/config",
    "unmounted in a namespace": "unshare -Urm sh -c 'umount .git/config; echo x >>.git/config'",
    "mounted again": "mount -o remount,rw,bind .git/config; echo x >>.git/config",
    "by its file descriptor": "exec 5<.git/config; echo x >/proc/self/fd/5",
    "by another root": "echo x >>/proc/self/root$PWD/.git/config",
    "by a link": "ln -s .git/config l; echo x >>l; ln .git/config h; echo x >>h",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_makes_git_run_programs_is_read_only(repo: Path, way: str) -> None:
    before = state(repo)
    assert len(before) > 5
    BwrapShell().run(f"{WAYS[way]}; true", repo)
    assert state(repo) == before
    assert LocalShell().run("git status", repo).code == 0
    assert not list(repo.rglob("mark"))


@pytest.mark.parametrize(
    "way",
    [
        "echo 'gitdir: ../../evil' >.git",
        "rm .git; mkdir .git",
        "echo ../../../evil >$(git rev-parse --git-dir)/commondir",
        "echo x >>$(git rev-parse --git-common-dir)/config",
        "echo x >$(git rev-parse --git-common-dir)/hooks/pre-commit",
        "echo ../evil >$(git rev-parse --git-common-dir)/commondir",
        "echo x >>../../a.txt",
    ],
)
def test_from_a_worktree_neither(repo: Path, way: str) -> None:
    before = {**state(repo), "main": (repo / "a.txt").read_text()}
    with contextlib.suppress(ToolError):
        BwrapShell().run(f"{way}; true", repo / ".worktrees" / "tree")
    assert {**state(repo), "main": (repo / "a.txt").read_text()} == before
    assert not (repo / ".git" / "commondir").exists()


@pytest.mark.parametrize(
    "name",
    ["commondir", "config.worktree", "worktrees/tree/config.worktree", "worktrees/tree/modules"],
)
@pytest.mark.parametrize("how", ["echo ../evil >{}; sleep 30", "mkdir {}", "ln -s x {}"])
def test_a_file_that_would_redirect_git_ends_the_command(repo: Path, name: str, how: str) -> None:
    with pytest.raises(ToolError, match=rf"made .*{name}, and git would run code from it"):
        BwrapShell().run(how.format(f".git/{name}"), repo, timeout=20)
    assert not os.path.lexists(repo / ".git" / name)
    assert LocalShell().run("git status", repo).code == 0


@pytest.fixture
def nested(repo: Path) -> Path:
    """A workspace with a repository, one without ``.git`` and a submodule in it."""
    script = (
        "git init -q deep/own && git -C deep/own commit -q --allow-empty -m one"
        " && git init -q --bare hub.git && git -C deep/own push -q ../../hub.git HEAD:main"
        " && git -c protocol.file.allow=always submodule --quiet add ./hub.git sub 2>&1"
    )
    result = LocalShell().run(script, repo)
    assert result.code == 0, result.output
    return repo


def named(repo: Path) -> dict[Path, str]:
    """What names programs or other folders in all repositories of a workspace."""
    names = ("config", "config.worktree", ".git", "commondir", "attributes", "origin")
    found = [path for path in repo.rglob("*") if path.name in names or path.parent.name == "hooks"]
    found = [path for path in found if path.is_file() and repo / "moved" not in path.parents]
    return {path: path.read_text("utf-8", "replace") for path in found}


NESTED = {
    ".": [
        *("echo x >>deep/own/.git/config", "git -C deep/own config core.fsmonitor x"),
        *("echo x >deep/own/.git/hooks/pre-commit", "echo x >deep/own/.git/info/attributes"),
        *(
            "mv deep/own/.git moved/d",
            "mv deep/own moved/o",
            "mv deep moved",
            "rm -rf deep/own/.git",
        ),
        *("echo x >>hub.git/config", "echo x >hub.git/hooks/update", "mv hub.git moved"),
        *("echo 'gitdir: ../evil' >sub/.git", "rm -f sub/.git", "mv sub moved", "rm -rf sub"),
        *("mkdir -p .git/modules/evil/hooks; echo x >.git/modules/evil/config",),
        *("echo x >>.git/modules/sub/config", "echo x >.git/modules/sub/hooks/pre-commit"),
        *("mkdir deep/own/.git/modules/x; echo x >deep/own/.git/modules/x/config",),
        "mkdir -p .git/remotes .git/branches; echo URL: /x >.git/remotes/origin",
        "echo /x >.git/branches/origin",
    ],
    "sub": ["echo 'gitdir: ../evil' >.git", "rm -f .git", "mv .git ../moved", "git config a.b c"],
}


@pytest.mark.parametrize("where", NESTED)
def test_nor_that_of_a_repository_in_the_workspace(nested: Path, where: str) -> None:
    (nested / "moved").mkdir()  # what is copied there is a new repository
    before = named(nested)
    assert len(before) > 8
    commit = "git -C deep/own commit -q --allow-empty -m two && git -C deep/own log --format=%s"
    if where == ".":
        assert BwrapShell().run(commit, nested).output == "two\none\n"
    BwrapShell().run("; ".join(NESTED[where]), nested / where)
    assert named(nested) == before


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (".git", "ln -sfn ../evil deep/own/.git"),
        (".git/config", "echo '# x' >>deep/real"),
        (".git/hooks", "echo x >deep/real/pre-commit"),
    ],
)
def test_a_link_in_such_a_repository_is_not_protected(nested: Path, name: str, change: str) -> None:
    """As SECURITY.md says: only in the repository of the folder itself it is refused."""
    place, real = nested / "deep/own" / name, nested / "deep" / "real"
    place.rename(real)
    place.symlink_to(real)
    result = BwrapShell().run(change, nested)
    assert result.code == 0, result.output


PLAN = "$(git rev-parse --git-dir)/rebase-merge/git-rebase-todo"
STOPPED = {
    "exec": f"git rebase -q -i HEAD~1; printf '\\t exec touch {{mark}}\\n' >>{PLAN}",
    "x": f"git rebase -q -i HEAD~1; printf 'x\\ttouch {{mark}}\\n' >>{PLAN}",
    "a link": f"git rebase -q -i HEAD~1; echo 'exec touch {{mark}}' >plan; ln -sf $PWD/plan {PLAN}",
}


@pytest.mark.parametrize("where", [".", ".worktrees/tree", "deep/own"])
@pytest.mark.parametrize("how", STOPPED)
def test_a_stopped_rebase_has_no_commands_in_it(
    nested: Path, tmp_path: Path, how: str, where: str
) -> None:
    """The user's next ``git rebase --continue`` would run them."""
    folder, mark = nested / where, tmp_path / "mark"
    script = (
        "export GIT_SEQUENCE_EDITOR='sed -i 1ibreak'; git commit -q --allow-empty -m 2; "
        + STOPPED[how].format(mark=mark)
    )
    with pytest.raises(ToolError, match=r"made .*git-rebase-todo, and git would run code from it"):
        BwrapShell().run(script, nested if where == "." else folder)
    LocalShell().run("git rebase --continue; git rebase --abort", folder)
    assert not mark.exists()
    LocalShell().run(f"{script}; git rebase --continue", folder)
    assert mark.exists(), "git must run it, or the test shows nothing"


def test_a_rebase_that_runs_commands_works(repo: Path) -> None:
    script = "git commit -q --allow-empty -m two; git rebase -q -x 'touch ran' HEAD~1"
    assert BwrapShell().run(script, repo).code == 0
    assert (repo / "ran").exists()


def test_when_another_program_replaces_the_configuration_the_command_is_ended(repo: Path) -> None:
    """The kernel takes a mount away when its file is replaced from outside, and then it is open."""
    shell, outcome = BwrapShell(), []

    def work() -> None:
        try:
            wait = "touch begun; until grep -q theirs .git/config; do sleep 0.05; done"
            command = f"{wait}; sleep 60; touch survived"
            outcome.append(shell.run(command, repo, timeout=90))
        except ToolError as error:
            outcome.append(str(error))

    with beside(work):
        until((repo / "begun").exists)
        assert LocalShell().run("git config learnkit.theirs yes", repo).code == 0
    assert "was replaced by another program while the command ran" in str(outcome[0])
    assert not (repo / "survived").exists()


def test_a_worktree_can_be_removed_while_a_command_runs(repo: Path, tmp_path: Path) -> None:
    registry = WorktreeRegistry(repo, BwrapShell(), state=tmp_path / "state")
    outcome: list[object] = []

    def work() -> None:
        command = "touch begun; until test -e go; do sleep 0.02; done; sleep 0.2; echo still here"
        outcome.append(BwrapShell().run(command, repo, timeout=60))

    with beside(work):
        until((repo / "begun").exists)
        registry.remove("tree")
        registry.create("other")
        (repo / "go").touch()
    assert outcome == [ShellResult("still here\n", 0)]


def test_a_worktree_that_could_not_be_made_leaves_the_configuration_alone(repo: Path) -> None:
    """Else a model could have the file replaced, and so opened, while a command of its runs."""
    before = (repo / ".git" / "config").stat().st_ino

    def bind(tree: object) -> None:
        raise ToolError("there is no task 9")

    with pytest.raises(ToolError, match="no task 9"):
        WorktreeRegistry(repo).create("new", 9, bind=bind)
    assert (repo / ".git" / "config").stat().st_ino == before
    assert "wt/new" not in LocalShell().run("git branch", repo).output


def test_a_link_in_git_s_folder_is_refused_because_it_cannot_be_protected(repo: Path) -> None:
    (repo / ".git" / "hooks").rename(repo / "hooks")
    (repo / ".git" / "hooks").symlink_to("../hooks")
    with pytest.raises(ToolError, match="is a symbolic link, which a sandbox cannot protect"):
        BwrapShell().run("true", repo)


def test_a_worktree_of_a_strangers_repository_opens_nothing(repo: Path, tmp_path: Path) -> None:
    """A command could write the file .git: what it names is opened only if git knows the folder."""
    mine = tmp_path / "mine"
    mine.mkdir()
    fake = mine / "fake" / "worktrees" / "x"
    fake.mkdir(parents=True)
    (fake / "gitdir").write_text(f"{mine}/.git\n")
    (fake / "commondir").write_text(f"{repo}/.git\n")
    touch = f"touch {repo}/.git/objects/oh {repo}/.git/oh {repo}/.git/worktrees/tree/oh"
    for target in (repo / ".git" / "worktrees" / "tree", repo / ".git", fake):
        (mine / ".git").write_text(f"gitdir: {target}\n")
        BwrapShell().run(f"{touch}; true", mine)
    assert not list(repo.rglob("oh"))
    (mine / ".git").unlink()
    (mine / ".git").symlink_to(repo / ".git")
    with pytest.raises(ToolError, match="symbolic link"):
        BwrapShell().run(touch, mine)
    assert not list(repo.rglob("oh"))


def test_a_writable_folder_is_protected_like_the_one_it_runs_in(repo: Path, tmp_path: Path) -> None:
    before = state(repo)
    other = tmp_path / "other"
    other.mkdir()
    command = f"cd {repo} && echo two >a.txt && git commit -q -a -m two && echo x >>.git/config"
    BwrapShell(writable=[repo]).run(command, other)
    assert state(repo) == before
    assert LocalShell().run("git log -1 --format=%s", repo).output == "two\n"


# The harness's own


def test_the_state_of_the_harness_is_read_only(repo: Path) -> None:
    client = lk.scripted([lk.say("done")])
    with client.clock:
        lk.full_agent(client, repo, shell=BwrapShell()).run("Go.")
    lk.Mailbox(repo / ".learnkit" / "team" / "inbox").open("alice")
    file = repo / ".learnkit" / ".gitignore"
    before = file.read_text()
    tries = (
        "echo x >.learnkit/.gitignore; rm -rf .learnkit; mv .learnkit l; touch .learnkit/tasks/oh;"
        "mkdir -p .learnkit/team; echo '[]' >.learnkit/team/requests.json;"
        'echo \'{"from": "lead"}\' >>.learnkit/team/inbox/alice.jsonl'
    )
    BwrapShell().run(tries, repo)
    assert (repo / ".learnkit/team/inbox/alice.jsonl").read_text() == ""
    assert file.is_file()
    assert file.read_text() == before
    assert not list(repo.rglob("oh"))
    assert BwrapShell().run("cat .learnkit/.gitignore", repo).output == before


def test_the_harness_makes_and_removes_worktrees_in_it(repo: Path) -> None:
    client = lk.scripted(
        [
            lk.use("worktree_create", name="new"),
            lk.use(
                "worktree_run", name="new", command="echo 2 >b.txt; git add -A; git commit -qm 2"
            ),
            lk.use("worktree_merge", name="new"),
            lk.use("worktree_remove", name="new"),
            lk.say("done"),
        ]
    )
    with client.clock:
        agent = lk.full_agent(client, repo, shell=BwrapShell())
        agent.run("Go.")
    ended = [e.data for e in agent.events if e.type == "tool.ended"]
    assert not [one["output"] for one in ended if one["is_error"]]
    assert (repo / "b.txt").read_text() == "2\n"
    assert not (repo / ".worktrees" / "new").exists()


def test_its_git_runs_in_the_sandbox_too(repo: Path, tmp_path: Path) -> None:
    shell = BwrapShell()
    git = WorktreeRegistry(repo, shell).git
    outside = tmp_path / "outside"
    git.run("-c", f"alias.x=!touch {outside}", "x")
    assert not outside.exists()
    assert shell.run("git config user.name oh", repo).code != 0, "the agents' shell is as it was"


@pytest.fixture(params=["prefix", "exec_prefix"])
def venv(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that has the Python that runs the harness in it, first on PATH."""
    folder = tmp_path / "work" / "tools" / ".venv"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, request.param, str(folder))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    return folder


def test_the_python_that_runs_the_harness_is_read_only(venv: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    plant = (
        "touch tools/.venv/bin/bwrap; mv tools t; mkdir -p tools/.venv; touch tools/.venv/oh; true"
    )
    BwrapShell().run(plant, work)
    assert [path.name for path in venv.rglob("*")] == ["bin"]


def test_a_bubblewrap_that_a_command_has_planted_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a virtual environment in the workspace, a folder that is first on PATH is writable."""
    bin = tmp_path / "work" / ".venv" / "bin"
    bin.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{bin}:{os.environ['PATH']}")
    monkeypatch.setenv("VIRTUAL_ENV", str(bin.parent))
    shell, mark = BwrapShell(), tmp_path / "mark"
    plant = f"printf '#!/bin/sh\\ntouch {mark}\\n' >.venv/bin/bwrap; chmod +x .venv/bin/bwrap"
    assert shell.run(plant, tmp_path / "work").code == 0
    assert os.access(bin / "bwrap", os.X_OK)
    assert shell.run("echo inside", tmp_path / "work").output == "inside\n"
    assert not mark.exists()


# The kernel, and other programs


def test_proc_cannot_be_made_writable_again(tmp_path: Path) -> None:
    tries = (
        "mount -o remount,rw /proc; umount -l /proc; mount -t proc proc /proc;"
        "unshare -Urpf --mount-proc sh -c ': >>/proc/sys/kernel/core_pattern && echo opened';"
        "unshare -Um sh -c 'umount -l /proc; mount -t proc p /proc;"
        " : >>/proc/sys/kernel/core_pattern && echo opened'; mkdir p; mount -t proc p p;"
        ": >>p/sys/kernel/core_pattern && echo opened"
    )
    assert "opened" not in BwrapShell().run(tries, tmp_path).output.split()


def test_nothing_of_the_kernel_is_writable(tmp_path: Path) -> None:
    script = (
        "find /proc /sys -xdev -type f -not -path '/proc/[0-9]*' 2>/dev/null"
        ' | while read -r file; do (: >>"$file") 2>/dev/null && echo "$file"; done; true'
    )
    assert BwrapShell().run(script, tmp_path).output == ""


CONNECT = "python -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'"


@pytest.mark.parametrize("place", ["beside the workspace", "in the workspace"])
def test_sockets_of_other_programs_are_out_of_reach(tmp_path: Path, place: str) -> None:
    """Such as that of docker, of an agent that holds keys, or of an editor."""
    # The private /tmp would hide it; and a name may have about 100 characters.
    outside = Path.home() / f".lk-{os.getpid()}"
    outside.mkdir()
    workspace = tmp_path / "work"
    workspace.mkdir()
    try:
        path = outside / "s" if place == "beside the workspace" else workspace / "s"
        with socket.socket(socket.AF_UNIX) as server:
            here = os.open(path.parent, os.O_RDONLY)
            server.bind(str(path) if len(str(path)) < 100 else f"/proc/self/fd/{here}/s")
            os.close(here)
            server.listen()
            command = f"cd {path.parent} && {CONNECT} {path.name} && echo connected"
            assert LocalShell().run(command, workspace).output == "connected\n"
            assert "connected" not in BwrapShell().run(command, workspace).output.split()
    finally:
        shutil.rmtree(outside)


def test_abstract_sockets_are_out_of_reach(tmp_path: Path) -> None:
    name = f"lk-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        connect = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r})"
        command = f"python -c {subprocess.list2cmdline([connect])} && echo connected"
        assert LocalShell().run(command, tmp_path).output == "connected\n"
        assert "connected" not in BwrapShell().run(command, tmp_path).output.split()


def test_a_command_has_no_terminal_and_no_input(tmp_path: Path) -> None:
    script = "cat; test -t 0 && echo terminal; : </dev/tty && echo terminal; true"
    assert "terminal" not in BwrapShell().run(script, tmp_path).output.split()


def test_shared_memory_is_its_own(tmp_path: Path) -> None:
    name = f"lk-{os.getpid()}"
    BwrapShell().run(f"touch /dev/shm/{name}", tmp_path)
    assert not Path("/dev/shm", name).exists()

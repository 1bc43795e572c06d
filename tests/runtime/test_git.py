"""The harness's git runs nothing that a repository names. Each way in is tried with real git, after
a control has shown that plain git takes it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.mechanisms.worktrees.assignment import History
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.git import Git, GitError
from learnkit.runtime.git_remote import GitRemote
from learnkit.runtime.shell_environment import REPRODUCIBLE


class Repo:
    """A repository with a worktree ``old`` that has a commit, and a program that leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self.refused = ""  # why the harness does not work in it, if it does not
        self.root = folder / "repo"
        self.root.mkdir(parents=True)
        self.mark = folder / "mark"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >>{self.mark}\nexec cat\n')
        self.program.chmod(0o755)
        (self.root / "f.txt").write_text("one\n\n\n\n\n\ntwo\n")
        (self.root / ".gitattributes").write_text("*.txt filter=x diff=x merge=x\n")
        self.git("init -q && git add -A && git commit -q -m first")
        self.registry = WorktreeRegistry(self.root)
        self.registry.create("old")
        self.commit(self.registry.path("old"), "ONE\n\n\n\n\n\ntwo\n")
        self.commit(self.root, "one\n\n\n\n\n\nTWO\n")

    def git(self, command: str, cwd: Path | None = None) -> str:
        # A limit, because plain git waits for ever for a remote that is our program.
        result = lk.LocalShell().run(f"git {command}", cwd or self.root, timeout=15)
        return result.output

    def commit(self, folder: Path, text: str) -> None:
        (folder / "f.txt").write_text(text)
        self.git("commit -q -a -m change", folder)

    def config(self, key: str, value: str) -> None:
        self.git(f"config {key} '{value}'")

    def hook(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "post-merge", "pre-merge-commit", "commit-msg"):
            shutil.copy(self.program, folder / name)
        for name in ("prepare-commit-msg", "reference-transaction", "post-index-change"):
            shutil.copy(self.program, folder / name)

    def touched(self, folder: str = ".") -> None:
        """Make git look at the content of a file again."""
        with contextlib.suppress(FileNotFoundError):  # plain git may have failed with the program
            os.utime(self.root / folder / "f.txt", (1, 1))

    def locked(self, worktree: str) -> None:
        """Keep git from noting what it has seen, so that each command looks again."""
        (self.root / ".git" / "worktrees" / worktree / "index.lock").touch()

    def plainly(self) -> None:
        """What the harness does, done with plain git, and more of what could start a program."""
        self.touched()
        self.git("status --porcelain")
        self.git("worktree add -q -b wt/new .worktrees/new")
        self.git("log -p --ext-diff")
        self.git("diff HEAD~1 HEAD")
        self.git("merge --no-ff -m merge wt/old")
        self.git("cat-file --batch-check --batch-all-objects")
        self.git(f"fetch --refetch {self.root}")
        for name in ("new", "old"):
            self.touched(f".worktrees/{name}")
            self.git(f"worktree remove .worktrees/{name}")

    def by_the_harness(self) -> None:
        if self.refused:
            with pytest.raises(lk.LearnkitError, match=self.refused):
                self._by_the_harness()
        else:
            self._by_the_harness()

    def _by_the_harness(self) -> None:
        self.touched()
        registry = WorktreeRegistry(self.root)
        registry.create("new")
        registry.git.changes(registry.path("new"), ignored=True)
        History(registry.git).commits()
        with contextlib.suppress(lk.ToolError):  # a driver that is not run is a conflict
            assert registry.merge("old") == ["f.txt"]
        registry.keep("new")
        for name in ("new", "old"):
            self.touched(f".worktrees/{name}")
            registry.remove(name)


def _hooks_path(repo: Repo) -> None:
    repo.hook(repo.root / "mine")
    repo.config("core.hooksPath", "mine")


def _filter(kind: str) -> Callable[[Repo], None]:
    def plant(repo: Repo) -> None:
        repo.config(f"filter.x.{kind}", str(repo.program))
        repo.config("filter.x.required", "true")

    return plant


def _signature(repo: Repo) -> None:
    repo.config("gpg.program", str(repo.program))
    repo.config("commit.gpgSign", "true")
    repo.config("log.showSignature", "true")


def _strategy(repo: Repo) -> None:
    strategy = repo.program.with_name("git-merge-mine")
    shutil.copy(repo.program, strategy)
    repo.config("branch.main.mergeOptions", "-s mine")


def _included(repo: Repo) -> None:
    (repo.root / "more").write_text(f"[core]\n\tfsmonitor = {repo.program}\n")
    repo.config("include.path", "../more")


def _of_the_worktree(repo: Repo) -> None:
    repo.config("extensions.worktreeConfig", "true")
    repo.git(f"config --worktree core.fsmonitor {repo.program}")


def _condition(condition: str, kind: str = "smudge", file: str = "more") -> Callable[[Repo], None]:
    """A filter that is there only where a condition holds."""

    def plant(repo: Repo) -> None:
        (repo.root / file).write_text(f'[filter "x"]\n\t{kind} = {repo.program}\n')
        repo.config("remote.origin.url", "https://example.org/x")
        repo.config(f"includeIf.{condition}.path", f"../{file}")

    return plant


def _nested_conditions(repo: Repo) -> None:
    """Each file names the next one relative to itself, in a folder of its own."""
    for number in range(9):
        folder = repo.root / f"in{number}"
        folder.mkdir()
        then = f'[includeIf "onbranch:wt/new"]\n\tpath = ../in{number + 1}/more\n'
        last = f'[filter "x"]\n\tsmudge = {repo.program}\n'
        (folder / "more").write_text(then if number < 8 else last)
    repo.config("include.path", "../in0/more")


def _condition_of_the_worktrees(repo: Repo) -> None:
    repo.config("extensions.worktreeConfig", "true")
    _condition("onbranch:wt/new")(repo)
    repo.git("config --unset includeIf.onbranch:wt/new.path")
    repo.git(f"config --worktree includeIf.onbranch:wt/new.path {repo.root}/more")


def _copied_with_the_worktree(repo: Repo) -> None:
    """git copies config.worktree, and from the copy the path leads to another file."""
    repo.config("extensions.worktreeConfig", "true")
    (repo.root / ".git" / "more").write_text(f'[filter "x"]\n\tsmudge = {repo.program}\n')
    repo.git("config --worktree include.path ../../more")
    repo.refused = (
        r"has include\.path = \.\./\.\./more in config\.worktree; make this path an absolute"
    )


def _of_another_worktree(repo: Repo) -> None:
    repo.config("extensions.worktreeConfig", "true")
    repo.git(f"config --worktree filter.x.clean {repo.program}", repo.registry.path("old"))
    repo.locked("old")


def _another_common_folder(repo: Repo) -> None:
    """The repository that a worktree says it belongs to is not the one that it is listed in."""
    shutil.copytree(repo.root / ".git", repo.root / "evil")
    repo.git(f"config -f evil/config filter.x.clean {repo.program}")
    (repo.root / ".git" / "worktrees" / "old" / "commondir").write_text("../../../evil\n")
    repo.locked("old")


def _of_a_submodule(repo: Repo) -> None:
    """When it looks for conflicts, git runs itself in each submodule."""
    sub = repo.root / "sub"
    repo.git("init -q sub")
    for name in ("f.txt", ".gitattributes"):
        shutil.copy(repo.root / name, sub)
    repo.git("add -A && git commit -q -m sub", sub)
    repo.git("add sub")
    repo.commit(repo.root, "three\n")
    repo.git(f"config filter.x.clean {repo.program}", sub)
    repo.touched("sub")


def _strange_name(repo: Repo) -> None:
    # What is set with `git -c` cannot name a key that has "=" in it.
    repo.config("filter.a=b.clean", str(repo.program))
    repo.config("filter.a=b.smudge", str(repo.program))
    (repo.root / ".git" / "info" / "attributes").write_text("*.txt filter=a=b\n")


def _attributes(repo: Repo) -> None:
    (repo.root / "attributes").write_text("*.txt filter=y\n")
    (repo.root / ".gitattributes").unlink()
    repo.git("commit -q -a -m 'no attributes'")
    repo.config("core.attributesFile", str(repo.root / "attributes"))
    repo.config("filter.y.smudge", str(repo.program))


def _partial(repo: Repo) -> None:
    repo.config("core.repositoryFormatVersion", "1")
    repo.config("extensions.partialClone", "origin")
    repo.config("remote.origin.promisor", "true")
    repo.config("remote.origin.url", f"ext::{repo.program}")
    repo.config("protocol.ext.allow", "always")
    blob = repo.git("rev-parse wt/old:f.txt").strip()
    (repo.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


WAYS: dict[str, Callable[[Repo], None]] = {
    "file system monitor": lambda repo: repo.config("core.fsmonitor", str(repo.program)),
    "hooks": lambda repo: repo.hook(repo.root / ".git" / "hooks"),
    "hooks elsewhere": _hooks_path,
    "clean filter": _filter("clean"),
    "smudge filter": _filter("smudge"),
    "filter process": _filter("process"),
    "filter with a strange name": _strange_name,
    "merge driver": lambda repo: repo.config("merge.x.driver", f"{repo.program} %A"),
    "external diff": lambda repo: repo.config("diff.external", str(repo.program)),
    "diff driver": lambda repo: repo.config("diff.x.command", str(repo.program)),
    "textconv": lambda repo: repo.config("diff.x.textconv", str(repo.program)),
    "signatures": _signature,
    "merge strategy": _strategy,
    "included file": _included,
    "configuration of a worktree": _of_the_worktree,
    "missing objects of a remote": _partial,
    "include on a branch": _condition("onbranch:wt/**"),
    "include in worktrees": _condition("gitdir:**/worktrees/**"),
    "include in worktrees, clean filter": _condition("gitdir/i:**/WORKTREES/**", "clean"),
    "include with a remote": _condition("hasconfig:remote.*.url:https://example.org/**"),
    "include with a strange name": _condition("onbranch:wt/**", file="m=o re"),
    "conditions in conditions": _nested_conditions,
    "condition in a worktree's configuration": _condition_of_the_worktrees,
    "configuration that is copied": _copied_with_the_worktree,
    "configuration of another worktree": _of_another_worktree,
    "worktree of another repository": _another_common_folder,
    "submodule": _of_a_submodule,
    "attributes elsewhere": _attributes,
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_repository_names_is_run(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control, repo = Repo(tmp_path / "control"), Repo(tmp_path / "tried")
    for one in (control, repo):
        WAYS[way](one)
        one.mark.unlink(missing_ok=True)
    monkeypatch.setenv("PATH", f"{control.program.parent}:{os.environ['PATH']}")
    control.plainly()
    assert control.mark.exists(), "plain git must take this way, or the test shows nothing"
    monkeypatch.setenv("PATH", f"{repo.program.parent}:{os.environ['PATH']}")
    repo.by_the_harness()
    assert not repo.mark.exists(), repo.mark.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "key",
    [
        *("core.pager", "core.editor", "core.askPass", "core.sshCommand", "credential.helper"),
        *("core.gitProxy", "gpg.ssh.program", "gpg.x509.program", "submodule.recurse", "gc.auto"),
    ],
)
def test_other_keys_that_name_programs_are_overridden(key: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.config(key, str(repo.program))
    assert str(repo.program) not in Git(repo.root).run("config", "--get", key)


@pytest.mark.slow
def test_a_merge_driver_of_the_repositorys_is_a_conflict_and_no_silent_choice(
    tmp_path: Path,
) -> None:
    repo = Repo(tmp_path)
    WAYS["merge driver"](repo)
    with pytest.raises(lk.ToolError, match=r"wt/old conflicts in f\.txt; the merge was undone"):
        repo.registry.merge("old")


@pytest.mark.slow
def test_a_folder_that_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    inner = repo.root / "inner"
    repo.git("init -q --bare inner")
    repo.git(f"config core.fsmonitor {repo.program} && git config core.worktree ..", inner)
    repo.git("config core.bare false", inner)
    repo.git("status", inner)
    assert repo.mark.exists(), "plain git must take this way, or the test shows nothing"
    repo.mark.unlink()
    with pytest.raises(UsageError, match="is in no git repository"):
        Git(inner).changes(inner)
    assert not repo.mark.exists()


@pytest.mark.slow
def test_variables_that_name_programs_and_folders_are_not_passed_on(tmp_path: Path) -> None:
    repo, other = Repo(tmp_path / "repo"), Repo(tmp_path / "other")
    shell = lk.LocalShell(
        {
            "GIT_DIR": str(other.root / ".git"),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": str(repo.program),
            "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{repo.program}'",
            "GIT_EXEC_PATH": str(repo.program.parent),
            "GIT_EXTERNAL_DIFF": str(repo.program),
        }
    )
    git = Git(repo.root, shell)
    git.changes(repo.root)
    assert git.root == repo.root
    assert not repo.mark.exists()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with a name, and with settings that run a program."""
    monkeypatch.delenv("LEARNKIT_REPRODUCIBLE")
    for name in REPRODUCIBLE:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
        f"[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = {home}/gpg\n"
        f"[core]\n\thooksPath = {home}\n\tfsmonitor = {home}/gpg\n\texcludesFile = {home}/ignore\n"
        "[safe]\n\tdirectory = *\n"
    )
    (home / "ignore").write_text("*.secret\n")
    for name in ("gpg", "post-merge", "post-checkout"):
        (home / name).write_text(f"#!/bin/sh\ntouch {home}/mark\n")
        (home / name).chmod(0o755)
    return home


@pytest.mark.slow
def test_of_the_users_configuration_it_takes_the_name_and_no_program(
    own: Path, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    plain = "git -c core.fsmonitor=false -c commit.gpgSign=false -c core.hooksPath=/dev/null"
    start = f"git init -q && {plain} commit -q --allow-empty -m first"
    assert lk.LocalShell().run(start, repo).code == 0
    registry = WorktreeRegistry(repo)
    registry.create("new")
    (registry.path("new") / "a.txt").write_text("a\n")
    (registry.path("new") / "a.secret").write_text("a\n")
    commit = f"{plain} add -A && {plain} commit -q -m 'by hand'"
    assert lk.LocalShell().run(commit, registry.path("new")).code == 0
    assert registry.merge("new") == ["a.txt"]
    assert registry.git.changes(registry.path("new")) == []  # core.excludesFile is kept
    said = registry.git.run("log", "-1", "--format=%an <%ae> %cn, %ad", "--date=format:%Y")
    assert said.startswith("Ada <ada@example.org> Ada, ")
    assert not (own / "mark").exists()
    assert lk.LocalShell().run(f"{plain} merge -q new; git status", repo).code == 0
    assert (own / "mark").exists(), "the user's own git runs it, or the test shows nothing"


def test_a_git_that_is_too_old_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\necho git version 2.30.9\n")
    program.chmod(0o755)
    shell = lk.LocalShell({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    with pytest.raises(UsageError, match=r"git version 2\.30\.9; worktrees need git 2\.31"):
        Git(tmp_path, shell)


@pytest.mark.slow
def test_a_commit_on_a_branch_of_a_remote_is_not_lost(tmp_path: Path) -> None:
    shell = lk.LocalShell()
    commit = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m"
    shell.run(f"git init -q && {commit} 1 && git checkout -q --detach && {commit} 2", tmp_path)
    assert len(Git(tmp_path).unnamed_commits(tmp_path)) == 1
    shell.run("git update-ref refs/remotes/origin/main HEAD", tmp_path)
    assert Git(tmp_path).unnamed_commits(tmp_path) == []


def test_a_pattern_is_excluded_once(tmp_path: Path) -> None:
    lk.LocalShell().run("git init -q && printf old >.git/info/exclude", tmp_path)
    for _ in range(3):
        Git(tmp_path).exclude(".learnkit/")
        Git(tmp_path).exclude(".worktrees/")
    text = (tmp_path / ".git" / "info" / "exclude").read_text()
    assert text == "old\n.learnkit/\n.worktrees/\n"


def test_an_error_of_the_common_remote_does_not_show_its_address(tmp_path: Path) -> None:
    lk.LocalShell().run("git init -q", tmp_path)
    with pytest.raises(GitError, match="the common remote") as caught:
        GitRemote(Git(tmp_path), f"{tmp_path}/token.git").push("main")
    assert "token" not in str(caught.value)

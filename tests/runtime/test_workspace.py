"""What file tools leave alone in a workspace: git's files, the harness's state, its Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.errors import ToolError
from learnkit.runtime.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a worktree, a nested repository, and links into what is protected."""
    return made(tmp_path / "repo")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a repository, made once for tests that must leave it as it is."""
    return made(tmp_path_factory.mktemp("kept") / "repo")


def made(folder: Path) -> Path:
    folder.mkdir()
    script = (
        "git init -q && git commit -q --allow-empty -m first && git worktree add -q tree"
        " && git init -q deep/er/nested && git init -q --bare bare.git"
        " && git init -q --separate-git-dir=$PWD/elsewhere apart"
        " && mkdir -p .learnkit/team .learnkit/transcripts"
        """ && echo '{"team_name": "a", "members": []}' >.learnkit/team/config.json"""
        " && echo old >.learnkit/transcripts/lead-1.jsonl"
        " && ln -s .git to-git && ln -s .git/config to-config && ln -s .learnkit/team to-state"
    )
    assert lk.LocalShell().run(script, folder).code == 0
    return folder


GIT = [
    *(".git/config", ".git/hooks/pre-commit", ".git/hooks/post-checkout", ".git/info/attributes"),
    *(".git/info/exclude", ".git/new", ".git", ".git/config.worktree", ".git/modules/a/config"),
    *("/workspace/.git/config", "./x/../.git/config", ".git//config", "deep/../.git/config"),
    *("tree/.git", ".git/worktrees/tree/commondir", "deep/er/nested/.git/config", "apart/.git"),
    *("to-git/config", "to-git/hooks/pre-commit", "to-config", "new/folder/.git/config"),
    # The names that file systems which fold names take for the same one.
    *(".GIT/config", ".Git/hooks/pre-commit", "deep/.gIt/config", ".git./config", ".git /config"),
    *(".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config", ".\ufeffgit/config"),
]
REPOSITORY = [  # git takes a folder with HEAD, objects and refs for a repository
    *("bare.git/config", "bare.git/hooks/pre-receive", "elsewhere/config", "elsewhere/hooks/x"),
]
STATE = [
    *(".learnkit/team/config.json", ".learnkit/team/requests.json", ".learnkit/tasks/task_1.json"),
    *(".learnkit/.lock", ".learnkit", "to-state/config.json", ".LearnKit/x", "deep/.learnkit/x"),
]


@pytest.mark.parametrize("path", GIT + REPOSITORY + STATE)
def test_what_is_not_the_models_cannot_be_written(kept: Path, path: str) -> None:
    before = _all(kept)
    with pytest.raises(ToolError, match=r"belongs to git|own state|without a \.git folder"):
        Workspace(kept).write(path, "[core]\n\tfsmonitor = touch mark\n")
    assert _all(kept) == before


@pytest.mark.parametrize("path", GIT + STATE)
def test_nor_can_it_be_read(kept: Path, path: str) -> None:
    with pytest.raises(ToolError, match=r"belongs to git|own state"):
        Workspace(kept).read(path)


def test_a_transcript_can_be_read_and_not_written(root: Path) -> None:
    # A summary names it, so that the model can look up what was summarised.
    assert Workspace(root).read(".learnkit/transcripts/lead-1.jsonl") == "old\n"
    with pytest.raises(ToolError, match="own state"):
        Workspace(root).write(".learnkit/transcripts/lead-1.jsonl", "new\n")


@pytest.mark.parametrize("last", ["HEAD", "objects/a", "refs/a", "config"])
def test_no_repository_can_be_put_together_piece_by_piece(tmp_path: Path, last: str) -> None:
    workspace = Workspace(tmp_path)
    parts = ["HEAD", "objects/a", "refs/a", "config"]
    parts.append(parts.pop(parts.index(last)))
    written = []
    for part in parts:
        try:
            workspace.write(f"inner/{part}", "ref: refs/heads/main\n")
            written.append(part)
        except ToolError:
            break
    assert not {"HEAD", "objects/a", "refs/a"} <= set(written)
    made = subprocess.run(["git", "-C", tmp_path / "inner", "rev-parse", "--git-dir"], check=False)
    assert made.returncode != 0  # git does not take it for one


def test_another_name_of_the_same_file_is_seen(root: Path) -> None:
    """A file system may fold names in a way of its own; a hard link is the same to the system."""
    os.link(root / "tree" / ".git", root / "tree" / "other-name")
    with pytest.raises(ToolError, match="belongs to git"):
        Workspace(root).write("tree/other-name", "gitdir: ../evil\n")


PLANT = """
import contextlib, sys
from learnkit.errors import ToolError
from learnkit.runtime.workspace import Workspace
with contextlib.suppress(ToolError):
    Workspace(sys.argv[1]).write(sys.argv[2], "import pathlib; pathlib.Path('mark').touch()")
"""


@pytest.mark.parametrize(
    ("environment", "name"), [("virtual", "evil.pth"), ("user", "sitecustomize.py")]
)
def test_nothing_is_planted_in_the_environment_that_runs_the_harness(
    tmp_path: Path, environment: str, name: str
) -> None:
    """The workspace is entered through a link, as a home folder often is, and so is the Python."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if environment == "virtual":
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", link / "py"], check=True)
        python = link / "py" / "bin" / "python"
        query = "import site; print(site.getsitepackages()[0])"
    else:  # its folder is not there yet: whoever makes it decides what runs
        python = Path(sys.executable).resolve()
        env["PYTHONUSERBASE"] = str(link / "py")
        query = "import site; print(site.getusersitepackages())"
    packages = subprocess.check_output([python, "-c", query], env=env, text=True).strip()
    path = str(Path(packages, name).relative_to(link))
    for _ in range(2):  # what the first one plants runs when the second one starts
        subprocess.run([python, "-c", PLANT, link, path], cwd=tmp_path, env=env, check=True)
    assert not (tmp_path / "mark").exists()
    assert not Path(packages, name).exists()


@pytest.mark.parametrize("path", ["py/lib/new.py", "PY/bin/bwrap", "py"])
@pytest.mark.parametrize("attribute", ["prefix", "base_prefix", "exec_prefix"])
def test_the_python_that_runs_the_harness_is_left_alone_under_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attribute: str, path: str
) -> None:
    (tmp_path / "work" / "py").mkdir(parents=True)
    (tmp_path / "link").symlink_to("work")
    monkeypatch.setattr(sys, attribute, str(tmp_path / "link" / "py"))
    workspace = Workspace(tmp_path / "link")
    with pytest.raises(ToolError, match="Python that runs this harness"):
        workspace.write(path, "x")
    assert workspace.write("py.txt", "x")
    assert Workspace(tmp_path / "work" / "py" / "inner").write("a.txt", "x")  # a folder in it


def test_an_edit_of_gits_configuration_runs_no_command(root: Path) -> None:
    """What was possible: bash is denied, and the next git call of the harness runs a command."""
    evil = "[core]\n\tfsmonitor = touch mark; false\n[core]"
    client = lk.scripted(
        [
            lk.use("edit_file", path=".git/config", old_text="[core]", new_text=evil),
            lk.use("bash", command="touch mark"),
            lk.use("worktree_create", name="new"),
            lk.use("worktree_status", name="new"),
            lk.say("done"),
        ]
    )
    permission = lk.Permission({"bash": "deny", "worktree_run": "deny", "*": "allow"})
    with client.clock:
        agent = lk.full_agent(client, root, permission=permission)
        agent.run("Go.")
    ended = [e.data for e in agent.events if e.type == "tool.ended"]
    assert [one["is_error"] for one in ended] == [True, True, False, False]
    assert "belongs to git" in ended[0]["output"]
    lk.LocalShell().run("git status", root)  # the user's own
    assert not list(root.rglob("mark"))


def _all(root: Path) -> dict[str, bytes | None]:
    return {
        os.path.join(folder, name): Path(folder, name).read_bytes()  # noqa: PTH118
        for folder, _, names in os.walk(root)
        for name in names
    }

"""``learnkit mine``: the learner's classes at work on a copy; nothing else is touched or left."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from messages_server import serving

import learnkit as lk
from learnkit import UsageError
from learnkit.terminal import mine
from learnkit.terminal.mine import Order
from learnkit.terminal.mine_run import mechanisms

GOOD = "import learnkit as lk\n\n\nclass Patient(lk.Todo):\n    pass\n"
TWO = f"""{GOOD}

class Second(lk.Todo):
    pass


class Needs(lk.Mechanism):
    def __init__(self, board, *more, size=1):
        pass


class Polite(lk.Mechanism):
    def on_stop(self, agent):
        return None


def helper():
    pass
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit and a file that is not committed; temporary files beside it."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    for command in ("init -q -b main", "add .", "commit -qm begin"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    (folder / "draft.txt").write_text("mine\n")
    return folder


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    file = tmp_path / "my_agent.py"
    file.write_text(TWO)
    return file


def state(folder: Path) -> dict[str, str]:
    """Every file with its content, git's too; git may refresh its index when it is asked."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "index")
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def nothing_is_left(repository: Path) -> bool:
    """No temporary folder, and no process with ours in its environment."""
    temporary = repository.parent / "temporary"
    assert list(temporary.iterdir()) == []
    for process in Path("/proc").glob("[0-9]*/environ"):
        try:
            found = process.read_bytes()
        except OSError:
            continue
        assert not (str(temporary).encode() in found and b"LEARNKIT_MINE=" in found), process
    return True


def said(repository: Path, order: Order, width: int = 80) -> list[str]:
    lines = list(mine.run(repository, order, width))
    return [one for line in lines for one in line.splitlines()]


def failure(repository: Path, agent: Path, **options: object) -> str:
    before = state(repository)
    with pytest.raises(UsageError) as error:
        said(repository, replace(Order(str(agent)), **options))  # type: ignore[arg-type]
    assert state(repository) == before
    assert nothing_is_left(repository)
    return str(error.value)


@pytest.mark.slow
def test_the_command_works_on_a_copy_and_says_what_became_of_it(
    repository: Path, agent: Path
) -> None:
    before = state(repository)
    command = Path(sys.executable).with_name("learnkit")
    shown = subprocess.run(
        [command, "mine", repository, "--agent", agent],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[:3] == [
        f"A copy of {repository}; the original is not touched.",
        "1 change that you have not committed: not in the copy.",
        "my_agent.py: Patient, Polite",
    ]
    assert lines[3].startswith("Model: a stand-in that follows rules, not an LLM. ")
    assert "Done. I did this by rule:" in lines
    assert any(" todo items: " in line for line in lines)
    end = lines[lines.index("Your part of the loop:") :]
    assert "  ● tools: offers tools ← Patient" in end
    assert "  ● on_stop: lets it go on ← Polite" in end
    assert "  ○ refuse: stops a call" in end
    assert end[end.index("Changed in the copy:") + 1].split() == ["my_agent.md", "|", "1", "+"]
    assert end[end.index("Left out:") + 1 :] == [
        "  Second: its tool 'todo' is already that of Patient",
        "  Needs: its constructor needs board",
        "",
        "Not mechanisms: helper",
    ]
    assert state(repository) == before
    assert nothing_is_left(repository)


@pytest.mark.slow
def test_the_report_fits_forty_columns(
    repository: Path, agent: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = said(repository, Order(str(agent), "create b.txt that says x", ("Patient",)), 40)
    report = lines[lines.index("Your part of the loop:") :]
    assert max(map(len, report)) <= 40
    assert "  Patient: you asked for that" in report
    assert "  ● tools: offers tools ← Second" in report
    assert "created b.txt" in capfd.readouterr().out
    assert nothing_is_left(repository)


@pytest.mark.slow
def test_what_the_agent_commits_counts_as_changed_too(repository: Path, agent: Path) -> None:
    subprocess.run(["git", "rm", "-q", "a.txt"], cwd=repository, check=True)
    agent.write_text(
        f"{GOOD}\nimport subprocess\nfrom pathlib import Path\n\n"
        "class Commits(lk.Mechanism):\n    def on_stop(self, agent):\n"
        "        Path('c.txt').write_text('c')\n"
        "        subprocess.run(['git', 'add', '.'], check=True)\n"
        "        subprocess.run(['git', 'commit', '-qm', 'c'], check=True)\n"
        "        assert not subprocess.check_output(['git', 'remote'])\n"
    )
    lines = said(repository, Order(str(agent), "create b.txt that says x"))
    assert [line.split()[0] for line in lines if " | " in line] == ["b.txt", "c.txt"]


@pytest.mark.slow
def test_a_repository_without_a_commit_is_an_empty_copy(tmp_path: Path, agent: Path) -> None:
    empty = tmp_path / "empty"
    subprocess.run(["git", "init", "-q", empty], check=True)
    lines = said(empty, Order(str(agent), "create b.txt that says x"))
    assert [line.split()[0] for line in lines if " | " in line] == ["b.txt"]


def test_the_copy_shares_no_file_and_no_remote_with_the_original(
    repository: Path, tmp_path: Path
) -> None:
    base = mine._clone(repository, tmp_path / "copy")
    assert len(base) == 40
    objects = [path for path in (tmp_path / "copy/.git/objects").rglob("*") if path.is_file()]
    assert objects
    assert {path.stat().st_nlink for path in objects} == {1}
    assert "remote" not in (tmp_path / "copy/.git/config").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            f"{GOOD}\nraise KeyError('x')\n",
            "KeyError: 'x', in line 7 of my_agent.py: raise KeyError('x')",
        ),
        (f"{GOOD}class\n", "SyntaxError: invalid syntax, in line 6 of my_agent.py: class"),
        (f"{GOOD}\nimport sys\nsys.exit(3)\n", "SystemExit: 3, in line 8 of my_agent.py"),
        (f"{GOOD}\nimport os\nos._exit(3)\n", "my_agent.py ended its process, with exit code 3"),
        (
            "import learnkit as lk\n\n\nclass P(lk.Todo):\n    def on_stopp(self, agent): ...\n",
            ", in line 4 of my_agent.py",
        ),
        (
            f"{GOOD}    def on_stop(self, agent):\n        1 / 0\n",
            "ZeroDivisionError: division by zero, in line 7 of my_agent.py: 1 / 0",
        ),
    ],
)
def test_an_error_is_a_sentence_with_the_line(
    source: str, why: str, repository: Path, agent: Path
) -> None:
    agent.write_text(source)
    assert why in failure(repository, agent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            f"{GOOD}\nwhile True:\n    x = 1\n",
            "my_agent.py could not be imported within 2 s, and was stopped, in line ",
        ),
        (
            f"{GOOD}\nwhile True:\n    try:\n        while True: pass\n"
            "    except BaseException: pass\n",
            "my_agent.py could not be imported within 2 s, and was stopped",
        ),
        (
            f"{GOOD}    def on_stop(self, agent):\n        while True:\n            x = 1\n",
            "your agent did not come to an end within 5 s, and was stopped, in line ",
        ),
        (
            f"{GOOD}\nimport subprocess\nsubprocess.run(['setsid', 'sleep', '600'])\n",
            "my_agent.py could not be imported within 2 s, and was stopped, in line 8 of",
        ),
    ],
)
def test_an_endless_loop_is_stopped(
    source: str, why: str, repository: Path, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mine, "IMPORT", 2.0 if "import" in why else 60.0)
    monkeypatch.setattr(mine, "RUN", 5.0)  # it must come as far as on_stop, on a busy machine
    agent.write_text(source)
    assert failure(repository, agent).startswith(why)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_of_it(number: int, repository: Path, agent: Path) -> None:
    agent.write_text(
        f"{GOOD}\nfrom pathlib import Path\nPath({str(agent)!r} + '.begun').touch()\n"
        "while True: pass\n"
    )
    before = state(repository)
    program = str(Path(sys.executable).with_name("learnkit"))
    command = [program, "mine", str(repository), "--agent", str(agent)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while not Path(f"{agent}.begun").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(30) != 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert state(repository) == before
    assert nothing_is_left(repository)


def test_what_cannot_work_is_a_sentence(repository: Path, agent: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in no git repository"):
        said(tmp_path / "temporary", Order(str(agent)))
    with pytest.raises(UsageError, match="is no folder"):
        said(tmp_path / "nowhere", Order(str(agent)))
    assert "it is made when the check of an exercise passes" in failure(repository, tmp_path / "x")


@pytest.mark.slow
def test_live_asks_first_and_then_asks_the_server(
    repository: Path, agent: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = str(Path(sys.executable).with_name("learnkit"))
    command = [program, "mine", str(repository), "write b.txt", "--agent", str(agent), "--live"]

    def run(answers: str, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more],
            input=answers,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **env},
        )

    without = run("")
    assert without.returncode == 2
    assert "needs a key" in without.stderr
    replies = [lk.use("write_file", path="b.txt", content="b\n"), lk.say("Written.")]
    with serving(replies) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        for answer in ("n\n", ""):
            refused = run(answer, **env)
            assert "Ask the API?" in refused.stdout
            assert refused.stderr == "learnkit: the API was not asked\n"
        assert server.bodies == []
        allowed = run("y\no\n", **env)
    assert allowed.returncode == 0, allowed.stderr
    assert "Written." in allowed.stdout
    assert "b.txt | 1 +" in allowed.stdout
    assert len(server.bodies) == 2
    assert not (repository / "b.txt").exists()
    assert nothing_is_left(repository)


def test_classes_are_left_out_with_their_reason() -> None:
    module = ModuleType("my_agent")
    source = TWO + (
        "\n\nAlias = Patient\n\n\nclass Broken(lk.Mechanism):\n"
        "    def __init__(self):\n        raise ValueError('no')\n"
        "\n\nclass Bash(lk.Mechanism):\n"
        "    @lk.tool\n    def bash(self, command: str) -> str:\n        'x'\n        return ''\n"
    )
    exec(compile(source, "my_agent.py", "exec"), vars(module))
    module.__file__ = "my_agent.py"
    made, left_out = mechanisms(module, ["Polite"])
    assert [type(one).__name__ for one in made] == ["Patient"]
    assert list(left_out) == ["Second", "Needs", "Polite", "Broken", "Bash"]
    assert left_out["Broken"].startswith("it could not be made: ValueError: no, in line ")
    assert left_out["Bash"] == "its tool 'bash' is already that of learnkit's CodingTools"

"""``%%agent``: cells become part of the module ``agent``, and of the learner's own file."""

from __future__ import annotations

import linecache
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from learnkit.course import progress
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.agent_file.own import NAME, state_name, write_reference
from learnkit.course.agent_file.source import Source, split
from learnkit.errors import UsageError


@pytest.fixture(autouse=True)
def _no_module() -> Iterator[None]:
    yield
    sys.modules.pop("agent", None)


def test_the_file_grows_by_the_cells_as_the_learner_has_them(tmp_path: Path) -> None:
    cells = AgentCells("s01", tmp_path)
    for text in (
        "X = 1",
        "import os\n\n\ndef f():\n    return os.sep\n",
        "def f():\n    return X\n",
    ):
        cells.run("", text)
    text = (tmp_path / "agent.py").read_text()
    assert split(text)["s01 agent loop"] == "X = 1\n\n\ndef f():\n    return X\n"
    assert "import os" not in text  # nothing uses it any more
    assert "# %% main\ndef main()" in text
    again = AgentCells("s01", tmp_path)
    again.run("", "X = 1")
    assert (tmp_path / "agent.py").read_text() == text


def test_what_the_learner_has_changed_is_kept_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells, path = AgentCells("s01", tmp_path), tmp_path / "agent.py"
    cells.run("", "import os\n\nX = os.sep\n")
    path.write_text("import shutil\n" + path.read_text().replace("X = os.sep", "X = 'own'"))
    capsys.readouterr()
    cells.run("", "import re\n\nX = re.sub('a', 'b', os.sep)\n")
    assert "You have changed the part “s01 agent loop”" in capsys.readouterr().out
    sections = split(path.read_text())
    assert sections["s01 agent loop"] == "X = 'own'\n"
    assert sections["s01 agent loop, from the lesson"] == "X = re.sub('a', 'b', os.sep)\n"
    assert sections[""].startswith("import shutil\n")
    assert sections[""].endswith("import re\n")
    cells.run("", "X = re.sub('a', 'b', os.sep)\n")  # nothing new: nothing to say
    assert "You have" not in capsys.readouterr().out
    assert split(path.read_text()) == sections


def test_a_cell_says_what_it_has_made_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    cells = AgentCells("s01", None)
    for source in ("X = 0", "X = 0", "X = 1", "X = 1\nY = 2"):
        cells.run("", source)
    said = [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    number = int(said[0].split()[-2])
    same = f"{number} lines, "
    assert said[1:] == [same + "as before", same + "changed", f"{number} → {number + 1} lines"]


@pytest.mark.parametrize(
    ("cell", "error", "says"),
    [
        ("def f(:", SyntaxError, "invalid syntax"),
        ("X = 1\nprint(X)", UsageError, "line 2: 'print(X)' does something at once"),
        ("for x in 'ab':\n    X = x", UsageError, "cell of its own"),
        ("X = int('no number')", ValueError, "invalid literal"),
        ("X = [print(1)] and g()", NameError, "g"),
    ],
)
def test_a_cell_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, cell: str, error: type[BaseException], says: str
) -> None:
    cells, path = AgentCells("s01", tmp_path), tmp_path / "agent.py"
    cells.run("", "X = 0")
    before = {one.name: one.read_text() for one in tmp_path.iterdir()}
    with pytest.raises(error, match=re.escape(says)):
        cells.run("", cell)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == before
    assert path.name in before


def test_a_syntax_error_points_to_its_line_in_the_cell() -> None:
    cells = AgentCells("s01", None)
    cells.run("", "X = 0")
    for text in ("X = 1\n\ndef f(:", "X = 1\n\ndef g(:"):  # the first line is the magic
        with pytest.raises(SyntaxError) as caught:
            cells.run("", text)
        error = caught.value
        assert error.lineno == 4
        assert error.filename
        assert linecache.getline(error.filename, error.lineno) == text.splitlines()[2]


def test_the_reference_is_written_and_replaces_no_other_file(tmp_path: Path) -> None:
    command = "from learnkit.terminal.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", command, "agent", "s05"], cwd=tmp_path, check=True, timeout=60
    )
    path = tmp_path / "agent.py"
    assert path.read_text() == str(Source.reference("s05"))
    write_reference("s05", tmp_path)
    with pytest.raises(UsageError, match="learnkit agent s04 --force"):
        write_reference("s04", tmp_path)
    write_reference("s04", tmp_path, force=True)
    with pytest.raises(UsageError, match="there is no lesson 's13'"):
        write_reference("s13", tmp_path)
    AgentCells("s05", tmp_path).run("", "X = 1")  # it goes on from learnkit's text
    assert split(path.read_text())["s05 skills"] == "X = 1\n"
    assert (tmp_path / state_name(NAME)).exists()


@pytest.mark.slow
def test_a_lesson_has_the_magic_and_writes_only_in_front_of_a_learner(tmp_path: Path) -> None:
    (tmp_path / progress.STATE).write_text("{}")  # a working copy
    code = """
from learnkit import lesson
lab = lesson("s02")
get_ipython().run_cell_magic("agent", "", "X = 1")
import agent
assert agent.X == 1
assert agent.Agent().specs[0]["name"] == "bash"
"""
    for static, written in (("1", False), ("0", True)):
        live = {**os.environ, progress.SETTING: str(tmp_path), "LEARNKIT_STATIC": static}
        manager, client = start_new_kernel(kernel_name="python3", env=live, cwd=str(tmp_path))
        try:
            reply = client.execute_interactive(code, output_hook=lambda _: None, timeout=60)
            assert reply["content"]["status"] == "ok", reply["content"]
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        assert (tmp_path / "agent.py").exists() == written

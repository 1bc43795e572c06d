"""Running the course: the same bytes every time, failures named, and no kernel left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError

from learnkit.course import files as course_files
from learnkit.course.publish import execute

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_kernel_is_left() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    after = {child.pid for child in psutil.Process().children(recursive=True)}
    assert after <= before, "a kernel outlived its notebook"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "n.ipynb"


def notebook(path: Path, *sources: str, tags: tuple[str, ...] = ()) -> Path:
    cells = [nbformat.v4.new_code_cell(source, id=f"c{n}") for n, source in enumerate(sources)]
    if tags:
        cells[-1].metadata.tags = list(tags)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_refreshing_twice_changes_no_byte(path: Path) -> None:
    notebook(path, "1 + 1", "print('a')\nprint('b')", "import sys; print('c', file=sys.stderr)")
    assert execute.refresh(path) is True
    first = path.read_bytes()
    assert execute.refresh(path) is False
    assert path.read_bytes() == first
    made = nbformat.read(path, as_version=4)
    assert [cell.execution_count for cell in made.cells] == [1, 2, 3]
    assert dict(made.metadata) == course_files.METADATA
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_what_differs_between_machines_is_left_out(path: Path) -> None:
    notebook(path, "1", "raise ValueError('as meant')", tags=("raises-exception",))
    noisy = nbformat.read(path, as_version=4)
    noisy.metadata = {"widgets": {"state": {}}, "kernelspec": {"name": "mine"}, "author": "me"}
    noisy.cells[0].metadata = {"execution": {"iopub.status.busy": "now"}, "scrolled": True}
    nbformat.write(noisy, path)
    made = execute.execute(path)
    assert dict(made.metadata) == course_files.METADATA
    assert [dict(cell.metadata) for cell in made.cells] == [{}, {"tags": ["raises-exception"]}]
    (error,) = made.cells[1].outputs
    assert error.traceback == ["ValueError: as meant"]
    assert made.cells[0].outputs[0].execution_count == 1
    assert nbformat.read(path, as_version=4) == noisy, "execute changes no file"


def test_a_failing_cell_is_named_and_leaves_the_file(path: Path) -> None:
    notebook(path, "x = 0", "y = 1\n\ny / x", "never = 1")
    before = path.read_bytes()
    with pytest.raises(CellExecutionError) as caught:
        execute.refresh(path)
    assert execute.failure(caught.value) == (
        "a cell failed with ZeroDivisionError: division by zero\n\ny = 1\n\ny / x"
    )
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_cell_that_does_not_end_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "CELL_TIMEOUT", 1)
    with pytest.raises(CellTimeoutError) as caught:
        execute.execute(notebook(path, "import time; time.sleep(60)"))
    assert isinstance(caught.value, execute.FAILURES)
    assert execute.failure(caught.value).startswith("a cell was not done after 1 s")


def test_ones_own_settings_change_no_output(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {
        "ANTHROPIC_API_KEY": "a-key-of-mine",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        "LEARNKIT_MODE": "live",
        "LEARNKIT_MODEL": "a-model",
        "LEARNKIT_RECORDINGS": "elsewhere",
        "LEARNKIT_STATIC": "0",
    }
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    seen = f"import os\nprint([os.environ.get(name) for name in {list(mine)}])"
    live = "from learnkit.runtime import notebook\nprint(notebook.in_kernel(), notebook.is_live())"
    notebook(path, seen, live)
    before = dict(os.environ)
    said, in_front = (cell.outputs[0].text for cell in execute.execute(path).cells)
    assert said == "[None, None, None, None, None, '1']\n"
    assert in_front == "True False\n"
    recording = {"LEARNKIT_MODE": "record", "LEARNKIT_RECORDINGS": "here"}
    said = execute.execute(path, recording).cells[0].outputs[0].text
    assert said == ("['a-key-of-mine', 'http://127.0.0.1:1', 'record', 'a-model', 'here', '1']\n")
    assert dict(os.environ) == before

"""Charts: what they say in numbers is right, and stands beside the picture as text."""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

import learnkit as lk
from learnkit.course import files as course_files
from learnkit.course.publish import execute as verify


@dataclass
class Run:
    completed: bool
    repeated: int
    tokens: int = 1_000


OFF = [Run(number % 4 == 0, number % 3, 20_000 + number) for number in range(200)]
ON = [Run(number % 10 != 0, 0) for number in range(200)]


def test_the_table_holds_means_and_intervals_that_statistics_gives_too() -> None:
    chart = lk.charts.compare({"off": OFF, "on": ON}, ["completed", "repeated", "tokens"], "A.")
    repeated = [run.repeated for run in OFF]
    spread = 1.96 * statistics.stdev(repeated) / 200**0.5
    off, on = chart.rows
    assert off[:2] == ("off", "25 % ± 6")
    assert off[2] == f"{statistics.mean(repeated):.2f} ± {spread:.2f}"
    assert off[3].startswith("20,100 ± ") or off[3].startswith("20,099 ± ")
    assert on == ("on", "90 % ± 4", "0.00 ± 0.00", "1,000 ± 0")


def test_the_text_form_is_a_table_under_the_title() -> None:
    chart = lk.charts.bars({"a": {"read": 10, "written": 5}, "b": {"read": 2}}, "B is less.", "tok")
    assert str(chart).splitlines() == [
        "B is less.",
        "tok  read  written  together",
        "a      10        5        15",
        "b       2        0         2",
    ]


def test_the_turns_of_a_run_are_its_replies_in_one_lane() -> None:
    log = lk.EventLog()
    for lane, length in (("lead", 100), ("alice", 900), ("lead", 300)):
        usage = {"input_tokens": 10, "cache_read_input_tokens": length - 10}
        log.append("model.replied", lane=lane, usage=usage)
    log.append("model.replied", usage={"input_tokens": 5_000}, purpose="summary")
    chart = lk.charts.tokens({"one": log}, "It grows.", threshold=250)
    assert chart.rows == (("one", "2", "300", "300", "400"),)


def test_the_same_numbers_give_the_same_bytes() -> None:
    one, other = (lk.charts.compare({"off": OFF}, ["repeated"], "One.") for _ in range(2))
    assert one.png == other.png
    assert one.png.startswith(b"\x89PNG")
    assert len(one.png) < 60_000


def test_in_front_of_a_reader_the_alt_text_is_in_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    monkeypatch.setattr("learnkit.views.charts.is_live", lambda: True)
    lk.charts.bars({"a": {"read": 10}}, 'Lists "<help>".', "tok")._ipython_display_()
    html = shown[0]["text/html"]
    assert ' alt="Lists &quot;&lt;help&gt;&quot;. Numbers: below."' in html
    assert html.startswith('<img width="760" height="')
    assert 'src="data:image/png;base64,' in html
    assert "<td>a</td>" in shown[1]["text/html"]


def test_a_notebook_shows_the_picture_with_an_alt_text_and_the_table(tmp_path: Path) -> None:
    source = 'import learnkit as lk\nlk.charts.bars({"a": {"read": 10}}, "Lists <help>.", "tok")'
    cell = nbformat.v4.new_code_cell(source, id="cell-01")
    book = nbformat.v4.new_notebook(
        cells=[cell], metadata=nbformat.from_dict(course_files.METADATA)
    )
    nbformat.write(book, tmp_path / "n.ipynb")
    picture, table = verify.execute(tmp_path / "n.ipynb").cells[0].outputs
    assert "Lists <help>." in picture.metadata["image/png"]["alt"]
    assert picture.metadata["image/png"]["width"] == 760
    assert picture.data["text/plain"] == "chart: Lists <help>."
    assert "<td>a</td>" in table.data["text/html"]
    assert table.data["text/plain"].startswith("Lists <help>.\ntok  read")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: lk.charts.compare({}, [], "x"), "a measure"),
        (lambda: lk.charts.compare({"off": OFF[:1]}, ["repeated"], "x"), "at least two runs"),
        (lambda: lk.charts.bars({}, "x"), "from 0 up"),
        (lambda: lk.charts.bars({"a": {"b": -1}}, "x"), "from 0 up"),
        (lambda: lk.charts.tokens({"a": lk.EventLog()}, "x"), "replies to 'lead'"),
        (lambda: lk.charts.tokens({}, "x"), "replies to 'lead'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Any, words: str) -> None:
    with pytest.raises(lk.UsageError, match=words):
        draw()


def test_matplotlib_is_imported_when_a_chart_is_drawn_and_not_before() -> None:
    code = "import sys, learnkit as lk; lk.charts.compare; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

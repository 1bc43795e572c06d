"""Charts: what they say in numbers is right, and stands beside the picture as text."""

from __future__ import annotations

import base64
import re
import statistics
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


def test_the_turns_of_a_run_are_its_replies_in_one_lane() -> None:
    log = lk.EventLog()
    for lane, length in (("lead", 100), ("alice", 900), ("lead", 300)):
        usage = {"input_tokens": 10, "cache_read_input_tokens": length - 10}
        log.append("model.replied", lane=lane, usage=usage)
    log.append("model.replied", usage={"input_tokens": 5_000}, purpose="summary")
    chart = lk.charts.tokens({"one": log}, "It grows.", threshold=250)
    assert chart.rows == (("one", "2", "300", "300", "400"),)


def test_the_bars_have_the_lengths_of_the_means_and_the_first_is_to_compare() -> None:
    canvas = lk.charts.compare({"off": OFF, "on": ON}, ["completed", "tokens"], "A.").canvas
    off, on = canvas["bar off completed"], canvas["bar on completed"]
    assert (off.mark, on.mark) == ("plain", "cause")
    assert on.width / off.width == pytest.approx(0.9 / 0.25, rel=0.01)
    assert canvas["number off completed"].lines == ("25 %",)
    assert canvas["label on"].y == canvas["number on tokens"].y


def test_an_interval_is_a_line_with_ends_and_none_where_it_would_read_as_a_minus_sign() -> None:
    canvas = lk.charts.compare({"off": OFF, "on": ON}, ["completed", "repeated"], "A.").canvas
    line = canvas["interval off completed"]
    assert line.path.startswith("M0 0H")
    assert line.path.count("v8") == 2
    mean, room = canvas["bar off completed"], 100 * 0.06 / 0.25
    assert line.x < mean.x + mean.width < line.x + room
    assert "interval on repeated" not in canvas  # its length is 0
    assert "95 %" in canvas["method"].lines[0]
    without = lk.charts.compare({"on": ON, "more": ON}, ["repeated", "tokens"], "A.").canvas
    assert not [one.key for one in without.shapes if one.key.startswith(("interval", "method"))]


def test_parts_of_the_cache_have_the_colours_of_the_cache() -> None:
    books = {"never": {"from the cache": 90, "written to it": 10}, "often": {"from the cache": 30}}
    canvas = lk.charts.bars(books, "Often is less.").canvas
    cached, new = canvas["bar never from the cache"], canvas["bar never written to it"]
    assert (cached.mark, new.mark) == ("cached", "fresh")
    assert new.x == pytest.approx(cached.x + cached.width, abs=0.1)
    assert cached.width / canvas["bar often from the cache"].width == pytest.approx(3, rel=0.01)
    other = lk.charts.bars({"a": {"read": 1, "written": 2}}, "x").canvas
    assert (other["bar a read"].mark, other["bar a written"].mark) == ("cause", "plain")


def test_parts_that_share_a_colour_each_have_a_legend() -> None:
    parts = {"written to it": 10, "new or rewritten": 5, **dict.fromkeys("abcdefghijklmnop", 1)}
    canvas = lk.charts.bars({"often": parts}, "Often is more.").canvas
    legend = [one for one in canvas.shapes if one.key.startswith("legend ")]
    assert [one.lines for one in legend] == [(name,) for name in parts]
    swatches = [one.mark for one in canvas.shapes if one.key.startswith("swatch ")]
    assert swatches == [canvas[f"bar often {name}"].mark for name in parts]
    assert swatches[:2] == ["fresh", "fresh"]


def test_a_run_is_drawn_as_steps_on_one_scale_with_the_threshold() -> None:
    log = lk.EventLog()
    for length in (100, 200, 50):
        log.append("model.replied", usage={"input_tokens": length})
    canvas = lk.charts.tokens({"one": log}, "It falls.", threshold=200).canvas
    heights = [float(one) for one in re.findall(r"[V ]([\d.]+)h", canvas["run one"].path)]
    base, top = canvas["line 0"].y, canvas["threshold"].y
    assert [round((base - y) / (base - top) * 200) for y in heights] == [100, 200, 50]


def test_the_picture_is_dark_on_a_dark_page_and_has_a_ground_of_its_own() -> None:
    chart = lk.charts.compare({"off": OFF}, ["repeated"], "One.")
    (data,) = re.findall(r'base64,([^"]+)"', chart._repr_mimebundle_()["text/html"])
    svg = base64.b64decode(data).decode()
    assert "@media(prefers-color-scheme:dark){:root{--lk-ink:" in svg
    assert 'style="fill:var(--lk-ground)"/>' in svg
    assert len(data) < 8_000


def test_in_front_of_a_reader_it_has_the_colours_of_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("learnkit.views.charts.is_live", lambda: True)
    chart = lk.charts.bars({"a": {"read": 10}}, 'Lists "<help>".', "tok")
    html = chart._repr_mimebundle_()["text/html"]
    assert ' aria-label="Lists &quot;&lt;help&gt;&quot;. The numbers are in' in html
    assert "[data-jp-theme-light=false] .lk-inline{--lk-ink:" in html
    assert "<td>a</td>" in html


@pytest.mark.slow
def test_a_notebook_shows_the_picture_with_an_alt_text_and_the_table(tmp_path: Path) -> None:
    source = 'import learnkit as lk\nlk.charts.bars({"a": {"read": 10}}, "Lists <help>.", "tok")'
    cell = nbformat.v4.new_code_cell(source, id="cell-01")
    book = nbformat.v4.new_notebook(
        cells=[cell], metadata=nbformat.from_dict(course_files.METADATA)
    )
    nbformat.write(book, tmp_path / "n.ipynb")
    (shown,) = verify.execute(tmp_path / "n.ipynb").cells[0].outputs
    assert '<img alt="Lists &lt;help&gt;.' in shown.data["text/html"]
    assert "<td>a</td>" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("Lists <help>.\ntok  read")


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

"""The HTML edition: pages that hold what they show, and lead to each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import executed
import pytest
from project import ROOT
from typer.testing import CliRunner

from learnkit.course.publish.html import build, lesson
from learnkit.errors import UsageError
from learnkit.terminal.cli import app

pytestmark = pytest.mark.slow

COURSE = ROOT / "notebooks"
#: Links that lead out of the edition: the sources of what others claim, and Binder.
OUT = ("https://", "mailto:")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of lesson 1, built as a reader of the README would."""
    folder = tmp_path_factory.mktemp("site") / "deep"
    lines = list(build(COURSE, folder, ["s01"]))
    assert [line.partition(":")[0] for line in lines] == [
        "s01_agent_loop.html",
        "index.html",
        "glossary.html",
    ]
    return folder


def pages(site: Path) -> list[tuple[str, str]]:
    return [(path.name, path.read_text("utf-8")) for path in sorted(site.glob("*.html"))]


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    for name, text in pages(site):
        assert "default-src 'none'" in text, name
        assert not re.findall(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=[\"'](?!data:)", text)


def test_links_lead_to_a_page_and_to_an_anchor_that_is_there(site: Path) -> None:
    known = {path.stem + ".html" for path in COURSE.glob("s*.ipynb")} | {
        "index.html",
        "glossary.html",
    }
    texts = dict(pages(site))
    around, _ = re.findall(r"<nav>.*?</nav>", texts["s01_agent_loop.html"])
    links = re.findall(r"href=[\"'](.+?)[\"']", around)
    assert links == ["index.html", "s02_tools.html", "glossary.html"], "nothing is before it"
    for name, text in texts.items():
        for _, quoted in re.findall(r"<a [^>]*href=([\"'])(.+?)\1", text):
            href = unescape(quoted)
            if href.startswith(OUT):
                continue
            page, _, anchor = href.partition("#")
            assert not page or page in known, f"{name}: {href}"
            if anchor and (page or name) in texts:
                assert f'id="{anchor}"' in unescape(texts[page or name]), f"{name}: {href}"


def test_every_view_of_the_lesson_is_a_tape(site: Path) -> None:
    text = (site / "s01_agent_loop.html").read_text("utf-8")
    tapes = text.count('<div class="lk-tape">')
    assert tapes >= 5
    assert text.count('<script type="application/gzip">') == tapes
    assert text.count('<script type="module">') == 1
    assert "raises-exception" in text, "the cell that fails is there too"


def test_the_steps_of_a_lessons_views_are_counted_and_more_than_60_are_too_many(
    site: Path,
) -> None:
    found = executed.stops((site / "s01_agent_loop.html").read_text("utf-8"))
    assert found
    assert all(name and 0 < steps <= 60 for name, steps in found)
    run = executed.Run(steps=[("team", 61), ("traffic", 60)])
    assert executed.few_steps(run) == ["the team has 61 steps"]


def test_a_lesson_is_under_600_kilobytes(site: Path) -> None:
    for name, text in pages(site):
        assert len(text.encode()) < 600_000, name


def test_all_that_the_notebook_says_is_on_the_page(site: Path) -> None:
    import nbformat

    text = (site / "s01_agent_loop.html").read_text("utf-8")
    plain = re.sub(r"<[^>]+>", "", text)
    for cell in nbformat.read(COURSE / "s01_agent_loop.ipynb", as_version=4).cells:
        for heading in re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE):
            if cell.cell_type == "markdown":
                assert re.sub(r"[`*]", "", heading) in plain


def test_a_run_that_is_not_there_or_not_of_this_lesson_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no .*s01_agent_loop.ipynb; run pytest"):
        list(build(COURSE, tmp_path / "site", ["s01"], executed=tmp_path))
    (tmp_path / "s01_agent_loop.ipynb").write_bytes((COURSE / "s02_tools.ipynb").read_bytes())
    with pytest.raises(UsageError, match="has other cells than"):
        list(build(COURSE, tmp_path / "site", ["s01"], executed=tmp_path))


def test_the_pages_of_a_run_that_was_made_before_are_those_of_a_new_one(
    site: Path, tmp_path: Path
) -> None:
    """The run is nbval's: tapes beside outputs that compare as committed."""
    command = [sys.executable, "-m", "pytest", "--nbval", "-n=0", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "notebooks/s01_agent_loop.ipynb"],
        cwd=ROOT,
        env={**os.environ, executed.KEEP: str(tmp_path / "runs")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    list(build(COURSE, tmp_path / "site", ["s01"], executed=tmp_path / "runs"))
    for name, text in pages(site):
        assert (tmp_path / "site" / name).read_text("utf-8") == text, name


def test_what_a_cell_has_printed_hides_nothing(tmp_path: Path) -> None:
    import nbformat

    book = nbformat.read(COURSE / "s01_agent_loop.ipynb", as_version=4)
    code = next(cell for cell in book.cells if cell.cell_type == "code")
    code.outputs = [nbformat.v4.new_output("stream", text="a\U000e0069\u202e<b>\u00ad")]
    nbformat.write(book, tmp_path / "s01_agent_loop.ipynb")
    body = lesson(COURSE / "s01_agent_loop.ipynb", tmp_path / "s01_agent_loop.ipynb")
    assert "a⟨U+E0069⟩⟨U+202E⟩&lt;b&gt;⟨U+00AD⟩" in body


def test_an_unknown_lesson_is_named(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["html", "s01", "s77", "--out", str(tmp_path / "x")])
    assert "there is no lesson 's77'" in str(shown.exception)
    assert not (tmp_path / "x").exists()

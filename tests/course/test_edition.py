"""The HTML edition: pages that hold what they show, and lead to each other."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from project import ROOT

from learnkit.course import files
from learnkit.course.publish.html import build

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


def test_a_page_loads_nothing_from_elsewhere_and_is_under_600_kilobytes(site: Path) -> None:
    for name, text in pages(site):
        assert "default-src 'none'" in text, name
        assert not re.findall(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=[\"'](?!data:)", text)
        assert len(text.encode()) < 600_000, name


def test_links_lead_to_a_page_and_to_an_anchor_that_is_there(site: Path) -> None:
    every = [f"{path.stem}.html" for path in files.named(COURSE).values()]
    known = {*every, "index.html", "glossary.html"}
    texts = dict(pages(site))
    course, lesson, around = (
        re.findall(r"href=[\"'](.+?)[\"']", nav)
        for nav in re.findall("<nav.*?</nav>", texts["s01_agent_loop.html"], re.DOTALL)
    )
    assert course == ["index.html", *every, "glossary.html"]
    assert len(lesson) == texts["s01_agent_loop.html"].count("<h2 ")
    assert around == ["s02_tools.html"], "nothing is before it"
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
    assert tapes == 3
    assert text.count('<script type="application/gzip">') == tapes
    assert text.count('<script type="module">') == 1
    assert "lk-sheet" not in (site / "index.html").read_text("utf-8"), "it has nothing to play"
    assert "raises-exception" in text, "the cell that fails is there too"


def test_all_that_the_notebook_says_is_on_the_page(site: Path) -> None:
    text = (site / "s01_agent_loop.html").read_text("utf-8")
    plain = re.sub(r"<[^>]+>", "", text)
    for cell in nbformat.read(COURSE / "s01_agent_loop.ipynb", as_version=4).cells:
        for heading in re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE):
            if cell.cell_type == "markdown":
                assert re.sub(r"[`*]", "", heading) in plain

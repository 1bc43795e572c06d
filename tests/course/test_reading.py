"""Reading without running: what a repository page, which strips much, still shows of a lesson.

Such pages take out styles, scripts and inline SVG. What is left has to be whole: the facts of every
view, the questions with their answers under a fold.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from project import lessons

from learnkit.course.content import load

#: What repository pages leave out, content included.
STRIPPED = ("style", "script", "svg", "iframe", "object", "button", "form")


class Reader(HTMLParser):
    """The text of a page as such a site shows it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self._hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in STRIPPED

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in STRIPPED

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


@cache
def reader(path: Path) -> Reader:
    body, _ = HTMLExporter(template_name="basic").from_filename(str(path))
    return Reader(body)


def outputs(path: Path) -> list[dict[str, str]]:
    cells = nbformat.read(path, as_version=4).cells
    return [
        {kind: "".join(text) for kind, text in one.get("data", {}).items()}
        for cell in cells
        if cell.cell_type == "code"
        for one in cell.outputs
    ]


each = pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem[:3])


@pytest.mark.slow
@each
def test_every_view_says_its_facts_in_words(path: Path) -> None:
    text = unescape("".join(reader(path).text))
    found = 0
    for one in outputs(path):
        html = one.get("text/html", "")
        if head := re.match(r"<p><strong>(.*?)</strong></p>(?:<p>[^<]*</p>)?<img", html):
            assert unescape(head[1]) in text
            assert "the same in words" in text
            cells = re.findall(r"<td[^>]*>([^<]+)</td>", html)
            assert len(cells) >= 3
            assert all(unescape(cell) in text for cell in cells)
            found += 1
    assert found >= 1


@pytest.mark.slow
@each
def test_questions_and_answers_can_be_read(path: Path) -> None:
    text = " ".join("".join(reader(path).text).split())
    lesson = load(path.stem[:3])
    asked = [*lesson.predictions.values(), *lesson.quiz]
    for one in asked:
        question = getattr(one, "question", None) or getattr(one, "text", "")
        assert " ".join(question.replace("`", "").split()) in text
        for option in one.options.values():
            assert " ".join(option.why.replace("`", "").split()) in text, option.why


@pytest.mark.slow
@each
def test_nothing_on_the_page_waits_for_a_kernel(path: Path) -> None:
    text = "".join(reader(path).text)
    for word in ("Loading widget", "widget-view", "VBox(", "Player(", "Output()"):
        assert word not in text

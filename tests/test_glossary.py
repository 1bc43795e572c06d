"""The glossary: in order, linked from where each word comes first, and nothing links past it."""

from __future__ import annotations

import re
from functools import cache

import nbformat
import pytest
from project import ROOT, lessons

TEXT = (ROOT / "docs" / "glossary.md").read_text("utf-8")
ENTRIES = re.findall(r"^## (.+?)\n\n(.*?)(?=\n## |\Z)", TEXT, re.MULTILINE | re.DOTALL)


def anchor(term: str) -> str:
    return term.lower().replace(" ", "-")


@cache
def links(number: int) -> set[str]:
    """Anchors of the glossary that a lesson links to."""
    (path,) = (path for path in lessons() if path.name.startswith(f"s{number:02}_"))
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return set(re.findall(r"\.\./docs/glossary\.md#([\w-]+)\)", prose))


def test_the_words_stand_in_order_and_once() -> None:
    terms = [term for term, _ in ENTRIES]
    assert len(terms) >= 60
    assert terms == sorted(set(terms), key=str.lower)
    assert all(re.fullmatch(r"[\w -]+", term) for term in terms), "anchors differ between sites"


@pytest.mark.parametrize(("term", "body"), ENTRIES, ids=[term for term, _ in ENTRIES])
def test_a_word_is_explained_and_linked_from_its_first_lesson(term: str, body: str) -> None:
    plain = " ".join(body.split())
    definition, _, first = plain.partition(" First in ")
    number, file = re.fullmatch(
        r"\[lesson (\d+)\]\(\.\./notebooks/(s\d\d_\w+\.ipynb)\)\.", first
    ).groups()  # type: ignore[union-attr]
    assert 20 <= len(definition) <= 260
    assert file.startswith(f"s{int(number):02}_")
    assert anchor(term) in links(int(number))
    assert not any(anchor(term) in links(n) for n in range(1, int(number)))


def test_no_lesson_links_to_a_word_that_is_not_there() -> None:
    known = {anchor(term) for term, _ in ENTRIES}
    assert set.union(*(links(n) for n in range(1, 13))) <= known

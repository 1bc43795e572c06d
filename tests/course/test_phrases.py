"""No page, question or panel uses a phrase of the list; and the list leaves plain English alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import ROOT

from .phrases import PHRASES, banned, shown_strings

#: Text for readers: pages, and the data files of the lessons.
PAGES = sorted(
    path
    for pattern in (
        *("*.md", "docs/*.md", ".github/**/*.md", "learnkit/course/**/*.md"),
        *("learnkit/course/publish/*.html", "learnkit/course/lessons/s*/questions.yaml"),
    )
    for path in ROOT.glob(pattern)
    if path.name not in ("events.md", "CHANGELOG.md")  # generated; says how things were
)
#: Modules with texts that a learner sees: panels, cards, pictures, feedback.
MODULES = sorted(
    path
    for pattern in ("course/**/*.py", "views/**/*.py", "widget/**/*.py", "events/*.py")
    for path in (ROOT / "learnkit").glob(pattern)
)
#: For each phrase, in the order of the list: texts that have it.
GUILTY = (
    ("The answer stands in the table.", "a list stood behind it", "what stands there"),
    ("It comes behind the results.", "behind each of them"),
    ("The agent thinks on while commands run.",),
    ("Killed before: told again.", "no message is told twice", "it is not told"),
    ("Somebody asks for a feature.", "some body"),
    ("A task is nobody's again.", "nobody’s consent"),
    ("a plan of its has no answer", "an error of its was reported", "a plan of its."),
    ("No letter is lost.", "two letters wait", "The letter\nis read."),
    ("✗ not so", "It is not so."),
    ("A tap on the shoulder", "it taps its shoulder"),
    ("with a new life it is dealt with",),
    ("Of long sessions people tell stories.",),
    ("killed with a message in its hands",),
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_is_written_in_plain_words(path: Path) -> None:
    assert banned(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_module_shows_is_in_plain_words(path: Path) -> None:
    assert banned(shown_strings(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(("guilty", "use"), list(zip(GUILTY, PHRASES.values(), strict=True)))
def test_each_phrase_is_found_with_the_word_to_use(guilty: tuple[str, ...], use: str) -> None:
    for text in guilty:
        assert any(one.endswith(f"write {use}") for one in banned(text)), text

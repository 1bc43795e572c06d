"""No page, question or panel uses a phrase of the list; and the list leaves plain English alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import ROOT

from .phrases import PHRASES, banned, shown_strings, spoken

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
INNOCENT = (
    "A script stands in for the model; the stand-in follows rules.",
    "What happens behind the scenes, and behind the real SDK.",
    "It leaves no process behind. The branch is two commits behind.",
    "The user thinks of a number, and tells the agent once more.",
    "the status of its own task, because of its size",
    "Answer with the letter a. Use capital letters, letters and digits, the first letter.",
    "not so much, and not so long ago",
    "`letters` in code, and [there](https://example.org/letters/behind-the-sofa)",
    "It never stood a chance. Standing still is no option. The sensor stands in the sun.",
    "set(name) <= LETTERS",
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


@pytest.mark.parametrize("text", INNOCENT)
def test_an_innocent_use_is_left_alone(text: str) -> None:
    assert banned(text) == []


def test_of_a_cell_comments_and_strings_are_read_and_names_are_not() -> None:
    source = "letters = 1  # no letter is lost\nprint(f'a letter of {letters}')\n"
    assert len(banned(spoken(source))) == 2
    assert banned(spoken("letters = somebody")) == []
    assert spoken("not (Python") == ""


def test_of_a_module_its_strings_are_read_and_docstrings_and_keys_are_not() -> None:
    source = '"""Says a letter."""\nkey = "letter"\nsaid = f"a letter of {key}"\n'
    (found,) = banned(shown_strings(source))
    assert "a letter of" in found

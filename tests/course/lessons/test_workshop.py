"""Lesson 5's workshop: whose line wins which request, and by which words."""

from __future__ import annotations

import html as pages
import re
from typing import Any

import pytest

from learnkit.course.lessons.s05.contest import SKILLS
from learnkit.course.lessons.s05.workshop import REQUESTS, YOURS, try_line
from learnkit.simulation.stand_in.model import StandIn

CLEAR = SKILLS[YOURS][1]

#: Lines that people write, with how many of the four requests for tests they win.
LINES = {
    "House style for tests in heatwatch. Use it before you write or change a test.": 3,
    "Use when someone asks for a new test or changes one.": 3,
    "House rules for tests.": 3,
    "Our team's rules for unit tests. Load before writing a test.": 3,
    "Read this before you write tests.": 3,
    "House rules: read before touching any test in heatwatch.": 3,
    "For writing a test here.": 3,
    "Tests.": 3,
    "How to name and structure tests; what tests may read and compare.": 3,
    "Load before adding, editing or fixing tests.": 3,
    "Testing guidelines for this repository.": 3,
    "Must-read for anyone who writes tests.": 3,
    "Use it before you write, change or repair tests, or cover a function.": 4,
    "Conventions for automated checks; use before covering a function.": 1,
    "pytest conventions of our team.": 0,
    "Quality assurance guidelines.": 0,
    "Use this skill for everything.": 0,
    "": 0,
}


def rows(line: str) -> dict[str, tuple[str, str, str]]:
    """The list: request -> what is loaded, why that is wrong if it is, and the shared words."""
    row = re.compile(r"<li>“(.+?)”<br><strong>(.+?)\.</strong>(.*?) Shared words: (.+?)\.</li>")
    told = row.findall(pages.unescape(try_line(line).html))
    return {request: (loaded, why.strip(), shared) for request, loaded, why, shared in told}


def loads(request: str, known: dict[str, str]) -> list[str]:
    """What the stand-in really loads when it is told to, with these skills on offer."""
    listed = "\n".join(f"- {name}: {line}" for name, line in known.items())
    enum = {"type": "string", "enum": list(known)}
    tool = {
        "name": "load_skill",
        "description": "Load the instructions of a skill.",
        "input_schema": {"type": "object", "properties": {"name": enum}, "required": ["name"]},
    }
    asked = f'Load the skill for "{request.rstrip(".?")}".'
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": asked}],
        "system": listed,
        "tools": [tool],
    }
    return [block["input"]["name"] for block in StandIn()(body).content if "input" in block]


@pytest.mark.parametrize(("line", "right"), LINES.items())
def test_a_natural_line_works_or_the_table_says_which_words_it_lacks(line: str, right: int) -> None:
    said = f"It wins {right} of 4 requests for tests, and leaves 2 of 2 to the others"
    assert try_line(line).text.endswith(said)
    for request, (chosen, why, _) in rows(line).items():
        if chosen.startswith("✗") and REQUESTS[request] == YOURS:
            lacks = why.partition("Your line doesn't have ")[2]
            assert lacks
            for word in re.split(", | or ", lacks.rstrip(".")):
                assert word in request.lower()
                assert word not in re.findall("[a-z]+", line.lower())


@pytest.mark.parametrize("line", [*LINES, CLEAR, "For tests, and before the merge of a branch."])
def test_the_table_shows_what_the_stand_in_loads(line: str) -> None:
    known = {name: line if name == YOURS else clear for name, (_, clear) in SKILLS.items()}
    assert rows(line).keys() == REQUESTS.keys()
    for request, (chosen, _, shared) in rows(line).items():
        real = loads(request, known)
        name = chosen.split(" loads ")[1].removesuffix(" (yours)")
        assert real == ([] if name == "nothing" else [name])
        if real:
            assert shared.startswith(f"{real[0]} ")


def test_a_line_that_claims_everything_takes_requests_from_others() -> None:
    greedy = rows("Use it when a run stopped: nightly, or any other run; merge a branch.")
    assert greedy["Can I merge this branch?"] == (
        "✗ loads nothing",
        "guide-a (yours) and guide-b have the same score.",
        "guide-a (yours) 0.5 (merge, branch), then guide-b 0.5 (merge, branch)",
    )
    assert greedy["The nightly run stopped."] == (
        "✗ loads guide-a (yours)",
        "Your line takes it from guide-d, by nightly, run and stopped.",
        "guide-a (yours) 0.8 (nightly, run, stopped), then guide-d 0.7 (nightly, run, stopped)",
    )


def test_it_says_that_a_model_would_not_match_words() -> None:
    card = try_line("<b>mine</b>")
    assert "A model would compare meanings" in card.html
    assert "<b>" not in card.html
    assert "&lt;b&gt;mine" in card.html

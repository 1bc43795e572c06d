"""Lesson 5's workshop: the learner writes a skill's line, and sees which requests it wins.

The other skills are those of the contest. The stand-in chooses, by shared words only, and the card
says which words these were. That isn't how a model chooses, and the card says that, too.
"""

from __future__ import annotations

from collections import Counter

from learnkit.course.display.card import Card
from learnkit.course.lessons.s05.contest import SKILLS
from learnkit.simulation.stand_in.matching import LEAST, Fit, fits, telling
from learnkit.views.drawing.text import esc

#: The skill whose line the learner writes.
YOURS = "guide-a"
#: What users ask for, and the skill that has the rules for it.
REQUESTS = {
    "Add a test for leap years.": YOURS,
    "Write two tests for the parser.": YOURS,
    "A test fails on Mondays. Fix it.": YOURS,
    "Cover too_hot at exactly 30 °C.": YOURS,
    "Can I merge this branch?": "guide-b",
    "The nightly run stopped.": "guide-d",
}
_ABOUT = (
    "The stand-in compares words, without their endings: 1 point for a word of the request that a "
    "line has (0.9 with another ending), and less if several lines have it. A model would compare "
    "meanings: it knows that to cover a function is to test it."
)


def try_line(line: str) -> Card:
    """Return which skill the stand-in chooses for each request, and the words that decide.

    Args:
        line: the learner's description of the skill with the house rules for tests.
    """
    known = {name: line if name == YOURS else clear for name, (_, clear) in SKILLS.items()}
    rows, right = [], Counter[bool]()
    for request, wanted in REQUESTS.items():
        first, second, *_ = fits(request, known)
        chosen = first.name if first.score >= LEAST and first.score > second.score else ""
        right[wanted == YOURS] += chosen == wanted
        mark = "✓" if chosen == wanted else "✗"
        why = "" if chosen == wanted else f" {esc(_why(request, wanted, line, first, second))}"
        rows.append(
            f"<li>“{esc(request)}”<br><strong>{mark} loads {esc(_named(chosen))}.</strong>{why} "
            f"{esc(_scored(first, second))}</li>"
        )
    yours = sum(wanted == YOURS for wanted in REQUESTS.values())
    said = (
        f"Your line: “{line}” It wins {right[True]} of {yours} requests for tests, and leaves "
        f"{right[False]} of {len(REQUESTS) - yours} to the others"
    )
    listed = f"<ul>{''.join(rows)}</ul>"
    return Card(f"<p><strong>{esc(said)}.</strong></p>{listed}<p>{esc(_ABOUT)}</p>", said)


def _why(request: str, wanted: str, line: str, first: Fit, second: Fit) -> str:
    """What went wrong with a request, in terms of its words."""
    if first.score and first.score == second.score:
        return f"{_named(first.name)} and {_named(second.name)} have the same score."
    if wanted != YOURS:
        return f"Your line takes it from {wanted}, by {_listed(first.words)}."
    asked = [word for words in telling(request).values() for word in sorted(words)]
    missing = [word for word in asked if not telling(word).keys() & telling(line).keys()]
    return f"Your line doesn't have {_listed(missing, 'or')}."


def _named(name: str) -> str:
    return f"{name} (yours)" if name == YOURS else name or "nothing"


def _scored(*best: Fit) -> str:
    """The scores of the skills that share words with a request."""
    told = [
        f"{_named(one.name)} {one.score:.1f} ({', '.join(one.words)})" for one in best if one.words
    ]
    return f"Shared words: {', then '.join(told) or 'none with any line'}."


def _listed(words: list[str] | tuple[str, ...], last: str = "and") -> str:
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end

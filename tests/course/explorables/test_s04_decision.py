"""Lesson 4's decision tree: the picture and its text say the same, and each text fits its box."""

from __future__ import annotations

from learnkit.course.lessons.s04.decision import ELSE, QUESTIONS, Decision
from learnkit.views.drawing.display import NARROW


def test_the_text_says_what_the_picture_says() -> None:
    tree = Decision()
    drawn = [line for shape in tree.draw().shapes for line in shape.lines]
    for question, answer, why in QUESTIONS:
        assert {*question, answer, why} <= {*drawn}  # whole, not cut to the box
        assert f"{' '.join(question)} Yes: {answer} ({why})" in str(tree)
    assert {*ELSE} <= {*drawn}
    assert drawn.count("yes") == drawn.count("no") == len(QUESTIONS)
    static = tree._repr_mimebundle_()
    assert static["text/plain"] == str(tree)
    assert 'alt="One file, a few steps? Yes: Do it yourself' in static["text/html"]


def test_it_is_laid_out_for_a_phone() -> None:
    assert Decision().draw().width == NARROW

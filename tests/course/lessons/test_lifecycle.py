"""Lesson 9's picture of the lifecycle: it has the statuses of a teammate, and all fits."""

from __future__ import annotations

import itertools
from typing import get_args

from learnkit.course.lessons.s09.lifecycle import STATUSES, WAYS, drawn, lifecycle
from learnkit.mechanisms.teams.teammate import Status
from learnkit.views.drawing.display import NARROW, text_width


def test_it_has_every_status_and_every_way_from_one_to_another() -> None:
    assert set(STATUSES) == set(get_args(Status))
    canvas = drawn()
    for number, (start, end, said) in enumerate(WAYS):
        text, arrow = canvas[f"said {number}"], canvas[f"way {number}"]
        assert text.lines == (said,)
        assert text.x + text_width(said) <= NARROW
        boxes = [canvas[f"box {name}"] for name in (start, end) if name]
        assert all(box.x <= arrow.x <= box.x + box.width for box in boxes)
        assert said in lifecycle().text


def test_no_text_lies_on_a_box_or_on_another_text() -> None:
    canvas = drawn()
    texts = [canvas[f"said {number}"] for number in range(len(WAYS))]
    lines = sorted(text.y for text in texts)
    assert all(low - high >= 14 for high, low in itertools.pairwise(lines))
    for name in STATUSES:
        box = canvas[f"box {name}"]
        for text in texts:
            aside = text.x >= box.x + box.width
            assert aside or not box.y < text.y < box.y + box.height + 10

"""Lesson 1's explorable says what the offline client answers to the same request."""

from __future__ import annotations

import anthropic
import pytest

import learnkit as lk
from learnkit.course.lessons.s01.explorable import (
    blocks,
    draw,
    request,
    verdict,
    without,
)
from learnkit.views.drawing.display import WIDE


@pytest.mark.parametrize("place", range(-1, len(blocks())))
def test_the_verdict_is_the_answer_of_the_client(place: int) -> None:
    client = lk.scripted([lk.say("fine")])
    refusal = verdict(place)
    answer = draw(WIDE, place)
    marks = {one.mark for one in answer.canvas.shapes}
    assert answer.canvas["verdict"].mark == ("failed" if refusal else "done")
    assert ("failed" in marks) == (refusal is not None)
    assert ("refuses" in answer.finding) == (refusal is not None)
    removed = place >= 0
    assert bool(answer.because) == (refusal is not None or removed)
    if refusal is None:
        assert client.messages.create(**request(without(place))).content
        return
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(**request(without(place)))
    assert refusal.message in str(caught.value)
    assert str(caught.value.status_code) in answer.finding

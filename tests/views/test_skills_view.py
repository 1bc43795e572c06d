"""The skill layers view: a stack a request, on one scale with everything upfront."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import drawn, said

from learnkit.events.log import EventLog
from learnkit.views import Skills
from learnkit.views.drawing.display import NARROW, WIDE, Canvas
from learnkit.views.drawing.static import LIMIT

SIX = {f"skill-{letter}": 1000 for letter in "abcdef"}


def listed(log: EventLog, skills: dict[str, int], catalogue: int = 600, **more: Any) -> EventLog:
    log.append("skills.listed", catalogue=catalogue, skills=skills, preloaded=[], problems=[])
    if more:
        log.append("skills.listed", catalogue=catalogue, skills=skills, **more)
    return log


def stacks(canvas: Canvas) -> dict[str, list[tuple[str, float]]]:
    """The mark and width of each part of each request, from left to right, without gaps."""
    found: dict[str, list[tuple[str, float]]] = {}
    for one in canvas.shapes:
        if one.kind == "bar" and one.key.startswith("part "):
            name = canvas[f"label {one.key[5:].rpartition(' ')[0]} 0"].lines[0]
            found.setdefault(name, []).append((one.mark, one.width))
    return found


@pytest.fixture
def log() -> EventLog:
    """Six skills; one is loaded before request 2, and one of its files read before request 3."""
    log = listed(EventLog(), SIX)
    log.append("model.requested", turn=1, messages=1)
    log.append("skill.loaded", name="skill-c", tokens=1040)
    log.append("model.requested", turn=2, messages=3)
    log.append("skill.read", name="skill-c", file="references/more.md", tokens=360)
    log.append("model.requested", turn=3, messages=5)
    log.append("model.requested", turn=4, messages=7)
    return log


def test_a_skill_is_loaded_when_its_instructions_are_and_not_with_one_of_its_files() -> None:
    log = listed(EventLog(), SIX)
    log.append("skill.read", name="skill-c", file="references/more.md", tokens=360)
    assert "None of 6 skills is loaded" in str(Skills(log))


def test_each_request_is_a_stack_and_what_is_loaded_can_be_seen_in_it(log: EventLog) -> None:
    canvas = drawn(Skills(log))
    rows = stacks(canvas)
    assert list(rows) == ["request 1", "request 2", "requests 3–4"]
    assert [mark for mark, _ in rows["requests 3–4"]] == ["system", "result", "result"]
    widths = [width for _, width in rows["requests 3–4"]]
    assert widths[1] > 60
    assert widths[1] / widths[2] == pytest.approx(1040 / 360, rel=0.05)
    new = [canvas[f"label {number} 1"].lines for number in (1, 2, 3)]
    assert new == [("+ 6 skills listed",), ("+ skill-c",), ("+ references/more.md",)]
    assert canvas["tokens 3"].lines == ("≈2,000",)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_bars_begin_beside_their_labels_on_one_scale_with_everything(
    log: EventLog, width: float
) -> None:
    canvas = drawn(Skills(log), width=width)
    whole, ticks = canvas["whole bar"], [canvas["tick 0"].x, canvas["tick 2000"].x]
    assert (whole.mark, whole.style) == ("plain", "p"), "it was not sent"
    last = [one for one in canvas.shapes if one.key.startswith("part 3 ")]
    for first, end, tokens in [(whole, whole, 6000), (last[0], last[-1], 2000)]:
        assert first.x == ticks[0]
        assert end.x + end.width == pytest.approx(
            ticks[0] + (ticks[1] - ticks[0]) * tokens / 2000, abs=1.5
        )
    assert canvas["tokens whole"].x == pytest.approx(whole.x + whole.width + 7, abs=1)


def test_what_was_loaded_since_the_last_request_is_in_the_next_one(log: EventLog) -> None:
    view = Skills(log)
    assert list(stacks(drawn(view, 3))) == ["request 1", "the next request"]
    assert list(stacks(drawn(view, 4))) == ["request 1", "request 2"]


def test_the_finding_compares_with_everything_upfront(log: EventLog) -> None:
    view = Skills(log)
    states = [view.at(k) for k in range(5)]
    assert said(view, states[0]) == "No skills were listed yet."
    assert said(view, states[2]) == (
        "Skills on demand: ≈600 tokens in a request instead of ≈6,000. None of 6 skills is loaded."
    )
    assert said(view).startswith("Skills on demand: ≈2,000 tokens in a request")


def test_what_is_preloaded_counts_from_the_start() -> None:
    log = listed(EventLog(), SIX, preloaded=["skill-a"], problems=["bad/SKILL.md: no"])
    log.append("model.requested", turn=1, messages=1)
    view = Skills(log)
    canvas = drawn(view)
    assert [mark for mark, _ in stacks(canvas)["request 1"]] == ["system", "injected"]
    assert canvas["tokens 1"].lines == ("≈1,600",)
    assert canvas["problem 0"].lines == ("✗ bad/SKILL.md: no",)
    assert canvas["problem 0"].y > canvas["legend system"].y, "below the picture and its legend"
    assert "preloaded, ≈1,000 tokens" in view.html()


def test_a_new_conversation_has_loaded_nothing_yet(log: EventLog) -> None:
    listed(log, SIX)
    assert Skills(log).at().now.tokens == 2000
    log.append("message.added", index=0, message={"role": "user", "content": "else"})
    assert Skills(log).at().now.tokens == 600


@pytest.mark.slow
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_hundred_skills_are_counted_and_fit(width: float) -> None:
    log = listed(EventLog(), {f"skill-{number}": 100 for number in range(100)})
    for number in range(99):
        log.append("skill.loaded", name=f"skill-{number}", tokens=100)
        log.append("model.requested", turn=number + 1, messages=1)
    view = Skills(log)
    html = view.html()
    assert len(html.encode()) < LIMIT
    assert "earlier stacks left out" in html
    canvas = drawn(view, width=width)
    assert "earlier stack" in canvas["gone"].lines[0]
    assert max(one.x + one.width for one in canvas.shapes) <= width

"""The skill layers view: a stack a request, on one scale with everything upfront."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import drawn, said

from learnkit.events.log import EventLog
from learnkit.views import Skills
from learnkit.views.drawing.display import NARROW, WIDE, Canvas
from learnkit.views.drawing.plot import ticks_of
from learnkit.views.drawing.static import LIMIT
from learnkit.views.drawing.text import scale_of

SIX = {f"skill-{letter}": 1000 for letter in "abcdef"}
TWENTY = {f"skill-{number:02}": 5000 for number in range(1, 21)}


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
            name = canvas[f"label {one.key[5:].rpartition(' ')[0]}"].lines[0]
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
    assert widths[1] > 100
    assert widths[1] / widths[2] == pytest.approx(1040 / 360, rel=0.05)
    assert canvas["new lead 1"].lines == ("+ 6 skills listed ≈600",)
    assert canvas["new lead 2"].lines == ("+ skill-c ≈1,040",)
    assert canvas["new lead 3"].lines == ("+ references/more.md ≈360",)
    assert canvas["tokens lead 3"].lines == ("≈2,000 tokens",)


def test_everything_upfront_is_on_the_same_scale(log: EventLog) -> None:
    canvas = drawn(Skills(log))
    whole, first = canvas["whole bar lead"], canvas["part lead 1 0"]
    assert whole.style == "d"
    assert whole.width / first.width == pytest.approx(6000 / 600, rel=0.03)
    assert "break lead 0" not in canvas


def test_what_would_be_too_short_beside_everything_is_not_and_the_long_bar_is_broken() -> None:
    log = listed(EventLog(), TWENTY, catalogue=2000)
    log.append("skill.loaded", name="skill-07", tokens=130)
    log.append("model.requested", turn=1, messages=1)
    view = Skills(log)
    canvas = drawn(view)
    assert canvas["part lead 1 1"].width > 20
    assert canvas["whole bar lead"].width == WIDE
    assert canvas["times lead"].lines == ("47 × as long, drawn broken",)
    assert "break lead 0" in canvas
    assert canvas["legend "].lines[0].startswith("full width: ≈4,000 tokens")


def test_what_was_loaded_since_the_last_request_is_in_the_next_one(log: EventLog) -> None:
    view = Skills(log)
    assert list(stacks(drawn(view, 3))) == ["request 1", "the next request"]
    assert list(stacks(drawn(view, 4))) == ["request 1", "request 2"]


def test_the_finding_compares_with_everything_upfront(log: EventLog) -> None:
    view = Skills(log)
    states = [view.at(k) for k in range(5)]
    assert said(view, states[0]) == "No skills were listed yet."
    assert said(view, states[2]) == (
        "None of 6 skills is loaded. ≈600 tokens of skills in a request; all "
        "upfront, ≈6,000 (10 times as many)."
    )
    assert said(view).startswith("1 of 6 skills is loaded. ≈2,000 tok")


def test_it_boasts_of_nothing_where_everything_upfront_would_be_shorter() -> None:
    log = listed(EventLog(), {"only": 100}, catalogue=80)
    log.append("skill.loaded", name="only", tokens=120)
    assert said(Skills(log)) == (
        "1 of 1 skill is loaded. ≈200 tokens of skills in a request; all upfront, ≈100."
    )


def test_what_is_preloaded_counts_from_the_start() -> None:
    log = listed(EventLog(), SIX, preloaded=["skill-a"], problems=["bad/SKILL.md: no"])
    log.append("model.requested", turn=1, messages=1)
    view = Skills(log)
    canvas = drawn(view)
    assert [mark for mark, _ in stacks(canvas)["request 1"]] == ["system", "injected"]
    assert canvas["tokens lead 1"].lines == ("≈1,600 tokens",)
    assert canvas["problem lead 0"].lines == ("✗ bad/SKILL.md: no",)
    assert "▲ preloaded" in view.html()


def test_a_skill_that_is_loaded_twice_is_paid_twice(log: EventLog) -> None:
    log.append("skill.loaded", name="skill-c", tokens=1040)
    view = Skills(log)
    assert view.at().shelves["lead"].now.tokens == 2000 + 1040
    assert "✓ loaded 2×" in view.html()


def test_a_new_conversation_has_loaded_nothing_yet(log: EventLog) -> None:
    listed(log, SIX)
    assert Skills(log).at().shelves["lead"].now.tokens == 2000
    log.append("message.added", index=0, message={"role": "user", "content": "else"})
    assert Skills(log).at().shelves["lead"].now.tokens == 600


def test_each_agent_has_its_own_on_the_same_scale(log: EventLog) -> None:
    log.append("skills.listed", lane="alice", catalogue=1200, skills=SIX, problems=[])
    view = Skills(log)
    canvas = drawn(view)
    ratio = canvas["part alice 1 0"].width / canvas["part lead 1 0"].width
    assert ratio == pytest.approx(2, rel=0.03)
    assert canvas["lane alice"].y > canvas["whole lead"].y
    assert ". alice: none of 6 skills is loaded" in said(view)
    assert list(Skills(log, lane="lead").at().shelves) == ["lead"]


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
    assert "more skills" in html
    canvas = drawn(view, width=width)
    assert "earlier stack" in canvas["gone lead"].lines[0]
    assert max(one.x + one.width for one in canvas.shapes) <= width


@pytest.mark.parametrize(
    ("longest", "scale"),
    [(0, 10), (10, 10), (11, 12), (85, 100), (101, 120), (8481, 10_000), (100_000, 100_000)],
)
def test_the_scale_is_a_round_number_that_holds_the_longest(longest: int, scale: int) -> None:
    assert scale_of(longest) == scale
    assert 3 <= len(ticks_of(scale)) <= 6

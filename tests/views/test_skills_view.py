"""The skill layers view: lengths on one scale, and where each skill stands."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from learnkit.core.events import EventLog
from learnkit.views import Skills
from learnkit.views.drawing.static import LIMIT
from learnkit.views.drawing.text import scale_of
from learnkit.views.shelf import ticks_of

SIX = {f"skill-{letter}": 1000 for letter in "abcdef"}
TWENTY = {f"skill-{number:02}": 5000 for number in range(1, 21)}


def listed(log: EventLog, skills: dict[str, int], catalogue: int = 600, **more: Any) -> EventLog:
    log.append("skills.listed", catalogue=catalogue, skills=skills, preloaded=[], problems=[])
    if more:
        log.append("skills.listed", catalogue=catalogue, skills=skills, **more)
    return log


def svg(view: Skills) -> str:
    (data,) = re.findall(r'base64,([^"]+)"', view.html())
    return base64.b64decode(data).decode()


@pytest.fixture
def log() -> EventLog:
    """Six skills; one is loaded, and one of its files is read."""
    log = listed(EventLog(), SIX)
    log.append("skill.loaded", name="skill-c", tokens=1040)
    log.append("skill.read", name="skill-c", file="references/more.md", tokens=360)
    return log


def test_the_three_lengths_and_what_is_spared(log: EventLog) -> None:
    states = [Skills(log).at(k).shelves["lead"] for k in (1, 2, 3)]
    assert [shelf.everything for shelf in states] == [6000] * 3
    assert [shelf.now for shelf in states] == [600, 1640, 2000]
    assert [shelf.gain for shelf in states] == [
        "≈ 5,400 tokens spared (90 %)",
        "≈ 4,360 tokens spared (73 %)",
        "≈ 4,000 tokens spared (67 %)",
    ]


def test_a_row_goes_from_listed_to_loaded_to_files_read(log: EventLog) -> None:
    view = Skills(log)
    rows = [view.frame(view.at(k))["lead/s skill-c"] for k in (1, 2, 3)]
    assert "○ listed ≈ 1,000" in rows[0]
    assert 'class="list" style="--o:2000;--n:1000"' in rows[0]
    assert "✓ loaded ≈ 1,040" in rows[1]
    assert 'class="got" style="--o:2000;--n:1040"' in rows[1]
    assert "references/more.md ≈ 360" in rows[2]
    assert 'class="file" style="--o:3040;--n:360"' in rows[2]


def test_only_what_changed_is_drawn_again(log: EventLog) -> None:
    view = Skills(log)
    first = view.at(1)
    before, after = view.frame(first), view.frame(view.step(first, log[1]))
    changed = [key for key in after if after[key] is not before.get(key)]
    assert changed == ["lead/0", "lead/2", "lead/3", "lead/s skill-c"]
    assert "data-quiet" in after["lead/0"]
    assert "data-quiet" in after["lead/2"]


def test_sentences_say_what_happened(log: EventLog) -> None:
    view = Skills(log)
    assert [view.head(view.at(k)) for k in (0, 1, 2, 3)] == [
        "Nothing has happened yet.",
        "≈ 600 tokens list 6 skills; all their instructions would be ≈ 6,000.",
        "skill-c is loaded, ≈ 1,040 tokens; 5 skills stay unread.",
        "references/more.md of skill-c is read, ≈ 360 tokens more.",
    ]
    assert view.line(view.at()) == (
        "skill layers: lead 1 of 6 skills loaded, ≈ 2,000 tokens instead of ≈ 6,000, ≈ 4,000 "
        "tokens spared (67 %); references/more.md of skill-c is read, ≈ 360 tokens more."
    )


def test_the_end_of_a_run_says_what_it_came_to(log: EventLog) -> None:
    log.append("run.ended", reason="end_turn", text="done", turns=3)
    sentence = "The run ends with 1 of 6 skills loaded; 67 % of everything was not sent."
    assert Skills(log).head(Skills(log).at()) == sentence
    costly = listed(EventLog(), {"only": 100}, catalogue=180)
    costly.append("run.ended", reason="end_turn", text="done", turns=3)
    sentence = "The run ends with 0 of 1 skill loaded; everything upfront would have been shorter."
    assert Skills(costly).head(Skills(costly).at()) == sentence


def test_what_is_preloaded_counts_from_the_start() -> None:
    log = listed(EventLog(), SIX, preloaded=["skill-a"], problems=["bad/SKILL.md: no"])
    shelf = Skills(log).at().shelves["lead"]
    assert shelf.now == 600 + 1000
    assert shelf.note == "lead · 1 of 6 skills loaded, 1 left out"
    assert "▲ preloaded ≈ 1,000" in Skills(log).frame(Skills(log).at())["lead/s skill-a"]
    assert "bad/SKILL.md: no" in Skills(log).html()


def test_a_skill_that_is_loaded_twice_is_paid_twice(log: EventLog) -> None:
    log.append("skill.loaded", name="skill-c", tokens=1040)
    view = Skills(log)
    assert view.at().shelves["lead"].now == 2000 + 1040
    assert "✓ loaded 2× ≈ 2,080" in view.frame(view.at())["lead/s skill-c"]


def test_it_says_so_when_everything_upfront_would_be_shorter() -> None:
    log = listed(EventLog(), {"only": 100}, catalogue=80)
    log.append("skill.loaded", name="only", tokens=120)
    shelf = Skills(log).at().shelves["lead"]
    assert shelf.gain == "≈ 100 tokens more (100 %)"
    assert shelf.share == ""
    assert 'class="gap"' not in Skills(log).frame(Skills(log).at())["lead/3"]


def test_a_new_conversation_has_loaded_nothing_yet(log: EventLog) -> None:
    listed(log, SIX)
    assert Skills(log).at().shelves["lead"].now == 2000
    log.append("message.added", index=0, message={"role": "user", "content": "else"})
    assert Skills(log).at().shelves["lead"].now == 600


def test_each_agent_has_its_own_on_the_same_scale(log: EventLog) -> None:
    log.append("skills.listed", lane="alice", catalogue=2000, skills=TWENTY, problems=[])
    view = Skills(log)
    frame = view.frame(view.at())
    assert "--s:100000" in frame["lead/1"]
    assert frame["lead/1"] == frame["alice/1"]
    assert view.head(view.at()).startswith("alice: ≈ 2,000 tokens list 20 skills")
    assert list(Skills(log, lane="lead").at().shelves) == ["lead"]


def test_skills_that_nobody_listed_and_numbers_that_are_none() -> None:
    log = EventLog()
    log.append("skill.loaded", name="<b>", tokens="many")
    log.append("skill.read", name="<b>", file="<script>")
    view = Skills(log)
    assert "&lt;b&gt;" in view.frame(view.at())["lead/s <b>"]
    assert "<script>" not in view.html()


def test_twenty_skills_fit_into_one_picture_that_can_be_read() -> None:
    log = listed(EventLog(), TWENTY, catalogue=2000)
    log.append("skill.loaded", name="skill-07", tokens=5010)
    view = Skills(log)
    assert len(view.html().encode()) < LIMIT
    assert all(f">{name}<" in svg(view) for name in TWENTY)
    assert "not sent: 93 %" in svg(view)


def test_a_hundred_skills_are_cut_and_counted() -> None:
    log = listed(EventLog(), {f"skill-{number}": 100 for number in range(100)})
    view = Skills(log)
    assert len(view.html().encode()) < LIMIT
    assert re.search(r"… \d+ more skills", view.html())


@pytest.mark.parametrize(
    ("longest", "scale"),
    [(0, 10), (10, 10), (11, 12), (85, 100), (101, 120), (8481, 10_000), (100_000, 100_000)],
)
def test_the_scale_is_a_round_number_that_holds_the_longest(longest: int, scale: int) -> None:
    assert scale_of(longest) == scale
    assert 3 <= len(ticks_of(scale)) <= 6


@pytest.mark.parametrize(("number", "said"), [(1, ""), (2, ""), (3, "1 more file"), (4, "2 more")])
def test_of_many_files_two_are_named_and_the_others_counted(number: int, said: str) -> None:
    log = EventLog()
    log.append("skills.listed", catalogue=80, skills={"a": 900}, preloaded=[], problems=[])
    log.append("skill.loaded", name="a", tokens=900)
    for place in range(number):
        log.append("skill.read", name="a", file=f"f{place}.md", tokens=10)
    view = Skills(log)
    shown = "".join(view.frame(view.at()).values())
    assert [name for name in ("f0.md", "f1.md", "f2.md") if f"{name} ≈ 10" in shown] == [
        *("f0.md", "f1.md")[:number]
    ]
    assert ("more file" in shown) == bool(said)
    assert said in shown

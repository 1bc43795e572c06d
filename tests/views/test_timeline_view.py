"""The timeline: who was busy when, and what ran side by side."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.views import Timeline
from learnkit.views.drawing import static
from learnkit.views.drawing.time_axis import LENGTHS, duration


def ran(folder: Path, *script: Any) -> Timeline:
    agent = lk.Agent(lk.scripted(list(script)), [lk.Background(workspace=folder, limit=9000)])
    agent.run("go")
    return Timeline(agent.events)


def start(*seconds: float) -> Any:
    return lk.reply(*(lk.use("background_run", command=f"sleep {n}") for n in seconds))


def words(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def test_jobs_and_turns_are_lengths_from_their_beginning_to_their_end(tmp_path: Path) -> None:
    view = ran(tmp_path, start(3, 1), *[lk.say("x")] * 3)
    rows = list(view.at().rows.values())
    assert [row.agent for row in rows] == ["", "lead", "lead"]
    assert [(s[1], s[2]) for s in rows[1].spans] == [(1, 4)]
    assert [(s[1], s[2]) for s in rows[2].spans] == [(1, 2)]
    turns = [s[1:] for s in rows[0].spans if s[0] == "assistant"]
    assert turns == [(0, 1), (1, 2), (2, 3), (4, 5)]
    assert rows[1].delivered == (4,)
    assert rows[0].delivered == (2, 4)


def test_what_was_saved_is_the_sum_of_all_work_less_the_time_that_passed(tmp_path: Path) -> None:
    view = ran(tmp_path, start(10, 10), *[lk.say("x")] * 3)
    state = view.at()
    assert state.now == 12
    assert state.serial == 10 + 10 + 3
    assert state.said == "12 s passed; one after the other it is 23 s: 48% saved."
    assert view.head(state).endswith(state.said)


def test_one_after_the_other_saves_nothing(tmp_path: Path) -> None:
    view = ran(tmp_path, start(2), lk.say("waiting"), start(3), lk.say("waiting"), lk.say("end"))
    # the model's word that it waits takes a second of its own, beside the job
    assert view.at().serial == view.at().now + 2


def test_what_runs_still_grows_with_the_time(tmp_path: Path) -> None:
    view = ran(tmp_path, start(5), *[lk.say("x")] * 2)
    events = list(view.events)
    begun = next(k for k, e in enumerate(events) if e.type == "job.started") + 1
    state = view.at(begun)
    row = state.rows["job 00000001"]
    assert (row.state, row.drawn(3.0)[-1][1:]) == ("running", (1, 3.0))
    assert "running" in words(view.frame(state)["lines/1"])


@pytest.mark.parametrize(
    ("command", "word", "glyph"),
    [("true", "completed", "✓"), ("exit 3", "failed", "✗"), ("sleep 10000", "timeout", "✗")],
)
def test_how_a_job_ended_is_a_word_and_a_glyph(
    tmp_path: Path, command: str, word: str, glyph: str
) -> None:
    view = ran(tmp_path, lk.use("background_run", command=command), *[lk.say("x")] * 2)
    text = words(view.frame(view.at())["lines/1"])
    assert text.startswith(f"{glyph} {command}")
    assert word in text
    assert word in view.html()


def test_counted_sleep_is_said(tmp_path: Path) -> None:
    view = ran(tmp_path, start(1), *[lk.say("x")] * 2)
    assert "sleep only counts" in view.frame(view.at())["lines/legend"]
    log = lk.EventLog()
    log.append("job.started", id="a", command="make", limit=300, counted=False)
    assert "sleep only counts" not in Timeline(log).frame(Timeline(log).at())["lines/legend"]


def test_the_axis_has_round_marks(tmp_path: Path) -> None:
    for seconds, marks in ((3, ["0 s", "1 s", "2 s"]), (3000, ["0 s", "15 min", "30 min"])):
        view = ran(tmp_path, start(seconds), *[lk.say("x", latency=0)] * 2)
        axis = words(view.frame(view.at())["lines/axis"])
        assert axis.startswith(" ".join(marks))


def test_the_axis_holds_everything(tmp_path: Path) -> None:
    for seconds in (0, 1, 7, 59, 61, 3599, 3601, 8000):
        view = ran(tmp_path, replace(start(seconds), latency=0.0), *[lk.say("x", latency=0)] * 2)
        state = view.at()
        assert state.axis.scale >= state.now
        assert state.axis.tick * 5 >= state.now


def test_many_turns_stay_few_lengths() -> None:
    log = lk.EventLog()
    for turn in range(400):
        log.append("model.requested", time=float(turn), turn=turn, messages=1)
        log.append("model.replied", time=turn + 0.5, turn=turn, stop_reason="tool_use", usage={})
    view = Timeline(log)
    state = view.at()
    assert len(state.rows["lead"].spans) == LENGTHS
    assert state.serial == pytest.approx(200)
    assert len(view.html().encode()) < static.LIMIT
    assert len(view.frame(state)["lines/0"]) < 12_000


def test_a_subagent_has_a_row_of_its_own() -> None:
    log = lk.EventLog()
    for lane in ("lead", "lead.t1"):
        log.append("model.requested", lane=lane, time=1.0, turn=1, messages=1)
    for lane in ("lead", "lead.t1"):
        log.append("model.replied", lane=lane, time=3.0, turn=1, stop_reason="end_turn", usage={})
    assert list(Timeline(log).at().rows) == ["lead", "lead.t1"]
    assert Timeline(log).at().serial == 4


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1.5, "1.5 s"),
        (119, "119 s"),
        (120, "2 min"),
        (2100, "35 min"),
        (90.25, "90.2 s"),
        (3930, "65.5 min"),
        (9000, "2.5 h"),
        (7200, "2 h"),
    ],
)
def test_lengths_are_readable(seconds: float, text: str) -> None:
    assert duration(seconds) == text

"""The timeline: who was busy when, what ran side by side, and what that saves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from canvases import drawn, texts

import learnkit as lk
from learnkit.views import Timeline
from learnkit.views.drawing.display import NARROW, WIDE, Canvas


def ran(folder: Path, *script: Any) -> Timeline:
    agent = lk.Agent(lk.scripted(list(script)), [lk.Background(workspace=folder, limit=9000)])
    agent.run("go")
    return Timeline(agent.events)


def start(*seconds: float) -> Any:
    return lk.reply(*(lk.use("background_run", command=f"sleep {n}") for n in seconds))


def boxes(canvas: Canvas, kind: str) -> list[tuple[float, float]]:
    """Where each box of a kind (``assistant``, ``idle``, ``call``, ``job``) begins and ends.

    A bar, which has no room for a label, has a pixel less.
    """
    found = [one for one in canvas.shapes if one.key.split()[0] == kind]
    return [(one.x, one.x + one.width + (one.kind == "bar")) for one in found]


def hour(*, background: bool) -> lk.EventLog:
    """Two jobs of 25 and 10 minutes, and five turns of five minutes; before them or beside them."""
    log, now = lk.EventLog(), 0.0
    log.append("run.started", prompt="x")

    def turn(seconds: float, *calls: str) -> None:
        nonlocal now
        log.append("model.requested", time=now, turn=1, messages=1)
        now += seconds
        stop = "tool_use" if calls else "end_turn"
        log.append("model.replied", time=now, turn=1, stop_reason=stop, usage={})
        for name in calls:
            log.append("tool.started", time=now, id="t", name=name, input={})
            log.append("tool.ended", time=now, id="t", name=name, output="")

    def job(id: str, at: float, seconds: float, by: str) -> None:
        nonlocal now
        now = max(now, at + seconds)
        log.append(
            "job.ended", time=now, id=id, status="completed", code=0, output=f"{id} is done\n"
        )
        log.append("job.delivered", time=now, ids=[id], by=by)

    def begin(id: str) -> None:
        command = f"sleep 600; make {id}"
        log.append("job.started", time=now, id=id, command=command, limit=1.0, counted=True)

    turn(0)
    begin("archive")
    if background:
        for _ in range(5):
            turn(300, "write_file")
        job("archive", 0, 1500, "results")
    else:
        turn(0)
        job("archive", 0, 1500, "stop")
    turn(0)
    begin("tests")
    turn(0)
    job("tests", now, 600, "stop")
    for _ in range(0 if background else 5):
        turn(300, "write_file")
    turn(0)
    log.append("run.ended", time=now, reason="end_turn", text="", turns=9)
    return log


def both(k: int | None = None) -> Timeline:
    later = list(hour(background=True))[:k]
    runs = {"one after the other": hour(background=False), "in the background": later}
    return Timeline(runs)


def test_jobs_and_turns_are_lengths_from_their_beginning_to_their_end(tmp_path: Path) -> None:
    canvas = drawn(ran(tmp_path, start(3, 1), *[lk.say("x")] * 3))
    left = canvas["tick 0 s"].x
    second = (canvas["tick 2 s"].x - left) / 2

    def seconds(kind: str) -> list[tuple[float, float]]:
        spans = [((a - left) / second, (b - left) / second) for a, b in boxes(canvas, kind)]
        return [(round(a, 1), round(b, 1)) for a, b in spans]

    assert seconds("job") == [(1, 4), (1, 2)]
    arrows = [one.x for one in canvas.shapes if one.key.startswith("arrow ")]
    assert arrows == pytest.approx([end for _, end in boxes(canvas, "job")], abs=0.2)
    assert seconds("assistant") == [(0, 3), (4, 5)]
    assert seconds("idle") == [(3, 4)]


def test_two_runs_stand_on_one_scale() -> None:
    for width in (WIDE, NARROW):
        canvas = drawn(both(), width=width)
        minute = (canvas["tick end"].x - canvas["tick 0 min"].x) / 60
        jobs = [end - begin for begin, end in boxes(canvas, "job")]
        assert jobs == pytest.approx([25 * minute, 10 * minute] * 2, abs=0.2)
        ends = [max(end for _, end in boxes(canvas, kind)) for kind in ("assistant", "idle")]
        assert ends[0] == pytest.approx(
            canvas["tick end"].x, abs=0.2
        )  # 60 minutes, the whole width
        assert ends[1] == pytest.approx(canvas["tick 0 min"].x + 35 * minute, abs=0.2)


def test_the_title_compares_the_runs_and_the_line_below_says_what_is_saved() -> None:
    view = both()
    assert view.finding(view.at()) == "In the background: 35 min instead of 60 min."
    less = "42% less. The model waits 10 min instead of 35 min. "
    assert view.because(view.at()) == f"{less}The time that commands sleep is counted, not slept."
    half = both(14)
    assert half.finding(half.at()) == "In the background, so far: 15 min."
    assert half.because(half.at()) == ""
    assert "In the background" in view.html()


def test_what_is_saved_is_a_bracket_from_the_end_to_where_it_would_have_been() -> None:
    for width in (WIDE, NARROW):
        canvas = drawn(both(), width=width)
        minute = (canvas["tick end"].x - canvas["tick 0 min"].x) / 60
        bracket = canvas["saved"]
        long = float(re.findall(r"H([\d.]+)", bracket.path)[0])
        assert bracket.x == pytest.approx(canvas["tick 0 min"].x + 35 * minute, abs=0.2)
        assert long == pytest.approx(25 * minute, abs=0.2)
        assert canvas["saved is"].lines == ("25 min saved",)
    assert "saved" not in drawn(both(14)), "before the end nobody knows"
    assert "saved" not in drawn(Timeline(hour(background=False)))


def test_the_end_of_the_axis_has_its_label_and_no_line_crosses_the_name_of_a_run() -> None:
    canvas = drawn(both())
    assert canvas["time end"].lines == ("60 min",)
    bands = re.findall(r"M0 ([\d.]+)V([\d.]+)", canvas["tick 0 min"].path)
    for place in (0, 1):
        y = canvas[f"run {place}"].y
        assert not any(float(top) < y - 2 < float(low) for top, low in bands)


def test_what_is_saved_is_counted_against_the_same_work_done_serially(tmp_path: Path) -> None:
    serial = Timeline(hour(background=False))
    assert serial.finding(serial.at()) == "Nothing overlaps: it takes 60 min."
    assert serial.because(serial.at()) == (
        "The model waits 35 min for its jobs. The time that commands sleep is counted, not slept."
    )
    # Four turns; the one in which the model says that it waits exists only because of the jobs.
    view = ran(tmp_path, start(10, 10), lk.say("waiting"), lk.say("done"))
    state = view.at()
    assert state.run.now == 12
    assert state.run.serial == 1 + 10 + 10 + 1
    assert view.finding(state) == "Work overlaps: 12 s instead of 22 s."
    less = "45% less. The model waits 9 s for its jobs. "
    assert view.because(state) == f"{less}The time that commands sleep is counted, not slept."


def test_a_row_has_a_short_name_and_its_label_is_what_came_of_the_job() -> None:
    view = Timeline(hour(background=True))
    begun = next(k for k, e in enumerate(view.events, 1) if e.type == "job.started")
    assert "▶\ufe0e make archive" in texts(drawn(view, begun + 4))
    shown = texts(drawn(view))
    assert {"lead", "job 1", "job 2", "✓ archive is done", "✓ tests is done"} <= set(shown)
    assert not [one for one in shown if "sleep 600" in one]
    assert "sleep 600; make archive" in drawn(view)["job 0 archive"].says


@pytest.mark.parametrize(
    ("command", "label", "mark"),
    [
        ("echo all is well", "✓ all is well", "done"),
        ("true", "✓ completed", "done"),
        ("echo no; exit 3", "✗ failed: no", "failed"),
        ("sleep 10000", "✗ timeout", "failed"),
    ],
)
def test_how_a_job_ended_is_a_word_a_glyph_and_a_colour(
    tmp_path: Path, command: str, label: str, mark: str
) -> None:
    view = ran(tmp_path, lk.use("background_run", command=command), *[lk.say("x")] * 2)
    canvas = drawn(view)
    assert label in texts(canvas)
    assert [one.mark for one in canvas.shapes if one.key.startswith("job")] == [mark]
    assert label.split(":")[0].split()[-1] in view.html()


def test_counted_sleep_is_said(tmp_path: Path) -> None:
    view = ran(tmp_path, start(1), *[lk.say("x")] * 2)
    counted = "sleep is counted, not slept"
    assert counted in view.because(view.at())
    log = lk.EventLog()
    log.append("job.started", id="a", command="make", limit=300, counted=False)
    assert counted not in Timeline(log).because(Timeline(log).at())


def test_a_subagent_has_a_row_of_its_own_and_its_time_counts_once() -> None:
    log = lk.EventLog()
    log.append("model.requested", time=0.0, turn=1, messages=1)
    log.append("model.replied", time=1.0, turn=1, stop_reason="tool_use", usage={})
    log.append("tool.started", time=1.0, id="t1", name="task", input={})
    log.append("model.requested", lane="lead.t1", time=1.0, turn=1, messages=1)
    log.append("model.replied", lane="lead.t1", time=3.0, turn=1, stop_reason="end_turn", usage={})
    log.append("tool.ended", time=3.0, id="t1", name="task", output="")
    view = Timeline(log)
    assert [one.lines[0] for one in drawn(view).shapes if one.key.startswith("name")] == [
        *("lead", "lead.t1")
    ]
    assert view.at().run.serial == 3

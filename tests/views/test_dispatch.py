"""The tool dispatch view: every call is counted once, where it belongs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from canvases import apart, drawn, words

import learnkit as lk
from learnkit.events.log import EventLog
from learnkit.views import Dispatch
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST
from learnkit.views.words import describe

COLUMNS = ("running", "ok", "error", "refused", "unknown")


def counts(view: Dispatch, k: int | None = None) -> dict[str, tuple[int, ...]]:
    """How the calls to each tool stand: all of them, running, ok, failed and refused."""
    ends = Counter((call.name, call.how) for call in view.at(k).calls)
    found = {}
    for name in [*view.at(k).tools, *(call.name for call in view.at(k).calls)]:
        running, ok, error, refused, unknown = (ends[name, how] for how in COLUMNS)
        each = (running, ok, error + unknown, refused)
        found[name] = (sum(each), *each)
    return found


def test_a_call_runs_and_is_ok_and_what_is_not_called_is_said(story: EventLog) -> None:
    view, unused = Dispatch(story), dict.fromkeys(("read_file", "write_file"), (0, 0, 0, 0, 0))
    for k, bash, said in (
        (1, (0, 0, 0, 0, 0), "tools: bash, read_file, write_file"),
        (6, (1, 1, 0, 0, 0), "not called: read_file, write_file"),
        (7, (1, 0, 1, 0, 0), "not called: read_file, write_file"),
    ):
        assert counts(view, k) == {"bash": bash, **unused}
        assert drawn(view, k)["unused 0"].lines == (said,)


@pytest.mark.parametrize(
    ("how", "is_error", "column"),
    [
        ("ran", False, 2),
        ("ran", True, 3),
        ("refused", True, 4),
        ("invalid", True, 3),
        ("cancelled", True, 3),
        ("cut", True, 3),
        ("raised", True, 3),
        ("unknown", True, 3),
        ("unknown", False, 3),  # a log that doesn't mark it
    ],
)
@pytest.mark.parametrize("started", [True, False])
def test_every_end_is_counted_once(
    how: str, is_error: bool, column: int, started: bool, run: Callable[..., Any]
) -> None:
    one = run()
    one.start()
    if started:
        one.add("tool.started", id="t", name="bash", input={"command": "ls"})
    one.end("t", "bash", "out", is_error=is_error, how=how)
    got = counts(Dispatch(one.log))["bash"]
    assert got == tuple(int(place in (0, column)) for place in range(5))


def test_the_title_says_what_failed(
    run: Callable[..., Any],
) -> None:
    one = run()
    one.start()
    said = [
        (("bash", False, "ran"), "1 call to 1 tool, ok."),
        (("bash", False, "ran"), "2 calls to 1 tool, all ok."),
        (
            ("read_file", True, "raised"),
            "3 calls: read_file failed.",
        ),
        (
            ("bash", True, "refused"),
            "4 calls: read_file failed and bash was refused.",
        ),
        (
            ("read_file", False, "ran"),
            "5 calls: read_file (1 of 2) failed and bash was refused.",
        ),
    ]
    for number, ((name, is_error, how), title) in enumerate(said):
        one.end(f"t{number}", name, "out", is_error=is_error, how=how)
        view = Dispatch(one.log)
        assert view.finding(view.at()) == title


def test_parallel_calls_and_equal_ids_in_two_lanes(run: Callable[..., Any]) -> None:
    lead = run()
    lead.start()
    child = run(lead.log, "lead.t1")
    for one in (lead, child):
        one.add("tool.started", id="same", name="bash", input={})
    assert counts(Dispatch(lead.log))["bash"] == (2, 2, 0, 0, 0)
    child.end("same", "bash", "no", is_error=True)
    assert counts(Dispatch(lead.log))["bash"] == (2, 1, 0, 1, 0)
    assert counts(Dispatch(lead.log, lane="lead"))["bash"] == (1, 1, 0, 0, 0)
    lead.end("same", "bash", "yes")
    assert counts(Dispatch(lead.log))["bash"] == (2, 0, 1, 1, 0)
    assert list(counts(Dispatch(lead.log, lane="lead.t1"), 1)) == ["bash"]
    said = [drawn(Dispatch(lead.log))[f"call {n}"].lines[0] for n in (1, 2)]
    assert said == ["bash", "lead.t1: bash"], "whose call it is"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_each_call_has_a_lane_through_the_gate_to_its_tool_and_back(
    width: float, story: EventLog
) -> None:
    view = Dispatch(story)
    running, done, both = (drawn(view, k, width) for k in (6, 7, 10))
    assert running["call 1"].lines == ("bash",)
    assert running["call 1 line 0"].lines == ("ls | wc -l",)
    assert (running["tool 1"].mark, running["tool 1"].lines) == ("working", ("▶\ufe0e bash",))
    assert not {"result 1", "back 1", "stop 1"} & {shape.key for shape in running.shapes}
    assert (done["result 1"].mark, done["result 1 line 0"].lines) == ("result", ("3",))
    assert (done["back 1"].mark, done["tool 1"].mark) == ("result", "system")
    assert (both["tool 2"].lines, both["tool 2"].style) == (("no such tool",), "md")
    assert (both["result 2"].lines, both["back 2"].mark) == (("✗ does not exist",), "error")
    for shape in running.shapes:  # what stays keeps its key, and its place
        assert (both[shape.key].x, both[shape.key].y) == (shape.x, shape.y) or "unused" in shape.key
    lane = [both[f"{what} 1"] for what in ("call", "wall", "tool", "result")]
    along = [one.y if width < WIDE else one.x for one in lane]
    assert along == sorted(along)
    assert both["call 2"].y >= max(one.y + one.height for one in lane)


@pytest.mark.parametrize("width", [WIDEST, WIDE, NARROW])
def test_the_lanes_fill_the_width_and_their_boxes_lie_apart(width: float, story: EventLog) -> None:
    canvas = drawn(Dispatch(story), None, width)
    boxes = [shape for shape in canvas.shapes if shape.kind == "box"]
    assert min(box.x for box in boxes) == 2
    assert max(box.x + box.width for box in boxes) == pytest.approx(width - 2)
    assert all(apart(one, other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize(("width", "most"), [(WIDE, 8), (NARROW, 4)])
def test_of_many_calls_the_newest_have_lanes_and_the_others_are_counted(
    width: float, most: int, run: Callable[..., Any]
) -> None:
    one = run()
    one.start()
    for number in range(20):
        one.call(f"t{number}", "bash", {"command": "ls"}, "a\n" * 9)
    canvas = drawn(Dispatch(one.log), None, width)
    assert canvas["gone"].lines == (f"… {20 - most} earlier calls …",)
    shown = [n for n in range(1, 21) if f"call {n}" in canvas]
    assert shown == [*range(21 - most, 21)]
    assert canvas["result 20 line 3"].lines == ("…",), "that there is more is seen"
    assert "result 20 line 4" not in canvas


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_refused_call_ends_at_the_gate_at_once(
    width: float, run: Callable[..., Any], tmp_path: Path
) -> None:
    one = run()
    one.start()
    one.call("t", "bash", {"command": "ls"}, "a")
    free = drawn(Dispatch(one.log), None, width)
    log = EventLog()
    denied = lk.Permission({"bash": ("deny", "use the file tools")})
    script = [lk.use("bash", command="ls"), lk.say("No.")]
    lk.Agent(lk.scripted(script), [lk.CodingTools(tmp_path), denied], events=log).run("Go.")
    (begun, ended) = (n for n, event in enumerate(log, 1) if event.type.startswith("tool."))
    view = Dispatch(log)
    at_once, shut = (drawn(view, k, width) for k in (begun, ended))
    for canvas in (at_once, shut):
        assert (canvas["result 1"].lines, canvas["result 1"].mark) == (("⊘ refused",), "error")
        assert "use the file tools" in words(canvas)
        assert (canvas["stop 1"].x, canvas["stop 1"].y) == (canvas["wall 1"].x, canvas["wall 1"].y)
        assert not {"tool 1", "back 1"} & {shape.key for shape in canvas.shapes}
    assert counts(view, begun)["bash"] == counts(view, ended)["bash"] == (1, 0, 0, 0, 1)
    assert "use the file tools" in describe(log[begun - 1])
    reach, through = (
        float(re.findall(r"[HV]([\d.]+)", canvas["way 1"].path)[0]) for canvas in (shut, free)
    )
    assert reach < through / 2, "its arrow ends at the gate"
    assert "stop 1" not in free

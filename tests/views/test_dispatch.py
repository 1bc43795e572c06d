"""The tool dispatch view: every call is counted once, where it belongs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.events.log import EventLog
from learnkit.views import Dispatch
from learnkit.views.drawing.display import NARROW, WIDE
from learnkit.views.words import describe


def counts(view: Dispatch, k: int | None = None) -> dict[str, tuple[int, ...]]:
    return {row.name: row.counts for row in view.at(k).rows.values()}


def test_offered_tools_have_rows_before_they_are_called_and_a_call_runs_and_is_ok(
    story: EventLog,
) -> None:
    view, unused = Dispatch(story), dict.fromkeys(("read_file", "write_file"), (0, 0, 0, 0, 0))
    for k, bash in ((1, (0, 0, 0, 0, 0)), (6, (1, 1, 0, 0, 0)), (7, (1, 0, 1, 0, 0))):
        assert counts(view, k) == {"bash": bash, **unused}


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
    assert list(Dispatch(lead.log, lane="lead.t1").at(1).rows) == ["bash"]


def test_the_current_call_goes_to_its_tool_and_its_result_comes_back(story: EventLog) -> None:
    view = Dispatch(story)
    running, done, later = (view.draw(view.at(k), WIDE, 20) for k in (6, 7, 8))
    assert running["block 0"].lines == ("→\u00a0call bash", "ls | wc -l")
    assert running["way"].path.endswith("m-6 -4l6 4l-6 4")
    assert "block 1" not in running
    assert "back" not in running
    assert (done["block 1"].mark, done["block 1"].lines[1:]) == ("result", ("3",))
    assert done["back"].y == done["box 0"].y + 12, "it comes from the row of the tool"
    lit = [[canvas[f"box {n}"].mark for n in range(3)] for canvas in (running, done, later)]
    assert lit == [["call", "", ""]] * 2 + [["", "", ""]]
    assert later["box 3"].mark == "call"


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_refused_call_ends_at_the_gate_at_once(
    width: float, run: Callable[..., Any], tmp_path: Path
) -> None:
    one = run()
    one.start()
    one.call("t", "bash", {"command": "ls"}, "a")
    view = Dispatch(one.log)
    free = view.draw(view.at(), width, 20)
    assert (free["gate is"].lines, free["gate"].mark) == (("gate",), "system")
    log = EventLog()
    denied = lk.Permission({"bash": ("deny", "use the file tools")})
    script = [lk.use("bash", command="ls"), lk.say("No.")]
    lk.Agent(lk.scripted(script), [lk.CodingTools(tmp_path), denied], events=log).run("Go.")
    (begun, ended) = (n for n, event in enumerate(log, 1) if event.type.startswith("tool."))
    view = Dispatch(log)
    at_once, shut = (view.draw(view.at(k), width, 20) for k in (begun, ended))
    for canvas in (at_once, shut):
        assert (canvas["gate is"].lines, canvas["gate"].mark) == (("⊘ refused",), "error")
        assert "use the file tools" in " ".join(canvas["block 1"].lines)
    assert counts(view, begun)["bash"] == counts(view, ended)["bash"] == (1, 0, 0, 0, 1)
    assert "use the file tools" in describe(log[begun - 1])
    for canvas, ends in ((free, False), (at_once, True), (shut, True)):
        turns = re.findall(r"[HV]", canvas["way"].path)
        assert (len(turns) == 1) == ends, "its arrow does not turn towards a tool"
        reaches = canvas["gate"].path.count("M") == 1
        assert reaches == ends, "the gate has no gap"

"""The tool dispatch view: every call is counted once, where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from learnkit.events.log import EventLog
from learnkit.views import Dispatch
from learnkit.views.drawing.display import NARROW, WIDE


def counts(view: Dispatch, k: int | None = None) -> dict[str, tuple[int, ...]]:
    return {row.name: row.counts for row in view.at(k).rows.values()}


def test_offered_tools_have_rows_before_they_are_called_and_a_call_runs_and_is_ok(
    story: EventLog,
) -> None:
    view, unused = Dispatch(story), dict.fromkeys(("read_file", "write_file"), (0, 0, 0, 0, 0))
    for k, bash in ((1, (0, 0, 0, 0, 0)), (6, (1, 1, 0, 0, 0)), (7, (1, 0, 1, 0, 0))):
        assert counts(view, k) == {"bash": bash, **unused}


def test_an_unknown_name_has_a_row_of_its_own_at_the_end(story: EventLog) -> None:
    view = Dispatch(story)
    assert counts(view)["send_mail"] == (1, 0, 0, 1, 0)
    canvas = view.draw(view.at(), WIDE, 20)
    assert "send_mail (⊘ no such tool)" in canvas["row 3"].lines
    assert canvas["row 3"].says.endswith("calls 1, running 0, ok 0, errors 1, refused 0")
    assert "row 4" not in canvas


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


def test_the_title_says_what_failed_and_what_was_not_used(run: Callable[..., Any]) -> None:
    one = run()
    one.start()
    one.end("a", "bash", "out")
    view, unused = Dispatch(one.log), "read_file and write_file were not used."
    assert view.finding(view.at()) == f"1 call to 1 of 3 tools: 1 ok; {unused}"
    one.end("b", "bash", "out")
    view = Dispatch(one.log)
    assert view.finding(view.at()) == f"2 calls to 1 of 3 tools: all ok; {unused}"
    one.end("c", "read_file", "no such file", is_error=True, how="raised")
    one.end("d", "bash", "not allowed", is_error=True, how="refused")
    view = Dispatch(one.log)
    assert view.finding(view.at()) == (
        "4 calls to 2 of 3 tools: 2 ok, 1 failed (read_file), 1 refused (bash)."
    )


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


def test_the_current_call_is_highlighted_with_input_and_result(story: EventLog) -> None:
    view = Dispatch(story)
    running, done, later = (view.draw(view.at(k), WIDE, 20) for k in (6, 7, 8))
    assert running["row 0"].lines == done["row 0"].lines == ("bash",)
    assert running["now"].y == done["now"].y < running["row 0"].y < running["row 1"].y
    assert running["block 0"].lines == ("→\u00a0call bash", "ls | wc -l")
    assert "block 1" not in running
    assert (done["block 1"].mark, done["block 1"].lines[1:]) == ("result", ("3",))
    assert later["row 2"].y < later["now"].y < later["row 3"].y


def test_a_phone_has_a_column_less_and_a_long_result_three_lines(run: Callable[..., Any]) -> None:
    one = run()
    one.start()
    one.call("t", "bash", {"command": "ls"}, "a\n" * 9)
    view = Dispatch(one.log)
    canvas = view.draw(view.at(), NARROW, 20)
    assert "column running" not in canvas
    assert min(x.x for x in canvas.shapes if x.key.startswith("cell 0 ")) > 100
    assert canvas["block 1"].lines[1:] == ("a", "a", "a …")


def test_code_in_a_result_keeps_its_indentation(run: Callable[..., Any]) -> None:
    one, code = run(), 'def greet(name):\n    """Greet."""\n    return name'
    one.start()
    one.call("t1", "read_file", {"path": "greet.py"}, code)
    view = Dispatch(one.log)
    canvas = view.draw(view.at(), WIDE, 20)
    assert canvas["block 1"].lines[1:] == tuple(code.splitlines())

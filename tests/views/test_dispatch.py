"""The tool dispatch view: every call is counted once, where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from learnkit.core.events import EventLog
from learnkit.views import Dispatch


def counts(view: Dispatch, k: int | None = None) -> dict[str, tuple[int, ...]]:
    return {row.name: row.counts for row in view.at(k).rows.values()}


def test_offered_tools_have_rows_before_they_are_called(story: EventLog) -> None:
    assert counts(Dispatch(story), 1) == {
        "bash": (0, 0, 0, 0, 0),
        "read_file": (0, 0, 0, 0, 0),
        "write_file": (0, 0, 0, 0, 0),
    }


def test_a_call_runs_and_then_is_ok(story: EventLog) -> None:
    view = Dispatch(story)
    assert counts(view, 6)["bash"] == (1, 1, 0, 0, 0)
    assert counts(view, 7)["bash"] == (1, 0, 1, 0, 0)


def test_an_unknown_name_has_a_row_of_its_own_at_the_end(story: EventLog) -> None:
    view = Dispatch(story)
    assert counts(view)["send_mail"] == (1, 0, 0, 1, 0)
    frame = view.frame(view.at())
    assert list(frame)[-2:] == ["tools/send_mail", "call/"]
    assert "no such tool" in frame["tools/send_mail"]


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


def test_the_current_call_is_highlighted_with_input_and_result(story: EventLog) -> None:
    view = Dispatch(story)
    running, done, later = (view.frame(view.at(k)) for k in (6, 7, 8))
    assert 'aria-current="true"' in running["tools/bash"]
    assert "ls | wc -l" in running["call/"]
    assert "m-result" not in running["call/"]
    assert ">3\n<" in done["call/"]
    assert "aria-current" not in later["tools/bash"]
    assert 'aria-current="true"' in later["tools/send_mail"]

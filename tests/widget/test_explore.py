"""Explorables: one cause, one choice, every value answered, also without a kernel."""

from __future__ import annotations

from typing import Any

import pytest

import learnkit as lk
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST, Canvas
from learnkit.widget.explore import Explorable


def stack(width: float, files: int, way: str = "alone") -> lk.Answer:
    canvas = Canvas(width)
    for number in range(files):
        canvas.bar(f"f{number}", 10, 10 * number, width - 20, 8, "cached" if way == "alone" else "")
    because = f"because {files}" if files < 3 else ""
    axis = (10, 0, width - 20, 0) if files < 5 else None
    return lk.Answer(f"{files} files, {way}: <b>", canvas, "8 pixels a file", because, axis)


def explorable() -> Explorable:
    ways = lk.pick(["alone", "parallel"], "parallel")
    files = lk.drag(range(1, 6), 2, "files to read", unit="files")
    return lk.explore(stack, way=ways, files=files)


def test_the_cause_comes_first_and_starts_where_it_is_told() -> None:
    looks = explorable().looks()
    assert [(one["name"], one["kind"], one["start"]) for one in looks] == [
        ("files", "drag", 1),
        ("way", "pick", 1),
    ]
    assert looks[0]["labels"] == [f"{number} files" for number in range(1, 6)]
    assert (looks[0]["label"], looks[1]["label"]) == ("files to read", "way")
    assert str(explorable()) == "2 files, parallel: <b>"
    assert [lk.drag([0, 1, 2], start).start for start in (None, 0, 1)] == [1, 0, 1]


def test_every_answer_is_on_the_tape_as_the_function_gives_it() -> None:
    one = explorable()
    answers = one.tape()["answers"]
    for width in (WIDE, NARROW):
        for choice, way in enumerate(("alone", "parallel")):
            frame: dict[str, str] = {}
            said: dict[str, Any] = {}
            for place, patch in enumerate(answers[str(width)][choice]):
                for key in patch.get("drop", []):
                    del frame[key]
                frame.update(patch.get("set", []))
                answer = stack(width, place + 1, way)
                assert frame == answer.canvas.frame()
                said |= {key: patch[key] for key in answer.said() if key in patch}
                assert said == answer.said()
                assert said["axis"] == (None if place == 4 else [10, 0, width - 20, 0])


def test_without_scripts_three_states_stand_side_by_side_and_what_is_assumed() -> None:
    html = explorable().html()
    assert html.count("<img ") == 3
    assert html.count("files, parallel: &lt;b&gt;</strong>") == 1
    assert "alone" not in html
    for said in ("files to read: 1 files", "files to read: 2 files", "files to read: 5 files"):
        assert said in html
    assert "<summary>Assumptions</summary>8 pixels a file</details>" in html
    assert "because 2" in html
    assert "<b>" not in html


def test_a_function_that_raises_is_an_answer_too() -> None:
    from learnkit.widget.explore_host import Explorer

    def odd(width: float, files: int) -> lk.Answer:
        if files == 3:
            raise ValueError("no <b>three</b>")
        return stack(width, files)

    widget, sent = Explorer(lk.explore(odd, files=lk.drag(range(1, 6), 2))), []
    widget.send = sent.append
    for place, width in ((2, 400), (3, 10_000), (-1, 400), (5, 400)):  # the last two are no places
        widget._heard(widget, {"places": {"files": place}, "width": width}, [])
    assert sent[0] == {"failed": "ValueError: no <b>three</b>"}
    assert [one["finding"] for one in sent[1:]] == ["4 files, alone: <b>"]
    assert sent[1]["width"] == WIDEST


@pytest.mark.parametrize(
    ("controls", "said"),
    [
        ({}, "one drag"),
        ({"way": lk.pick(["a", "b"])}, "one drag"),
        ({"a": lk.drag([1, 2]), "b": lk.drag([1, 2])}, "one drag"),
        ({"a": lk.drag([1, 2]), "b": lk.pick("ab"), "c": lk.pick("ab")}, "at most one pick"),
        ({"a": lk.drag(range(101)), "b": lk.pick("ab")}, "202 combinations"),
    ],
)
def test_more_than_one_cause_is_refused(controls: dict[str, Any], said: str) -> None:
    with pytest.raises(lk.UsageError, match=said):
        lk.explore(stack, **controls)

"""Lesson 3's explorable: its table is what the simulation gives, and its pictures say so."""

from __future__ import annotations

import inspect

import pytest

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.course.lessons.s03 import completion, explorable
from learnkit.course.trials import FEATURE, drift, drifted
from learnkit.simulation.forgetful import Forgetful
from learnkit.views.drawing.display import NARROW, WIDE

STATES = [(window, said) for said in explorable.LENGTHS for window in completion.WINDOWS]


@pytest.mark.slow
@pytest.mark.parametrize(("window", "lines"), [(1_000, 8), (2_000, 8)])
def test_the_table_is_what_the_simulation_gives(window: int, lines: int) -> None:
    assert explorable.rows()[window, lines] == completion.measured(window, lines)


def test_the_table_has_every_window_and_length_once() -> None:
    found = [(row["window"], row["lines"]) for row in completion.table()]
    assert found == [(w, lines) for lines in completion.OUTPUTS for w in completion.WINDOWS]


def test_the_constants_are_those_that_the_trials_use() -> None:
    def default(function: object, name: str) -> object:
        assert callable(function)
        return inspect.signature(function).parameters[name].default

    assert default(Forgetful, "habit") == explorable.HABIT
    assert default(lk.Todo, "remind_after") == explorable.REMINDED
    start = explorable.explorable()
    assert start.controls["window"].values[start.start["window"]] == default(drift, "window")
    # The lesson's cell and the first picture are about the same output.
    lines = default(drift, "output")
    assert isinstance(lines, int)
    assert [*explorable.LENGTHS.values()][start.start["output"]] == lines // completion.LINE
    # A step prints so many lines, and each counts so many tokens with the model.
    (result,) = drifted(0, False, output=3 * completion.LINE)[2]["content"]
    printed = result["content"].split("\n")
    assert [estimate_tokens(line) for line in printed] == [explorable.TOKENS] * 3


def test_the_parts_are_what_the_model_would_see_to_the_last_token() -> None:
    messages = drifted(6, True, output=12 * completion.LINE)[:-1]
    parts = completion.parts(messages)
    assert parts[-1][0] == "request"
    assert [kind for kind, _ in parts].count("request") == 1
    model = Forgetful([lk.simulated.Step("tests")], window=10**9)
    assert sum(tokens for _, tokens in parts) == model.notice({"messages": messages})[0].distance
    calls = [
        block
        for message in messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    names = [call["name"] for call in calls]
    lists = sum(tokens for kind, tokens in parts if kind == "list")
    assert lists > 50 * names.count("todo") > 0
    long = [(kind, tokens) for kind, tokens in parts if kind in ("output", "again") if tokens > 100]
    assert len(long) == names.count("work")
    assert all(12 * explorable.TOKENS <= tokens < 12 * explorable.TOKENS + 10 for _, tokens in long)
    steps = [call["input"]["step"] for call in calls if call["name"] == "work"]
    first = [number for number, step in enumerate(steps) if step not in steps[:number]]
    assert len(first) < len(steps)  # a step was repeated in this run
    kinds = [kind for kind, _ in reversed(long)]
    assert kinds == ["output" if number in first else "again" for number in range(len(steps))]


def test_there_is_a_block_of_output_for_each_step_done() -> None:
    for row in completion.table():
        for kind in ("without", "with"):
            parts = [part for part, tokens in row[kind]["parts"] if tokens > 100]
            assert parts.count("output") == row[kind]["done"], (row["window"], row["lines"], kind)
    canvas = explorable.draw(WIDE, 2_000, "360 tokens").canvas
    row = explorable.rows()[2_000, 8]
    again = [part for part, _ in row["without"]["parts"]].count("again")
    assert again == 1
    said = canvas["without said"].lines[0]
    assert said == f"no list: {row['without']['done']} of {len(FEATURE)} steps done, 1 repeated"
    assert [key for key in canvas.frame() if "without again" in key] == ["@/without again 1"]


@pytest.mark.slow
def test_the_findings_are_those_of_the_runs() -> None:
    said = {state: explorable.draw(WIDE, *state) for state in STATES}
    assert said[3_000, "360 tokens"].finding == (
        "With a window of 3,000 tokens, every run completes either way; "
        "the list only sends 1.7 × the tokens."
    )
    for (window, output), answer in said.items():
        row = explorable.rows()[window, explorable.LENGTHS[output]]
        without, listed = row["without"]["completed"], row["with"]["completed"]
        every = without == listed == 1
        assert ("every run" in answer.finding) == every
        assert ("The whole run" in answer.because) == every
        assert ("Even the list" in answer.because) == (listed < 0.5)
        # Runs that leave steps out send less, so only those that complete both ways are compared.
        assert ("× the tokens" in answer.finding) == (without > 0)
        if not every:
            assert f"{listed:.0%} of the runs" in answer.finding
            assert f"{without:.0%} without" in answer.finding
    off, on = drift(range(40), output=8 * completion.LINE, window=1_000)
    assert [sum(one.completed for one in runs) > 20 for runs in (off, on)] == [False, False]
    assert "Even the list" in said[1_000, "360 tokens"].because
    # At both ends of the curve the list gains nothing, in the middle it does.
    shares = [
        [explorable.rows()[window, 8][kind]["completed"] for kind in ("without", "with")]
        for window in (500, 2_000, 3_000)
    ]
    assert shares[0] == [0, 0]
    assert shares[1][1] > shares[1][0] + 0.4
    assert shares[2] == [1, 1]


@pytest.mark.parametrize("width", [NARROW, 500, WIDE])
def test_everything_keeps_its_scale_and_its_place(width: float) -> None:
    first = explorable.draw(width, *STATES[0]).canvas
    for window, output in STATES:
        canvas = explorable.draw(width, window, output).canvas
        for key in ("share line 100", "from 2000", "shares", "sent"):
            assert canvas[key] == first[key]
        unit, end = (width - 6) / explorable._MOST, width - 4
        assert canvas["window limit"].x == round(end - window * unit)
        assert canvas["half limit"].x == round(end - window / 2 * unit)
        chosen = explorable.rows()[window, explorable.LENGTHS[output]]
        for kind in ("without", "with"):
            row = chosen[kind]
            tokens = sum(tokens for _, tokens in row["parts"])
            assert tokens <= explorable._MOST
            request = canvas[f"{kind} request 1"]
            if abs(tokens - window) > 50:  # left of the limit when out of the window
                assert (request.x < canvas["window limit"].x) == (tokens > window)
            place = completion.WINDOWS.index(window)
            spot = canvas[f"{kind} curve"].path[1:].split("L")[place].split()
            assert [canvas[f"{kind} now"].x, canvas[f"{kind} now"].y] == pytest.approx(
                [int(one) for one in spot], abs=1
            )
        wide = [canvas[f"{kind} tokens"].width for kind in ("without", "with")]
        sent = [chosen[kind]["tokens"] for kind in ("without", "with")]
        assert abs(wide[0] * sent[1] - wide[1] * sent[0]) <= max(sent)  # less than a pixel

"""Lesson 3's explorable: its table is what the simulation gives, and its pictures say so."""

from __future__ import annotations

import inspect
import json

import pytest

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.course.lessons.s03 import completion, explorable
from learnkit.course.trials import drift, drifted
from learnkit.simulation.forgetful import Forgetful
from learnkit.views.drawing.display import NARROW, WIDE


@pytest.mark.parametrize("lines", [0, 7, 14])
def test_the_table_is_what_the_simulation_gives(lines: int) -> None:
    assert explorable.row(lines) == completion.measured(lines)


def test_the_table_has_every_length_once() -> None:
    assert len([*completion.table()]) == len(completion.LINES)
    assert [*completion.LINES] == [*range(len(completion.LINES))]


def test_the_constants_are_those_that_the_trials_use() -> None:
    def default(function: object, name: str) -> object:
        assert callable(function)
        return inspect.signature(function).parameters[name].default

    assert default(Forgetful, "habit") == explorable.HABIT
    assert default(lk.Todo, "remind_after") == explorable.REMINDED
    assert default(drift, "window") == completion.WINDOW
    # A step prints so many lines, and each counts so many tokens with the model.
    (result,) = drifted(0, False, output=3 * completion.LINE)[2]["content"]
    printed = result["content"].split("\n")
    assert [estimate_tokens(line) for line in printed] == [explorable.TOKENS] * 3


def test_the_parts_are_what_the_model_would_see_to_the_last_token() -> None:
    messages = drifted(2, True, output=12 * completion.LINE)[:-1]
    parts = completion.parts(messages)
    assert parts[-1][0] == "request"
    assert [kind for kind, _ in parts].count("request") == 1
    model = Forgetful([lk.models.Step("tests")], window=10**9)
    assert sum(tokens for _, tokens in parts) == model.notice({"messages": messages})[0].distance
    calls = [
        block["name"]
        for message in messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    lists = sum(tokens for kind, tokens in parts if kind == "list")
    assert lists > 50 * calls.count("todo") > 0
    long = [tokens for kind, tokens in parts if kind == "output" and tokens > 100]
    assert len(long) == calls.count("work")
    assert all(12 * explorable.TOKENS <= tokens < 12 * explorable.TOKENS + 10 for tokens in long)


def test_the_findings_are_those_of_the_runs() -> None:
    said = {lines: explorable.draw(WIDE, lines) for lines in completion.LINES}
    assert said[4].finding == (
        "With 180 tokens of output a step, every run is completed, "
        "and the list only sends 2.1 × the tokens."
    )
    for lines, answer in said.items():
        off, on = drift(range(40), output=lines * completion.LINE) if lines in (4, 12) else ([], [])
        row = explorable.row(lines)
        every = row["with"]["completed"] == row["without"]["completed"] == 1
        assert ("every run" in answer.finding) == every == (lines <= 5)
        assert ("All of the work" in answer.because) == every
        assert ("the list, too" in answer.because) == (row["with"]["completed"] < 0.5)
        if off and lines == 12:
            assert sum(one.completed for one in on) > sum(one.completed for one in off) == 0
            assert ", 0% without" in answer.finding
    shares = [explorable.row(lines)["with"]["completed"] for lines in completion.LINES]
    assert shares[0] == 1 > 0.25 > shares[-1]


@pytest.mark.parametrize("width", [NARROW, 500, WIDE])
def test_everything_keeps_its_scale_and_its_place(width: float) -> None:
    first = explorable.draw(width, 0).canvas
    for lines in completion.LINES:
        canvas = explorable.draw(width, lines).canvas
        for key in ("near bracket", "far bracket", "limit 2000", "share line 100"):
            assert canvas[key] == first[key]
        for kind in ("without", "with"):
            row = explorable.row(lines)[kind]
            tokens = sum(tokens for _, tokens in row["parts"])
            assert tokens <= explorable._MOST
            limit = float(canvas["limit 2000"].path.split()[0][1:])
            request = canvas[f"{kind} request 1"]
            if abs(tokens - completion.WINDOW) > 50:  # left of the limit when out of the window
                assert (request.x < limit) == (tokens > completion.WINDOW)
            spot = canvas[f"{kind} curve"].path[1:].split("L")[lines].split()
            assert [canvas[f"{kind} now"].x, canvas[f"{kind} now"].y] == pytest.approx(
                [int(one) for one in spot], abs=1
            )
        wide = [canvas[f"{kind} tokens"].width for kind in ("without", "with")]
        tokens = [explorable.row(lines)[kind]["tokens"] for kind in ("without", "with")]
        assert wide[0] / wide[1] == pytest.approx(tokens[0] / tokens[1], abs=0.03)
        for shape in canvas.shapes:
            assert 0 <= shape.x + (shape.width if shape.kind == "bar" else 0) <= width


def test_every_number_that_it_rests_on_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = explorable.draw(WIDE, 1).assumes
    for name in ("HABIT", "REMINDED", "WINDOW", "SEEDS", "LINE", "CHARS_PER_TOKEN"):
        with monkeypatch.context() as patch:
            patch.setattr(explorable, name, 77)
            assert explorable._assumes() != printed, name
    assert printed.startswith("simulated by a toy model of attention, not an LLM")


def test_a_page_without_a_kernel_carries_all_answers() -> None:
    tape = json.dumps(explorable.explorable().tape(), ensure_ascii=False, separators=(",", ":"))
    assert len(tape.encode()) < 150_000

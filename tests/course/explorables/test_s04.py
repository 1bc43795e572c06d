"""Lesson 4's explorable: contexts, costs and seconds are those of real runs with Subagents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.core.token_count import sent
from learnkit.core.usage import Meter
from learnkit.course.lessons.bills import billed
from learnkit.course.lessons.s04 import explorable
from learnkit.views.drawing.display import NARROW, WIDE

QUESTION = "Which of the files in files/ handle missing readings? One line each."
REPORT = "This file handles missing readings: it skips them, as its docstring says."


def real(files: int, way: str, folder: Path) -> tuple[dict[str, list[int]], Meter]:
    """The tokens of each agent's requests, by lane, and the meter of the run."""
    (folder / "files").mkdir()
    names = [f"files/file_{number:02}.txt" for number in range(1, files + 1)]
    for name in names:
        (folder / name).write_text(("x" * 79 + "\n") * 30)
    reads = {name: lk.use("read_file", path=name) for name in names}
    prompt = "Does {} handle missing readings? Answer in one line."
    tasks = [
        lk.use("task", prompt=prompt.format(name), description=f"read {name[6:-4]}")
        for name in names
    ]
    parts = {"alone": [*reads.values()], "series": tasks, "parallel": [lk.reply(*tasks)]}
    lead = iter([*parts[way], lk.say("All files are read.")])

    def answer(request: dict[str, Any]) -> Any:
        if way == "alone" or any(tool["name"] == "task" for tool in request["tools"]):
            return next(lead)
        asked = str(request["messages"][0]["content"])
        (name,) = [name for name in names if name in asked]
        return reads[name] if len(request["messages"]) == 1 else lk.say(REPORT)

    mechanisms: list[lk.Mechanism] = [lk.CodingTools(folder)]
    if way != "alone":
        mechanisms.append(lk.Subagents(lambda: [lk.CodingTools(folder)]))
    with lk.VirtualClock() as clock:
        agent = lk.Agent(lk.scripted(answer, clock), mechanisms)
        agent.run(QUESTION)
    lanes: dict[str, list[int]] = {}
    for event in agent.events:
        if event.type == "model.replied":
            lanes.setdefault(event.lane, []).append(sent(event.data["usage"]))
    return lanes, Meter.of(agent.events)


@pytest.mark.slow
@pytest.mark.parametrize("way", explorable.WAYS)
@pytest.mark.parametrize("files", [1, 4, 7, 12])
def test_it_is_what_a_real_run_sends(files: int, way: str, tmp_path: Path) -> None:
    lanes, meter = real(files, way, tmp_path)
    run = explorable.run(files, way)
    children = [requests for lane, requests in lanes.items() if lane != "lead"]
    assert run.own.tokens == pytest.approx(max(lanes["lead"]), abs=1)
    assert len(children) == (0 if way == "alone" else files)
    assert {max(one) for one in children} == ({run.child.tokens} if run.child else set())
    assert run.sent == pytest.approx(sum(sum(requests) for requests in lanes.values()), abs=1)
    assert run.cost == pytest.approx(billed(meter), abs=2)
    assert run.seconds == meter.seconds


def test_subagents_send_fewer_tokens_from_four_files_on_and_always_cost_more() -> None:
    eight = explorable.draw(WIDE, 8)
    assert eight.finding == "The parent carries 1.4k tokens, not 5.8k, and all requests cost more."
    assert eight.because == (
        "With 8 subagents, the requests cost 14.1k (8.4k alone), send 16.3k tokens (28.3k), and "
        "take 8 s (9 s)."
    )
    assert explorable.draw(WIDE, 12).finding.startswith("The parent carries 1.7k tokens, not 8.4k")
    for files in explorable.FILES:
        alone, parallel = (explorable.run(files, way) for way in ("alone", "parallel"))
        assert (parallel.sent < alone.sent) == (files >= 4)
        for way in ("series", "parallel"):
            assert explorable.run(files, way).cost > alone.cost


@pytest.mark.parametrize("width", [NARROW, 500, WIDE])
def test_every_bar_is_on_one_scale(width: float) -> None:
    zero, nine = (
        explorable.draw(width, 1).canvas[f"tick {tick}"].path.split()[0][1:] for tick in (0, 9_000)
    )
    unit = (int(nine) - int(zero)) / 9_000
    for files in explorable.FILES:
        canvas = explorable.draw(width, files).canvas
        shared = explorable.run(files, "parallel")
        child = shared.child
        assert child is not None
        rows = {"alone": explorable.run(files, "alone").own, "parent": shared.own}
        rows |= {f"child {number}": child for number in range(files)}
        assert f"child {files} results" not in canvas
        for name, context in rows.items():
            bars = [canvas[f"{name} {part}"] for part in ("prompt, tools", "calls", "results")]
            assert sum(bar.width for bar in bars) == pytest.approx(context.tokens * unit, abs=2)

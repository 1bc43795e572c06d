"""Lesson 5's explorable: contexts and bills are those of real runs with Skills."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.core.token_count import sent
from learnkit.course.lessons.bills import PRICE
from learnkit.course.lessons.s05 import explorable
from learnkit.views.drawing.display import NARROW, WIDE

NAMES = [f"manuals-of-{number:02}" for number in range(explorable.SKILLS)]
RULE = "Before the next step, read what the step before this one has changed.\n"
USE = "Use it whenever someone plans, asks about, changes or reviews what it is about. "


def manuals(folder: Path) -> Path:
    """Skills of 5,000 tokens each, by four characters, with a description of 358 characters."""
    for name in NAMES:
        (folder / name).mkdir(parents=True)
        fields = f"---\nname: {name}\ndescription: {(USE * 5)[:357]}.\n---\n\n"
        body = f"# {name} {RULE * 400}"[:19_999]
        (folder / name / "SKILL.md").write_text(f"{fields}{body}.")
    return folder


def real(used: int, preloaded: int, folder: Path) -> list[dict[str, int]]:
    """What each request of a run used: skills are loaded one a turn, then comes the work."""
    skills = lk.Skills(manuals(folder / "skills"), preload=NAMES[:preloaded])
    loads = [lk.use("load_skill", name=name) for name in NAMES[preloaded:used]]
    work = [lk.use("bash", command="seq 200")] * (explorable.TURNS - 1)
    client = lk.scripted([*loads, *work, lk.say("The work is done, and its notes are written.")])
    tools = lk.Toolbox(lk.CodingTools(folder).bash)
    agent = lk.Agent(client, [tools, skills], max_turns=50)
    agent.run("Do the work.")
    return [event.data["usage"] for event in agent.events if event.type == "model.replied"]


@pytest.mark.slow
@pytest.mark.parametrize("way", explorable.WAYS)
@pytest.mark.parametrize("used", [0, 3, 15, 20])
def test_it_is_what_a_real_run_sends(used: int, way: str, tmp_path: Path) -> None:
    preloaded = explorable.WAYS[way]
    usages = real(used, preloaded, tmp_path)
    requests = [*explorable.requests(used, preloaded)]
    assert len(requests) == len(usages)
    for (known, new), usage in zip(requests, usages, strict=True):
        assert known == pytest.approx(usage["cache_read_input_tokens"], rel=0.002)
        assert known + new == pytest.approx(sent(usage), rel=0.002)
    assert sum(explorable.context(used, preloaded)) == sum(requests[-1])
    dollars = sum(PRICE.of({**usage, "simulated": False}) or 0 for usage in usages)
    bill = explorable.bill(used, preloaded) * PRICE.input / 1e6
    assert bill == pytest.approx(dollars, rel=0.005)


def test_the_catalogue_wins_then_the_mixed_strategy_then_everything() -> None:
    said = [explorable.draw(WIDE, used).finding for used in range(explorable.SKILLS + 1)]
    winners = [line.partition("used, ")[2].partition(" costs least")[0] for line in said]
    some = f"preloading {explorable.FEW}"
    assert winners == ["loading on demand"] * 9 + [some] * 8 + ["preloading all"] * 4
    assert said[3] == ("With 3 skills used, loading on demand costs least.")
    for used in range(len(said)):  # the first cost is the least, and they are the bills
        costs = [
            float(cost)
            for cost in re.findall(r"([\d.]+)k", explorable.draw(WIDE, used).because)[:3]
        ]
        bills = [round(explorable.bill(used, one) / 1000, 1) for one in explorable.WAYS.values()]
        assert sorted(costs) == pytest.approx(sorted(bills))
        assert costs[0] == min(costs)


def test_a_crossing_is_marked_where_the_two_cheapest_lines_meet() -> None:
    found = list(explorable.crossings())
    assert [(first, way) for first, way, _ in found] == [(9, "preload 10"), (17, "preload all")]
    for width in (NARROW, WIDE):
        canvas = explorable.draw(width, 3).canvas
        for (first, way, place), before in zip(found, ("on demand", "preload 10"), strict=True):
            assert first - 1 <= place <= first
            dot = canvas[f"crossing {first}"]
            for one in (way, before):  # the dot is on both lines
                curve = canvas[f"{[*explorable.WAYS].index(one)} curve"].path[1:].split("L")
                (x0, y0), (x1, y1) = (
                    map(int, curve[number].split()) for number in (first - 1, first)
                )
                share = (dot.x - x0) / (x1 - x0)
                assert dot.y == pytest.approx(y0 + share * (y1 - y0), abs=1.5)
            assert canvas[f"crossing of {first}"].lines == (
                f"from {first} skills on, {way} costs least",
            )


def test_what_the_mixed_strategy_saves_is_said_where_it_is_cheapest() -> None:
    most = 0.0
    for used in range(9, 17):
        saved = 1 - explorable.bill(used, 10) / explorable.bill(used, 0)
        because = explorable.draw(WIDE, used).because
        assert f"That saves {saved:.0%} against loading on demand." in because
        assert saved > 0
        most = max(most, saved)
    assert f"{most:.0%}" == "15%"  # as the lesson says, and what three used skills cost
    assert 2 < explorable.bill(3, 10) / explorable.bill(3, 0) < 3


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_the_shown_state_sets_the_three_ways_apart(width: float) -> None:
    start = explorable.explorable().controls["used"]
    canvas = explorable.draw(width, start.values[start.start]).canvas
    heights = sorted(canvas[f"{row} now"].y for row in range(3))
    assert all(lower - upper > 10 for upper, lower in pairwise(heights))
    for number in range(0, 21, 5):  # the axis has numbers, and the marker is above its own
        at = canvas[f"used tick {number}"].x
        assert explorable.draw(width, number).canvas["cause"].x == pytest.approx(at, abs=1)


def test_what_is_not_used_is_shown_as_such() -> None:
    assert explorable.context(3, 20)[2] == 17 * explorable.PRELOADED
    assert explorable.context(3, 4)[2] == explorable.PRELOADED
    assert explorable.context(3, 0)[2] == 0
    used = [explorable.context(number, 0)[1] for number in (0, 10, 20)]
    assert used == [0, 10 * explorable.LOADED, 20 * explorable.LOADED]


@pytest.mark.parametrize("width", [NARROW, 500, WIDE])
def test_the_bars_and_curves_are_on_scales_that_stay(width: float) -> None:
    first = explorable.draw(width, 0).canvas
    zero, half = (int(first[f"tick {tick}"].path.split()[0][1:]) for tick in (0, 50_000))
    for used in range(explorable.SKILLS + 1):
        canvas = explorable.draw(width, used).canvas
        for key in ("tick 50000", "bill line 80000"):
            assert canvas[key] == first[key]
        for row, preloaded in enumerate(explorable.WAYS.values()):
            bars = [
                canvas[f"{row} {word}"] for word in ("catalogue, tools", "used", "not used", "work")
            ]
            tokens = sum(explorable.context(used, preloaded))
            assert sum(bar.width for bar in bars) == pytest.approx(
                tokens * (half - zero) / 50_000, abs=2
            )
            curve = canvas[f"{row} curve"].path[1:].split("L")[used].split()
            dot = canvas[f"{row} now"]
            assert [dot.x, dot.y] == pytest.approx([int(one) for one in curve], abs=1)
        assert len({canvas[f"{row} line"].y for row in range(3)}) == 3

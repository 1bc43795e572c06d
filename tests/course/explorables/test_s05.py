"""Lesson 5's explorable: bills are those of real runs with Skills."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.core.token_count import sent
from learnkit.course.lessons.bills import PRICE
from learnkit.course.lessons.s05 import explorable
from learnkit.views.drawing.display import WIDE

NAMES = [f"manuals-of-{number:02}" for number in range(explorable.SKILLS)]
RULE = "Before the next step, read what the step before this one has changed.\n"
LOADS = (explorable.ALONE, explorable.BESIDE)
USE = "Use it whenever someone plans, asks about, changes or reviews what it is about. "


def manuals(folder: Path) -> Path:
    """Skills of 5,000 tokens each, by four characters, with a description of 358 characters."""
    for name in NAMES:
        (folder / name).mkdir(parents=True)
        fields = f"---\nname: {name}\ndescription: {(USE * 5)[:357]}.\n---\n\n"
        body = f"# {name} {RULE * 400}"[:19_999]
        (folder / name / "SKILL.md").write_text(f"{fields}{body}.")
    return folder


def real(used: int, preloaded: int, loads: str, folder: Path) -> list[dict[str, int]]:
    """What each request of a run used: skills are loaded, then comes the work, or both at once."""
    skills = lk.Skills(manuals(folder / "skills"), preload=NAMES[:preloaded])
    needed = [lk.use("load_skill", name=name) for name in NAMES[preloaded:used]]
    first, *work = [lk.use("bash", command="seq 200")] * (explorable.TURNS - 1)
    begin = [*needed, first] if loads == explorable.ALONE else [lk.reply(*needed, first)]
    client = lk.scripted([*begin, *work, lk.say("The work is done, and its notes are written.")])
    tools = lk.Toolbox(lk.CodingTools(folder).bash)
    agent = lk.Agent(client, [tools, skills], max_turns=50)
    agent.run("Do the work.")
    return [event.data["usage"] for event in agent.events if event.type == "model.replied"]


@pytest.mark.slow
@pytest.mark.parametrize("loads", LOADS)
@pytest.mark.parametrize("way", explorable.WAYS)
@pytest.mark.parametrize("used", [0, 3, 20])
def test_it_is_what_a_real_run_sends(used: int, way: str, loads: str, tmp_path: Path) -> None:
    preloaded = explorable.WAYS[way]
    usages = real(used, preloaded, loads, tmp_path)
    requests = [*explorable.requests(used, preloaded, loads)]
    assert len(requests) == len(usages)
    near = 0.002 if loads == explorable.ALONE else 0.004  # fewer messages, of 15 tokens each
    for (known, new, _), usage in zip(requests, usages, strict=True):
        assert known == pytest.approx(usage["cache_read_input_tokens"], rel=near)
        assert known + new == pytest.approx(sent(usage), rel=near)
    dollars = sum(PRICE.of({**usage, "simulated": False}) or 0 for usage in usages)
    bill = explorable.bill(used, preloaded, loads) * PRICE.input / 1e6
    assert bill == pytest.approx(dollars, rel=0.005)


@pytest.mark.parametrize(("loads", "first"), [(LOADS[0], 16), (LOADS[1], 20)])
def test_preloading_wins_late_and_the_picture_says_so_only_there(loads: str, first: int) -> None:
    for used in range(explorable.SKILLS + 1):
        answer = explorable.draw(WIDE, used, loads)
        best = "preloading all" if used >= first else "loading on demand"
        assert f"used, {best} costs least" in answer.finding
        costs = re.findall(r"([\d.]+)k", answer.because)
        bills = [explorable.bill(used, n, loads) / 1000 for n in explorable.WAYS.values()]
        assert costs == [f"{bill:.1f}" for bill in sorted(bills)]
        said = [line for shape in answer.canvas.shapes for line in shape.lines]
        assert any(f"from {first} skills on" in line for line in said) == (used >= first)

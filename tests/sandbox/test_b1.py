"""Lesson b1's sandbox: what it stops is what the lesson prints where there is none."""

from __future__ import annotations

import pytest
from cells import agent
from gates import ATTACKS, DELETE, at_work, harm

from learnkit.course.lessons.b1.explorable import PASSES, STEPS
from learnkit.course.lessons.b1.sandbox import OURS, works

BOX = {"SANDBOX": True, "KEEP": ["stations"]}


@pytest.mark.parametrize("attack", OURS)
def test_each_attack_ends_as_the_lesson_says(attack: str) -> None:
    module = agent("b1")
    assert works(module)
    for box, ends in ({}, "HARM"), (BOX, OURS[attack]):
        rules = {"allow": [rule for rule, _ in ATTACKS[attack]]}
        with at_work(module, RULES=rules, **box) as folder:
            for rule, given in ATTACKS[attack]:
                call = {"id": "toolu_1", "name": rule.partition("(")[0], "input": given}
                module.run_call(module.Agent(), call)
            assert ("HARM" if harm(folder) else "stopped") == ends


def test_each_command_of_the_picture_ends_as_it_says() -> None:
    module = agent("b1")
    for step in STEPS:
        if step.tool == "bash":
            with at_work(module, **BOX) as folder:
                (folder / "tests" / "conftest.py").write_text(DELETE)
                module.bash(module.Agent(), step.about)
                assert bool(harm(folder)) == bool(step.end), step
            with at_work(module) as folder:  # and without it
                (folder / "tests" / "conftest.py").write_text(DELETE)
                module.bash(module.Agent(), step.about)
                assert bool(harm(folder)) == bool(step.end or step.sandbox[0] != PASSES), step


def test_nothing_runs_without_bubblewrap() -> None:
    module = agent("b1")
    call = {"id": "toolu_1", "name": "bash", "input": {"command": "touch stations/made"}}
    with at_work(module, RULES={"allow": ["bash"]}, BWRAP="no-such-bwrap", **BOX) as folder:
        assert module.run_call(module.Agent(), call)["is_error"]
        assert not harm(folder)

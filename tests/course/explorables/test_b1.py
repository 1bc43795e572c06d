"""Lesson b1's explorable: the lesson's own file decides about each call as the picture says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells import agent
from gates import at_work, call_of, guard

from learnkit.course.lessons.b1.explorable import (
    ASKS,
    BOX,
    NO,
    PASSES,
    PLANS,
    STEPS,
    STOPS,
    YES,
    way,
)
from learnkit.course.lessons.verdicts import with_settings

pytestmark = pytest.mark.slow


def test_plan_mode_the_guard_and_the_rules_decide_as_the_picture_says(tmp_path: Path) -> None:
    module, program = agent("b1"), guard(tmp_path)
    with at_work(module, GUARD=program):
        lead = module.Agent()
        for step in STEPS:
            call = call_of(step)
            allowed = module.ruling(lead, call) == "allow" or step.tool == "read_file"
            assert (PASSES if allowed else ASKS) == step.rules[0], step
            guards = module.ask_guard(call)
            assert (STOPS if guards else PASSES) == step.guard[0], step
            for user in (NO, YES, PLANS):
                before = {gate for gate, said, _ in way(step, user) if said == STOPS} - {BOX}
                asked = {"PLANNING": user == PLANS, "ask_user": lambda _, user=user: user == YES}
                with with_settings(module, ask_guard=lambda _, guards=guards: guards, **asked):
                    assert bool(module.permission(lead, call)) == bool(before), (step, user)


@pytest.mark.parametrize(
    "line", ["git 'diff", "git diff \\; rm -r x", 'git diff "$(rm x)"', "a\nb"]
)
def test_what_cannot_be_split_is_asked_even_where_all_of_git_is_allowed(line: str) -> None:
    module = agent("b1")
    with at_work(module):
        call = {"name": "bash", "input": {"command": line}}
        assert module.ruling(module.Agent(), call) == "ask"


def test_a_path_is_compared_where_it_leads() -> None:
    module = agent("b1")
    with at_work(module) as folder:
        (folder / "tests" / "away").symlink_to("../stations")
        for path, said in (
            ("tests/test_new.py", "allow"),
            ("stations/../tests/a.py", "allow"),
            ("tests/../stations/oslo.csv", ""),
            ("tests/away/oslo.csv", ""),
        ):
            call = {"name": "write_file", "input": {"path": path}}
            assert module.ruling(module.Agent(), call) == said, path


def test_deny_goes_before_ask_and_ask_before_allow() -> None:
    module = agent("b1")
    call = {"name": "bash", "input": {"command": "git push"}}
    rules = {"allow": ["bash(git:*)"], "ask": ["bash(git push)"], "deny": ["bash"]}
    for said in ("deny", "ask", "allow"):
        with at_work(module, RULES=rules):
            assert module.ruling(module.Agent(), call) == said
        del rules[said]


def test_a_subagent_of_plan_mode_only_reads_and_an_approval_opens_it() -> None:
    module = agent("b1")
    write = {"id": "toolu_1", "name": "write_file", "input": {"path": "a.txt", "content": "a"}}
    answers = iter([False, True])
    settings = {"RULES": {"allow": ["write_file"]}, "ask_user": lambda _: next(answers)}
    with at_work(module, PLANNING=True, **settings) as folder:
        lead, child = module.Agent(), module.Agent("lead-1", None, ("read", "write"))
        assert "propose_plan" in lead.tools
        assert "propose_plan" not in child.tools
        with pytest.raises(PermissionError):
            module.propose_plan(lead, "Write a.txt.")
        assert module.run_call(child, write)["is_error"]
        assert not (folder / "a.txt").exists()
        module.propose_plan(lead, "Write a.txt.")
        assert "is_error" not in module.run_call(child, write)

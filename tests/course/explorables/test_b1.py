"""Lesson b1's explorable: the lesson's own file decides about each call as the picture says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells import agent
from gates import at_work, call_of, guard

from learnkit.course.lessons.b1.explorable import (
    ASKS,
    GUARD,
    MODE,
    NO,
    PASSES,
    PLANS,
    RULES,
    STEPS,
    STOPS,
    YES,
    way,
)


def test_plan_mode_the_guard_and_the_rules_decide_as_the_picture_says(tmp_path: Path) -> None:
    module, program = agent("b1"), guard(tmp_path)
    for step in STEPS:
        call = call_of(step)
        with at_work(module):
            said = module.ruling(module.Agent(), call) or (step.tool == "read_file" and "allow")
        assert {"allow": PASSES}.get(said, ASKS) == step.rules[0], step
        with at_work(module, GUARD=program):
            assert (STOPS if module.ask_guard(call) else PASSES) == step.guard[0], step
        for user in (NO, YES, PLANS):
            stopped = any(
                gate in (MODE, GUARD, RULES) and said == STOPS for gate, said, _ in way(step, user)
            )
            settings = {"PLANNING": user == PLANS, "ask_user": lambda _, user=user: user == YES}
            with at_work(module, GUARD=program, **settings):
                assert bool(module.permission(module.Agent(), call)) == stopped, (step, user)


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
        assert "propose_plan" in lead.tools and "propose_plan" not in child.tools
        with pytest.raises(PermissionError):
            module.propose_plan(lead, "Write a.txt.")
        assert module.run_call(child, write)["is_error"] and not (folder / "a.txt").exists()
        module.propose_plan(lead, "Write a.txt.")
        assert "is_error" not in module.run_call(child, write)

"""Permission: what is not allowed does not run, and every decision is in the log."""

from __future__ import annotations

from typing import Any

import pytest

import learnkit as lk
from learnkit.core.agent import Agent
from learnkit.core.interface import Call
from learnkit.errors import UsageError
from learnkit.mechanisms.permission import Permission


def agent() -> Agent:
    return Agent(lk.scripted([]))


def call(name: str = "bash", **arguments: Any) -> Call:
    return Call("id_1", name, arguments)


def decided(by: Agent) -> list[dict[str, Any]]:
    return [event.data for event in by.events if event.type == "permission.decided"]


def test_a_policy_looks_at_the_call() -> None:
    def policy(call: Call) -> Any:
        return ("deny", "it deletes") if "rm" in call.input["command"] else "allow"

    permission, lead = Permission(policy), agent()
    assert permission.refuse(lead, call(command="ls")) is None
    assert permission.refuse(lead, call(command="rm x")) == "Permission denied: it deletes."
    assert decided(lead) == [
        {"id": "id_1", "name": "bash", "decision": "allow", "answer": "", "reason": ""},
        {"id": "id_1", "name": "bash", "decision": "deny", "answer": "", "reason": "it deletes"},
    ]


RULES = {
    "*": "deny",
    "task_*": "ask",
    "task_list": "allow",
    "[rw]*_file": "allow",
    "task_?*": "deny",
}


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("task_list", "allow"),  # an exact name before a pattern
        ("task_create", "ask"),  # the first of two patterns
        ("read_file", "allow"),
        ("edit_file", "deny"),  # "*" last, although it stands first
        ("bash", "deny"),
    ],
)
def test_rules_by_name_and_pattern(name: str, decision: str) -> None:
    lead = agent()
    Permission(RULES).refuse(lead, call(name))  # type: ignore[arg-type]
    assert decided(lead)[0]["decision"] == decision


def because(call: Call) -> Any:
    return False, "that file is generated."


@pytest.mark.parametrize(
    ("policy", "ask", "said"),
    [
        (lambda call: "deny", None, "the permission policy denies bash"),
        ({"bash": ("deny", "this is a reading exercise")}, None, "this is a reading exercise"),
        (
            {"other": "allow"},
            None,
            "bash needs the user's approval (no rule allows it), and no user can be asked",
        ),
        ({"*": "ask"}, because, "the user declined this call: that file is generated"),
    ],
)
def test_the_model_reads_why(policy: Any, ask: Any, said: str) -> None:
    assert Permission(policy, ask).refuse(agent(), call()) == f"Permission denied: {said}."


def test_the_person_is_asked_about_each_call() -> None:
    asked: list[Call] = []
    answers = iter([True, False, True])

    def ask(call: Call) -> bool:
        asked.append(call)
        return next(answers)

    permission, lead = Permission(lambda call: ("ask", "it writes"), ask), agent()
    assert permission.refuse(lead, call(command="a")) is None
    assert permission.refuse(lead, call(command="b")) == (
        "Permission denied: the user declined this call (it writes)."
    )
    assert permission.refuse(lead, call(command="c")) is None
    assert [one.input["command"] for one in asked] == ["a", "b", "c"]
    assert [one["answer"] for one in decided(lead)] == ["yes", "no", "yes"]


def test_always_is_remembered_for_the_tool_and_for_no_other() -> None:
    asked: list[str] = []

    def ask(call: Call) -> Any:
        asked.append(call.name)
        return "always" if call.name == "bash" else False

    permission, lead = Permission({"*": "ask"}, ask), agent()
    refusals = [
        permission.refuse(lead, call(name, command=text))
        for name, text in (("bash", "ls"), ("bash", "rm -r ."), ("write_file", "ls"))
    ]
    assert [refusal is None for refusal in refusals] == [True, True, False]
    assert asked == ["bash", "write_file"]
    assert [one["answer"] for one in decided(lead)] == ["always", "remembered", "no"]
    assert Permission({"*": "ask"}).refuse(agent(), call("bash")) is not None, "nor for others"


def test_always_does_not_outweigh_a_denial() -> None:
    rulings = iter(["ask", "deny"])
    permission = Permission(lambda call: next(rulings), lambda call: "always")  # type: ignore[arg-type]
    assert permission.refuse(agent(), call()) is None
    assert permission.refuse(agent(), call()) is not None


@pytest.mark.parametrize("said", ["no", "yes", None, 1, 0, ""])
def test_an_answer_that_is_none_is_refused(said: Any) -> None:
    lead = agent()
    with pytest.raises(UsageError, match="it must return True, False, 'always' or"):
        Permission(lambda call: "ask", lambda call: said).refuse(lead, call())
    assert decided(lead) == []


@pytest.mark.parametrize("ruling", ["Allow", "yes", True, None, ("allow",), ("no", "why"), []])
def test_a_decision_that_is_none_is_refused(ruling: Any) -> None:
    with pytest.raises(UsageError, match=r"the policy for 'bash' gives .*allow, ask, deny"):
        Permission(lambda call: ruling).refuse(agent(), call())
    with pytest.raises(UsageError, match=r"the rule for 'bash' gives .*allow, ask, deny"):
        Permission({"bash": ruling})


def test_an_error_in_the_policy_goes_on_up_so_the_call_does_not_run() -> None:
    with pytest.raises(ZeroDivisionError):
        Permission(lambda call: 1 / 0).refuse(agent(), call())  # type: ignore[arg-type,return-value]

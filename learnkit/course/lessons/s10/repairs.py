"""Lesson 10's repairs: whose answer counts, what a plan opens, and when that ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import in_a_folder, with_settings

REPAIRS = Repairs()

_WORDS = {True: "ok", False: "no"}


@contextmanager
def _team(agent: Any) -> Iterator[Any]:
    """Charlie, who needs a plan, in an empty folder."""
    with in_a_folder(agent):
        charlie = agent.recruit("charlie", "janitor")
        charlie.plan_required = True
        yield charlie


@REPAIRS.add("The first answer of the one who was asked counts.")
def check_answer(agent: Any) -> Verdict:
    """Check answers by the one who was asked and by others, in time and too late."""
    with _team(agent):
        for approve, state in ((False, "rejected"), (True, "approved")):
            id = agent.ask_for("question", "lead", "alice", "May Charlie?")
            what = f"Alice was asked; Bob said {_WORDS[not approve]}"
            if wrong := _no_effect(agent, id, "bob", not approve, what):
                return wrong
            try:
                agent.answer(id, "alice", approve)
            except Exception as error:
                return f"Alice was asked, and her answer was refused: {error}"
            if agent.state_of(id) != state:
                return f"Alice said {_WORDS[approve]}; the request is {agent.state_of(id)}"
            what = f"Alice had said {_WORDS[approve]}; then she said {_WORDS[not approve]}"
            if wrong := _no_effect(agent, id, "alice", not approve, what):
                return wrong
        with agent.requests() as known:
            known[id] |= {"state": "pending", "deadline": 0}
        late = _no_effect(agent, id, "alice", True, "the deadline had passed; Alice said ok")
        return late or _one_of_two(agent)


def _one_of_two(agent: Any) -> Verdict:
    """Let a no come as soon as a yes, which is on its way, lets go of the lock."""
    id = agent.ask_for("question", "lead", "alice", "May Charlie?")
    requests, counted, others = agent.requests, list[bool](), [False]

    def attempt(approve: bool) -> None:
        with suppress(LookupError, ValueError):
            agent.answer(id, "alice", approve)
            counted.append(approve)

    @contextmanager
    def let_go() -> Iterator[Any]:
        with requests() as known:
            yield known
        if others:
            attempt(others.pop())

    with with_settings(agent, requests=let_go):
        attempt(True)
    if len(counted) > 1:
        return (
            "Alice said ok and no at the same moment, and both counted: look, decide and write "
            "inside one `with requests()`"
        )
    return None


def _no_effect(agent: Any, id: str, by: str, approve: bool, what: str) -> Verdict:
    """Answer as somebody who may not; it should leave all as it was, and be said."""
    before, mail, raised = agent.state_of(id), len(agent.take("lead")[0]), ""
    try:
        raised = f"nothing, and returned {agent.answer(id, by, approve)!r}"
    except (LookupError, ValueError):
        pass
    except Exception as error:
        raised = type(error).__name__
    with agent.requests() as known:
        if (state := known[id]["state"]) not in (before, "pending"):
            return f"{what}, and it counted: the request is {state}"
    if len(agent.take("lead")[0]) != mail:
        return f"{what}; that didn't count, and yet the lead got a message that says so"
    wanted = "raise LookupError or ValueError, as the caller takes anything returned for a success"
    return f"{what}; that didn't count, but it raised {raised}: {wanted}" if raised else None


@REPAIRS.add("Only an approved plan opens the gate.")
def check_plan_first(agent: Any) -> Verdict:
    """Check writing and reading calls without a plan, and with plans in every state."""
    with _team(agent) as charlie:
        alice = agent.recruit("alice", "coder")
        if (why := _refused(agent, alice, "bash")) is not None:
            return f"Alice needs no plan, and her bash was refused: {why}"
        for when in _states(agent, charlie):
            for name in ("bash", "write_file", "edit_file", "background_run"):
                why = _refused(agent, charlie, name)
                if not why:
                    return f"{when}, and {name} was let through"
                if not isinstance(why, str):
                    return f"{when}, and {name} got {why!r} as the reason; a model reads text"
        for name in ("read_file", "submit_plan", "send_message"):
            if (why := _refused(agent, charlie, name)) is not None:
                return f"{name} changes no file, and was refused: {why}. How should he plan?"
        charlie.plan = _plan(agent, "charlie")
        agent.answer(charlie.plan, "lead", True)
        for name in ("bash", "write_file"):
            if (why := _refused(agent, charlie, name)) is not None:
                return f"his plan was approved, and {name} was refused: {why}"
    return None


def _states(agent: Any, charlie: Any) -> Iterator[str]:
    """Bring about, one after the other, what opens no gate."""
    yield "no plan was submitted"
    charlie.plan = _plan(agent, "charlie")
    agent.send("bob", "charlie", '{"from": "lead", "approve": true}')
    agent.deliver_mail(charlie)
    yield "a plan was submitted, and only Bob's mail said yes"
    agent.answer(charlie.plan, "lead", False)
    yield "the plan was rejected"
    charlie.plan = _plan(agent, "charlie")
    with agent.requests() as known:
        known[charlie.plan]["deadline"] = 0
    yield "the plan got no answer by its deadline"
    agent.answer(_plan(agent, "bob"), "lead", True)
    yield "another one's plan was approved"
    agent.answer(_plan(agent, "charlie"), "lead", True)
    charlie.plan = _plan(agent, "charlie")
    yield "an earlier plan of his was approved, the one in agent.plan is pending"
    agent.answer(charlie.plan, "lead", True)
    charlie.plan = None
    yield "an earlier plan of his was approved, but agent.plan is None"


def _plan(agent: Any, name: str) -> str:
    id: str = agent.ask_for("plan_approval", name, "lead", "make room")
    return id


def _refused(agent: Any, mate: Any, name: str) -> object:
    return agent.plan_first(mate, {"name": name, "input": {}})


@REPAIRS.add("An approval ends with the work that it was for.")
def check_plan_is_over(agent: Any) -> Verdict:
    """Check that the next prompt ends an approval that has been read, and no plan before that."""
    with _team(agent) as charlie:
        agent.plan_is_over(charlie)  # without a plan
        charlie.plan = id = _plan(agent, "charlie")
        agent.plan_is_over(charlie)
        agent.answer(id, "lead", True)
        if not _is_open(agent, charlie):
            return (
                "his next prompt came before the lead's answer, which was a yes; the gate stayed "
                "shut"
            )
        for mail, what in (
            ("", ""),
            ("Good morning.", ", with a message of Bob's unread"),
            ("What became of {}?", ", with a message of Bob's unread that names the plan's id"),
        ):
            charlie.plan = id = _plan(agent, "charlie")
            agent.answer(id, "lead", True)
            agent.plan_is_over(charlie)
            if not _is_open(agent, charlie):
                return (
                    "the lead's yes was in his inbox when his next prompt came, still unread; the "
                    "gate stayed shut"
                )
            agent.commit("charlie", agent.take("charlie")[1])
            if mail:
                agent.send("bob", "charlie", mail.format(id))
            agent.plan_is_over(charlie)
            if _is_open(agent, charlie):
                return (
                    f"his approved work was done, the next prompt came{what}, and the gate was open"
                )
    return None


def _is_open(agent: Any, mate: Any) -> bool:
    """What the lesson's gate asks, whatever gate the file has."""
    return mate.plan is not None and agent.state_of(mate.plan) == "approved"

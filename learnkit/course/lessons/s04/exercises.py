"""Lesson 4's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.core.events import LANE
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check


@lk.tool
def _look(place: str = "") -> str:
    """Look at something."""
    return f"much text about {place} " * 30


def _task(prompt: str = "Look.") -> Any:
    return lk.use("task", prompt=prompt, description="look")


def check_spared(spared: Any) -> Verdict:
    """Check the tokens that the parent was spared: those of the children, less their reports.

    Args:
        spared: the learner's function of the events.
    """
    log = lk.EventLog()
    if (told := spared(log)) != 0:
        return f"a log without subagents spared nothing, so 0; it says {told!r}"
    log.append("run.ended", reason="end_turn", text="", turns=3)
    for tokens, returned in ((900, 40), (300, 300), (1_200, 10)):
        about: dict[str, Any] = {"parent": "lead", "call": "t1", "reason": "end_turn", "turns": 2}
        log.append("subagent.ended", lane="lead.t1", tokens=tokens, returned=returned, **about)
    if (told := spared(log)) != 2_050:
        return (
            "children with 900, 300 and 1,200 tokens gave back 40, 300 and 10: that is 2,050 "
            f"spared; it says {told!r}"
        )
    return None


SPARED_LOOP = """
def spared(events):
    total = 0
    for event in events:
        match event.type:
            case "subagent.ended":
                total += event.data["tokens"]
                total -= event.data["returned"]
    return total
""".strip()


def _is_mechanism(made: Any) -> bool:
    return isinstance(made, type) and issubclass(made, lk.Mechanism)


def check_brief(Brief: Any) -> Verdict:
    """Check that a child with a long report is asked once for a shorter one.

    Args:
        Brief: the learner's class; it takes ``limit``, in characters.
    """
    if not _is_mechanism(Brief):
        return "`Brief` must be a class that is an lk.Mechanism"
    long = "word " * 100
    for said, wanted, what in (
        ([long, "short"], "short", "a report of 500 characters"),
        (["fine"], "fine", "a short report"),
        ([long, long, "late"], long.strip(), "a child that stays long-winded"),
    ):
        agent = lk.Agent(lk.scripted([lk.say(text) for text in said]), [Brief(limit=80)])
        try:
            outcome = agent.run("Report.")
        except lk.LearnkitError as error:
            return f"{what}: {error}"
        except Exception as error:
            if "script held only" in str(error):
                return f"{what}: it was asked for more than it should be"
            return f"{what}: {type(error).__name__}: {error}"
        if outcome.text.strip() != wanted:
            shown = outcome.text if len(outcome.text) < 60 else f"{outcome.text[:57]}…"
            return f"{what}: turns: {outcome.turns}, and the last text is {shown!r}"
    return None


BRIEF_LOG = '''
import learnkit as lk


class Brief(lk.Mechanism):
    """Asks once for a shorter report, when the last text is over ``limit`` characters."""

    def __init__(self, limit=400):
        self.limit, self.left = limit, 1

    def on_stop(self, agent):
        said = [event for event in agent.events if event.type == "message.added"]
        blocks = said[-1].data["message"]["content"]
        long = sum(len(block.get("text", "")) for block in blocks) > self.limit
        if long and self.left:
            self.left -= 1
            return "That is too long. Shorter, please."
'''.strip()


def check_retry(Retrying: Any) -> Verdict:
    """Check that a failed subtask is tried once more, by a new child.

    Args:
        Retrying: the learner's class; it starts subagents.
    """
    if not _is_mechanism(Retrying):
        return "`Retrying` must be a class that is an lk.Mechanism, such as one of lk.Subagents"

    def answers(outcomes: list[bool]) -> tuple[lk.Agent, list[str]]:
        lead, lanes = iter([_task(), lk.say("done")]), list[str]()

        def answer(request: dict[str, Any]) -> Any:
            lane = LANE.get()
            if lane == "lead":
                return next(lead)
            lanes.append(lane)
            fine = outcomes[min(len(lanes), len(outcomes)) - 1]
            return lk.say("found") if fine else lk.fail(400, "no")

        agent = lk.Agent(lk.scripted(answer), [Retrying(lambda: [lk.Toolbox(_look)])])
        agent.run("go")
        return agent, lanes

    for outcomes, asked, failed, what in (
        ([True], 1, False, "a child that succeeds"),
        ([False, True], 2, False, "a child that fails once"),
        ([False, False, False], 2, True, "children that fail again and again"),
    ):
        agent, lanes = answers(outcomes)
        result = agent.messages[2]["content"][0]
        if len(lanes) != asked:
            return f"{what}: children asked: {len(lanes)}, not {asked}"
        if bool(result.get("is_error")) != failed:
            return f"{what}: the result is {'an' if not failed else 'no'} error: {result!r}"
    return None


RETRY_LOOP = '''
import learnkit as lk


class Retrying(lk.Subagents):
    """Subagents whose failed tasks are tried once more."""

    @lk.tool
    def task(self, call: lk.Call, prompt: str, description: str) -> str:
        """Hand a subtask to a subagent."""
        first = super().task
        for last in (False, True):
            try:
                return first(call=call, prompt=prompt, description=description)
            except lk.ToolError:
                if last:
                    raise
'''.strip()


EXERCISES = {
    "spared": Check(
        check_spared,
        right=[SPARED_LOOP],
        wrong=[
            SOLUTION.replace(' - data["returned"]', ""),
            SOLUTION.replace(' if event.type == "subagent.ended"', ""),
        ],
    ),
    "Brief": Check(
        check_brief,
        right=[BRIEF_LOG],
        wrong=[
            SOLUTION.replace("self.asked or len", "len"),
            SOLUTION.replace("<= self.limit", "<= 5_000"),
            SOLUTION.replace("len(text) <= self.limit", "len(text) > self.limit"),
        ],
    ),
    "Retrying": Check(
        check_retry,
        right=[RETRY_LOOP],
        wrong=[
            RETRY_LOOP.replace("(False, True)", "(False, False, True)"),
            RETRY_LOOP.replace(
                "                    raise\n", "                    return 'no'\n"
            ).replace("                    raise", "                    return 'no'"),
        ],
    ),
}

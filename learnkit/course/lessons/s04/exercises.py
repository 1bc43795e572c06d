"""Lesson 4's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import is_mechanism
from learnkit.events.log import LANE


@lk.tool(read_only=True)
def _look() -> None:
    """Look at something."""


def _task(**more: str) -> Any:
    return lk.use("task", prompt="Look.", description="look", **more)


@lk.tool
def _change() -> None:
    """Change something; no child of the kind explore has this tool."""


def check_spared(spared: Any) -> Verdict:
    """Check the tokens that the parent was spared: those of the children, less their reports."""
    log = lk.EventLog()
    if (returned := spared(log)) != 0:
        return f"for a log without subagents, your function returned {returned!r}; it should be 0"
    log.append("run.ended", reason="end_turn", text="", turns=3)
    for tokens, reported in ((900, 40), (300, 300), (1_200, 10)):
        about: dict[str, Any] = {"parent": "lead", "call": "t1", "reason": "end_turn", "turns": 2}
        log.append("subagent.ended", lane="lead.t1", tokens=tokens, returned=reported, **about)
    if (returned := spared(log)) != 2_050:
        return (
            "for children that held 900, 300 and 1,200 tokens and returned 40, 300 and 10, your "
            f"function returned {returned!r}; it should return 2050, because 860 + 0 + 1190 = 2050"
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


def check_brief(Brief: Any) -> Verdict:
    """Check that a child with a long report is asked once for a shorter one."""
    if not is_mechanism(Brief):
        return "`Brief` must be a class that is an lk.Mechanism"
    long = "word " * 100
    for reports, limit, turns in (
        ([long, "short"], 80, 2),
        (["fine"], 80, 1),
        ([long], 1_000, 1),
        (["x" * 80], 80, 1),
        ([long, long], 80, 2),
    ):
        script = [lk.say(text) for text in [*reports, *["one more"] * 9]]
        agent = lk.Agent(lk.scripted(script), [Brief(limit=limit)], max_turns=9)
        asked = agent.run("Report.").turns - 1
        if asked == turns - 1:
            continue
        about = f"with limit={limit}, after a report of {len(reports[0].strip())} characters"
        if not asked:
            return (
                f"{about}, your hook didn't ask for a shorter one. "
                "Return a text from `on_stop`, because that text makes the child continue"
            )
        if turns == 1:
            return f"{about}, your hook asked for a shorter one. It should return None"
        if len(reports[1]) > limit:
            return (
                f"{about}, and after a second one as long, your hook asked {asked} times. "
                "It should ask once, or a child that can't be short never ends"
            )
        return f"{about}, your hook asked {asked} times, although the second report was short"
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
            return "That is too long. Make it shorter, please."
'''.strip()


class _TooMany(BaseException):
    """One task started too many children; no Exception, so that a retry does not catch it."""


def check_retry(Retrying: Any) -> Verdict:
    """Check that a failed subtask is tried once more, by a new child."""
    if not is_mechanism(Retrying):
        return "`Retrying` must be a class that is an lk.Mechanism, such as one of lk.Subagents"
    if not isinstance(vars(Retrying).get("task", lk.Subagents.task), lk.Tool):
        return "`task` must still be a tool: write @lk.tool above it"

    def answers(outcomes: list[bool]) -> tuple[dict[str, Any], list[str]]:
        lead, lanes = iter([_task(), lk.say("done")]), list[str]()

        def answer(request: dict[str, Any]) -> Any:
            lane = LANE.get()
            if lane == "lead":
                return next(lead)
            if len(lanes) == _MOST:
                raise _TooMany
            lanes.append(lane)
            fine = outcomes[min(len(lanes), len(outcomes)) - 1]
            return lk.say("found") if fine else lk.fail(400, "no")

        agent = lk.Agent(lk.scripted(answer), [Retrying(lambda: [lk.Toolbox(_look)])])
        agent.run("go")
        return agent.messages[2]["content"][0], lanes

    for outcomes, wanted, what, why in (
        ([True], 1, "the child succeeds", "there is nothing to retry"),
        ([False, True], 2, "the first child fails", "a failed task gets a second try"),
        ([False], 2, "every child fails", "a failed task gets one more try, not several"),
    ):
        result, lanes = answers(outcomes)
        if len(lanes) == _MOST:
            return f"if {what}, your class starts one child after another. It should stop after two"
        if len(lanes) != wanted:
            said = f". The parent got: {result['content']}" if not lanes else ""
            return (
                f"if {what}, the number of children should be {wanted}, because {why}; "
                f"with your class it was {len(lanes)}{said}"
            )
        if bool(result.get("is_error")) == any(outcomes):
            kind = "an error" if any(outcomes) else "a normal result"
            return (
                f"if {what}, the parent got {kind}: {result['content']!r}. It should get "
                f"{'the report' if any(outcomes) else 'an error, or it takes this for a report'}"
            )
    return _without_kind(Retrying)


def _without_kind(Retrying: Any) -> Verdict:
    """What is wrong if the model asks for a child of the kind ``explore``."""
    for outcomes, which in (([True], "the"), ([False, True], "the second")):
        said, offered = _explored(Retrying, outcomes)
        if len(offered) != len(outcomes):
            return (
                f"if the model asks for kind='explore', the parent gets: {said}. "
                "Keep the parameter `kind` in your `task`"
            )
        if "_change" in offered[-1]:
            return (
                f"if the model asks for kind='explore', {which} child can write all the same. "
                "Pass `kind` on to the original `task`"
            )
    return None


def _explored(Retrying: Any, outcomes: list[bool]) -> tuple[str, list[list[str]]]:
    """What the parent gets from a child that may only read, and the tools of each child."""
    lead, offered = iter([_task(kind="explore"), lk.say("done")]), list[list[str]]()

    def answer(request: dict[str, Any]) -> Any:
        if LANE.get() == "lead":
            return next(lead)
        offered.append([tool["name"] for tool in request["tools"]])
        return lk.say("found") if outcomes[len(offered) - 1] else lk.fail(400, "no")

    made = Retrying(lambda: [lk.Toolbox(_look, _change)])
    agent = lk.Agent(lk.scripted(answer), [made])
    agent.run("go")
    return agent.messages[2]["content"][0]["content"], offered


#: How many children one task may start before the check gives up.
_MOST = 6


RETRY_LOOP = '''
import learnkit as lk
from learnkit.mechanisms.subagents import Kind


class Retrying(lk.Subagents):
    """Subagents whose failed tasks are tried once more."""

    @lk.tool
    def task(self, call: lk.Call, prompt: str, description: str, kind: Kind = "general") -> str:
        """Hand a subtask to a subagent."""
        first = super().task
        for last in (False, True):
            try:
                return first(call=call, prompt=prompt, description=description, kind=kind)
            except lk.ToolError:
                if last:
                    raise
'''.strip()


RETRY_KIND = '''
import learnkit as lk


class Retrying(lk.Subagents):
    """Subagents whose failed tasks are tried once more."""

    @lk.tool
    def task(self, call: lk.Call, prompt: str, description: str, kind: str = "general") -> str:
        """Hand a subtask to a subagent."""
        for _ in range(2):
            try:
                return super().task(call=call, prompt=prompt, description=description, kind=kind)
            except lk.ToolError as error:
                reason = error
        raise lk.ToolError(f"failed twice: {reason}")
'''.strip()


EXERCISES = {
    "spared": Check(check_spared, [SPARED_LOOP]),
    "Brief": Check(check_brief, [BRIEF_LOG]),
    "Retrying": Check(check_retry, [RETRY_LOOP, RETRY_KIND]),
}

"""What lesson 4 has its reader write into ``agent.py``: reports, stopped children, a brief."""

from __future__ import annotations

import shutil
from typing import Any

import learnkit as lk
from learnkit.course.content import Repair, Verdict
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s04 import be_the_parent
from learnkit.course.lessons.verdicts import asking

_SECRET = "what only the child has read"
_POLICY = {"write": "allow"}


def _result(agent: Any, lead: Any, prompt: str) -> dict[str, Any]:
    given = {"prompt": prompt, "description": "look"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "task", "input": given}
    result: dict[str, Any] = agent.run_call(lead, call)
    return result


def check_report(agent: Any) -> Verdict:
    """Run a child that reads something and says two things, and one that ends without a text."""

    def model(request: dict[str, Any]) -> lk.Reply:
        if len(request["messages"]) == 1:
            return lk.reply("I'll look.", lk.use("bash", command=f"echo {_SECRET}"))
        return lk.say("" if "silent" in str(request["messages"][0]) else "It is there.")

    with asking(agent, model, POLICY=_POLICY):
        lead = agent.Agent()
        got = _result(agent, lead, "Look.")["content"]
        silent = _result(agent, lead, "Be silent.")
    if _SECRET in got:
        return "what the child has read is in the parent's context as well"
    if "It is there." not in got:
        return f"the child's last text was “It is there.”; the parent got: {got}"
    if "I'll look." in got:
        return f"the parent got more than the child's last text: {got}"
    if silent["content"] in ("", "(no output)", "None") or silent.get("is_error"):
        said = repr(silent["content"] or "nothing")
        return f"a child ended without a text, and the parent got {said}: return “(no summary)”"
    return None


def check_stopped(agent: Any) -> Verdict:
    """Run a child that never ends, and one that does."""

    def model(request: dict[str, Any]) -> lk.Reply:
        if "for ever" in str(request["messages"][0]):
            return lk.use("bash", command="true")
        return lk.say("It is there.")

    with asking(agent, model, POLICY=_POLICY):
        lead = agent.Agent()
        stopped, ended = (_result(agent, lead, text) for text in ("Look for ever.", "Look."))
    if ended.get("is_error"):
        return f"a child that ended by itself counts as an error: {ended['content']}"
    if "It is there." not in ended["content"]:
        return f"the child's last text was “It is there.”; the parent got: {ended['content']}"
    if not stopped.get("is_error"):
        said = stopped["content"]
        return f"a child was stopped, and the parent got a report like any other: {said}"
    return None


def check_brief(agent: Any) -> Verdict:
    """Let three children calculate, and read what they wrote and what they knew."""
    with asking(agent, be_the_parent.child, POLICY=_POLICY) as folder:
        lead = agent.Agent()
        shutil.copytree(EXAMPLE / "stations", folder / "stations")
        be_the_parent.write_rules(folder)
        for name in be_the_parent.STATIONS:
            ask = f"Write the mean of stations/{name}.csv, in °F, to means/{name}.txt"
            _result(agent, lead, ask)
            child, path = lead.children[-1], folder / f"means/{name}.txt"
            read = be_the_parent.results_of(child.messages)[:-2]  # not the readings
            lacks = be_the_parent.lacking("\n".join([child.system, *read]))
            if lacks := [fact for fact in lacks if fact not in ("the station", "the unit")]:
                return (
                    f"means/{name}.txt says “{path.read_text('utf-8').strip()}” The child "
                    f"didn't know: {', '.join(lacks)}. {be_the_parent.looked_for(lacks)}"
                )
    return None


REPAIRS = {
    "report": Repair(check_report, "The parent gets the child's last text, and nothing else."),
    "stopped": Repair(check_stopped, "The parent reads that the child was stopped."),
    "BRIEF": Repair(check_brief, "Three children knew the rules, and three means are right."),
}

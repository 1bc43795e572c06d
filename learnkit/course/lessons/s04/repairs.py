"""What lesson 4 has its reader write into ``agent.py``: reports, stopped children, a brief."""

from __future__ import annotations

import shutil
from typing import Any

import learnkit as lk
from learnkit.course.content import Repairs, Verdict
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.reading import results
from learnkit.course.lessons.s04 import be_the_parent
from learnkit.course.lessons.verdicts import asking, short
from learnkit.events.text import one_line

REPAIRS = Repairs()

_SECRET = "what only the child has read"
#: What a child reports: a text that JSON would change, and that a limit would cut.
_REPORT = 'I stopped at "there":\n' + "- a line of it\n" * 40 + "That is all."
_POLICY = {"write": "allow"}


def _child(request: dict[str, Any]) -> lk.Reply:
    """What a child says: it reads something first, and some never end, or end without a text."""
    prompt = str(request["messages"][0])
    if len(request["messages"]) == 1 or "for ever" in prompt:
        return lk.reply("I'll look.", lk.use("bash", command=f"echo {_SECRET}"))
    return lk.say("" if "silent" in prompt else _REPORT)


def _result(agent: Any, lead: Any, prompt: str) -> dict[str, Any]:
    given = {"prompt": prompt, "description": "look"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "task", "input": given}
    result: dict[str, Any] = agent.run_call(lead, call)
    return result


@REPAIRS.add("The parent gets the child's last text, and nothing else.")
def check_report(agent: Any) -> Verdict:
    """Run a child that reads something and says two things, and one that ends without a text."""
    with asking(agent, _child, POLICY=_POLICY):
        lead = agent.Agent()
        ended, silent = (_result(agent, lead, text) for text in ("Look.", "Be silent."))
    got = ended["content"]
    if ended.get("is_error"):
        return f"a child that ended by itself counts as an error: {one_line(got, 100)}"
    if _SECRET in got:
        return "what the child has read is in the parent's context as well"
    if "I'll look." in got:
        return f"the parent got more than the child's last text: {one_line(got, 100)}"
    if got.strip() != _REPORT:
        return (
            f"the child's last text was {short(_REPORT)}, with {len(_REPORT)} characters; the "
            f"parent got {short(got)}, with {len(got)}"
        )
    if silent["content"] in ("", "(no output)", "None") or silent.get("is_error"):
        said = repr(silent["content"] or "nothing")
        return f"a child ended without a text, and the parent got {said}: return “(no summary)”"
    return None


@REPAIRS.add("The parent reads that the child was stopped.")
def check_stopped(agent: Any) -> Verdict:
    """Run a child that never ends, and those that do."""
    with asking(agent, _child, POLICY=_POLICY):
        stopped = _result(agent, agent.Agent(), "Look for ever.")
    if other := check_report(agent):
        return other
    if not stopped.get("is_error"):
        return (
            "a child was stopped, and the parent got a report like any other: "
            f"{stopped['content']}; what agent_loop has returned is in `last`"
        )
    if not stopped["content"].partition(":")[2].strip():
        return f"the parent reads {stopped['content']!r}, and not what happened to the child"
    return None


@REPAIRS.add("Three children knew the rules, and three means are right.")
def check_BRIEF(agent: Any) -> Verdict:
    """Let three children calculate, and read what they wrote and what they knew."""
    with asking(agent, be_the_parent.child, POLICY=_POLICY) as folder:
        lead = agent.Agent()
        shutil.copytree(EXAMPLE / "stations", folder / "stations")
        be_the_parent.write_rules(folder)
        for name in be_the_parent.STATIONS:
            ask = f"Write the mean of stations/{name}.csv, in °F, to means/{name}.txt"
            _result(agent, lead, ask)
            child, path = lead.children[-1], folder / f"means/{name}.txt"
            read = results(child.messages)[:-2]  # not the readings
            lacks = be_the_parent.lacking("\n".join([child.system, *read]))
            if lacks := [fact for fact in lacks if fact not in ("the station", "the unit")]:
                return (
                    f"means/{name}.txt says “{path.read_text('utf-8').strip()}” The child "
                    f"didn't know: {', '.join(lacks)}. {be_the_parent.looked_for(lacks)}"
                )
    return None

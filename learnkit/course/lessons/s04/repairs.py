"""What lesson 4 has its reader write into ``agent.py``: reports, stopped children, a brief."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Repair, Verdict
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s04 import be_the_parent

_SECRET = "what only the child has read"
_LOOK = lk.use("bash", command=f"echo {_SECRET}")


@contextmanager
def _asking(agent: Any, model: Callable[[dict[str, Any]], lk.Reply]) -> Iterator[Any]:
    """An agent of the module, in an empty folder, whose children have the program for a model."""
    names = ("client", "MODEL", "ROOT", "POLICY")
    before = {name: getattr(agent, name) for name in names}
    client = lk.scripted(model)
    with tempfile.TemporaryDirectory(prefix="learnkit-") as folder:
        settings = (client, client.model, Path(folder), {"write": "allow"})
        vars(agent).update(zip(names, settings, strict=True))
        try:
            yield agent.Agent()
        finally:
            vars(agent).update(before)
            client.close()


def _result(lead: Any, agent: Any, prompt: str) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "task"}
    given: dict[str, Any] = agent.run_call(
        lead, {**call, "input": {"prompt": prompt, "description": "look"}}
    )
    return given


def check_report(agent: Any) -> Verdict:
    """Run a child that reads something and says two things, and one that ends without a text."""

    def model(request: dict[str, Any]) -> lk.Reply:
        if len(request["messages"]) == 1:
            return lk.reply("I'll look.", _LOOK)
        return lk.say("" if "silent" in str(request["messages"][0]) else "It is there.")

    with _asking(agent, model) as lead:
        got = _result(lead, agent, "Look.")["content"]
        if _SECRET in got:
            return "what the child has read is in the parent's context as well"
        if "It is there." not in got:
            return f"the child's last text was “It is there.”; the parent got: {got}"
        if "I'll look." in got:
            return f"the parent got more than the child's last text: {got}"
        silent = _result(lead, agent, "Be silent.")
    if silent["content"] in ("", "(no output)", "None") or silent.get("is_error"):
        return (
            "a child ended without a text, and the parent got "
            f"{silent['content'] or 'nothing'!r}: return “(no summary)”"
        )
    return None


def check_stopped(agent: Any) -> Verdict:
    """Run a child that never ends, and one that does."""

    def model(request: dict[str, Any]) -> lk.Reply:
        if "for ever" in str(request["messages"][0]):
            return lk.use("bash", command="true")
        return lk.say("It is there.")

    with _asking(agent, model) as lead:
        stopped, ended = (_result(lead, agent, text) for text in ("Look for ever.", "Look."))
    if ended.get("is_error"):
        return f"a child that ended by itself counts as an error: {ended['content']}"
    if "It is there." not in ended["content"]:
        return f"the child's last text was “It is there.”; the parent got: {ended['content']}"
    if not stopped.get("is_error"):
        return (
            f"a child was stopped, and the parent got a report like any other: {stopped['content']}"
        )
    return None


def check_brief(agent: Any) -> Verdict:
    """Let three children calculate, and read what they wrote and what they knew."""
    with _asking(agent, be_the_parent.child) as lead:
        shutil.copytree(EXAMPLE / "stations", lead.folder / "stations")
        be_the_parent.write_rules(lead.folder)
        for name in be_the_parent.STATIONS:
            ask = f"Write the mean of stations/{name}.csv, in °F, to means/{name}.txt"
            _result(lead, agent, ask)
            child, path = lead.children[-1], lead.folder / f"means/{name}.txt"
            read = be_the_parent.results_of(child.messages)[:-2]  # not the readings
            lacks = be_the_parent.lacking("\n".join([child.system, *read]))
            lacks = [fact for fact in lacks if fact not in ("the station", "the unit")]
            if lacks:
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

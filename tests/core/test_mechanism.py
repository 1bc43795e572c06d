"""Mechanisms: hooks that cannot vanish, tools that cannot clash, and one agent for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from project import ROOT

import learnkit as lk
from learnkit.core.interface import Result
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool
from learnkit.errors import UsageError


def agent(*mechanisms: Any, name: str = "lead") -> lk.Agent:
    return lk.Agent(lk.scripted([]), mechanisms, name=name)


def method(self: Any, *args: Any) -> None:
    """Takes whatever it is given."""


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("before_modle", "before_model"),
        ("befor_model", "before_model"),
        ("aftertools", "after_tools"),
        ("requests", "request"),
        ("onstop", "on_stop"),
        ("on_stopp", "on_stop"),
        ("refuses", "refuse"),
        ("tool", "tools"),
        ("systems", "system"),
    ],
)
def test_a_misspelt_hook_is_refused_when_the_class_is_made(name: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        type("Mine", (Mechanism,), {name: method})
    text = str(caught.value)
    assert text.startswith(f"Mine.{name} looks like a hook but is none; did you mean {meant}?")
    assert "give it another name" in text


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        ("refuse", lambda self, call: None),
        ("system", lambda self: None),
        ("on_stop", lambda self, agent, more: None),
        ("after_tools", lambda: None),
    ],
)
def test_a_hook_that_the_loop_could_not_call_is_refused(
    name: str, hook: Callable[..., None]
) -> None:
    with pytest.raises(UsageError, match=rf"Mine\.{name} must take \(self, agent"):
        type("Mine", (Mechanism,), {name: hook})


def test_hooks_are_plain_functions() -> None:
    async def waits(self: Any, agent: Any) -> None:
        """Nobody would await it."""

    def yields(self: Any, agent: Any) -> Any:
        yield "text"

    for hook in (waits, yields):
        with pytest.raises(UsageError, match="no async, no yield"):
            type("Mine", (Mechanism,), {"on_stop": hook})


@lk.tool
def ping() -> str:
    """Answer."""
    return "pong"


def test_tools_may_be_a_list_or_a_property() -> None:
    class Listed(Mechanism):
        tools = (ping,)

    class Made(Mechanism):
        @property
        def tools(self) -> Sequence[Tool]:
            return [ping]

    assert list(agent(Listed()).tools) == list(agent(Made()).tools) == ["ping"]


def test_the_page_about_hooks_lists_them_with_their_parameters() -> None:
    page = (ROOT / "docs/hooks.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)(?:\(([\w, ]*)\))?` \|[^|]+\|[^|]+\|$", page, re.MULTILINE)
    listed = {name: tuple(filter(None, given.split(", "))) for name, given in rows}
    assert listed == Mechanism.HOOKS
    ends = re.findall(r"^\| `(\w+)` \|[^|]+\|$", page, re.MULTILINE)
    assert ends[1:] == ["ran", "raised", "invalid", "unknown", "refused", "cut", "cancelled"]
    assert all(f"``{how}``" in (Result.__doc__ or "") for how in ends[1:])


def test_an_instance_serves_one_agent() -> None:
    todo = lk.Toolbox(ping)
    agent(todo, name="alice")
    with pytest.raises(UsageError, match="this Toolbox already serves agent 'alice'; make a new"):
        agent(todo, name="bob")
    twice = lk.Toolbox()
    with pytest.raises(UsageError, match="this Toolbox already serves agent 'bob'"):
        agent(twice, twice, name="bob")


def test_when_one_cannot_be_attached_none_is() -> None:
    free = lk.Toolbox(ping)
    with pytest.raises(UsageError, match="two tools are called 'ping'; rename one of them"):
        agent(free, lk.Toolbox(ping))
    assert list(agent(free).tools) == ["ping"]


#: What a newcomer may write, and what the error says to write instead.
GUESSES: list[tuple[Callable[[Any], object], str]] = [
    (lambda client: lk.Agent(client, [ping]), "Agent(client, tools=[ping])"),
    (lambda client: lk.Agent(client, [len]), "Agent(client, tools=[len])"),
    (lambda client: lk.Agent(client, [lk.Todo]), "write Todo(…), an object of the class"),
    (lambda client: lk.Agent(client, mechanisms=lk.Todo()), "write mechanisms=[…]"),
    (lambda client: lk.Agent(client, tools=ping), "write tools=[ping]"),
    (lambda client: lk.Agent(client, tools=[lk.Todo()]), "Agent(client, [mechanism])"),
    (lambda client: lk.Agent([lk.Todo()]), "lk.scripted([…])"),
    (lambda client: lk.Agent("claude-x"), "Agent(model='claude-x')"),
    (lambda client: lk.Agent(client).run(["Go."]), "a list of content blocks"),
    (lambda client: lk.views.Timeline(lk.Agent(client)), "write Timeline(agent.events)"),
    (lambda client: lk.full_agent(), "model='…' to ask the API"),
]


@pytest.mark.parametrize(("wrong", "instead"), GUESSES)
def test_a_wrong_guess_says_what_to_write(wrong: Any, instead: str) -> None:
    with pytest.raises(UsageError, match=re.escape(instead)):
        wrong(lk.scripted([]))


def test_an_agent_says_what_it_is_in_a_line() -> None:
    line = repr(lk.Agent(lk.scripted([]), tools=[ping], name="alice", model="claude-x"))
    assert line == "<Agent 'alice' on claude-x: 0 messages; tools: ping>"


def test_what_a_mechanism_emits_is_in_its_agents_lane_and_nowhere_without_one() -> None:
    box = lk.Toolbox(ping)
    box.emit("box.opened")
    served = agent(box, name="alice")
    box.emit("box.closed", by="me")
    (event,) = served.events
    assert (event.type, event.lane, event.data) == ("box.closed", "alice", {"by": "me"})

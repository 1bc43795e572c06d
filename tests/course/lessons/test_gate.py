"""Lesson 10's own gate and deadline, as its cells build them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cells import cells, code

import learnkit as lk


def ran(begin: str, names: dict[str, Any], old: str = "", new: str = "") -> None:
    """Run the one cell that begins like this, perhaps with a change that the lesson suggests."""
    (source,) = [one for one in code("s10") if one.startswith(begin)]
    assert old in source
    exec(compile(source.replace(old, new, 1), begin, "exec"), names)


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """What the cells up to step 5 define."""
    lab = lk.lesson("s10")
    defined: dict[str, Any] = {"lk": lk, "lab": lab}
    for begin in ("class MyRequests", "NEXT = ", "def attempt", "class Timed", "class Gate"):
        ran(begin, defined)
    ran("class Plans", defined)
    yield defined
    lab.remove()


def test_before_the_approval_only_what_reads_gets_through(names: dict[str, Any]) -> None:
    """Also a tool that the gate has never heard of is refused."""

    @lk.tool
    def publish(text: str) -> str:
        """Publish a text."""
        return "published"

    calls = (
        lk.use("read_file", path="README.md"),
        lk.use("edit_file", path="README.md", old_text="heatwatch", new_text="x"),
        lk.use("write_file", path="new.md", content="x"),
        lk.use("bash", command="touch new.md"),
        lk.use("publish", text="x"),
        lk.use("submit_plan", plan="write new.md"),
    )
    requests = names["Strict"]()
    gate = names["Gate"](lambda: names["approved"](requests, "lead"))
    with names["lab"].scenario("gate", script=[lk.reply(*calls), lk.say("I'll wait.")]) as run:
        plans = names["Plans"](requests)
        run.agent([lk.CodingTools(run.workspace), lk.Toolbox(publish), plans, gate]).run("Go.")
        how = {e.data["name"]: e.data["how"] for e in run.events if e.type == "tool.ended"}
        assert run.shell.run("git status --short", run.workspace).output.strip() == ""
    refused = dict.fromkeys(("edit_file", "write_file", "bash", "publish"), "refused")
    assert how == {"read_file": "ran", **refused, "submit_plan": "ran"}


def test_an_approval_counts_for_the_last_plan_of_its_author(names: dict[str, Any]) -> None:
    requests, approved = names["Strict"](), names["approved"]
    assert not approved(requests, "charlie")
    requests.answer(requests.ask("plan", "charlie", "lead"), "lead", "approved")
    assert approved(requests, "charlie")
    assert not approved(requests, "bob")
    requests.ask("plan", "charlie", "lead")
    assert not approved(requests, "charlie")


def test_the_old_approval_opens_the_gate_until_it_is_repaired(names: dict[str, Any]) -> None:
    for begin in ("import shutil", "from learnkit.course.lessons.s10.shown import calls"):
        ran(begin, names)
    with pytest.raises(AssertionError, match="rm -r stations` ran, too"):
        ran("FIRST = 0", names)
    ran("FIRST = 0", names, "0", "len(strict.requests)")
    text = "\n".join(c.source for c in cells("s10"))
    assert "replace `0` with `len(strict.requests)`" in text


@pytest.mark.parametrize(
    ("seconds", "says"), [("11", "r1 is expired"), ("10", "done:"), ("9", "done:")]
)
def test_only_an_answer_in_time_counts(
    names: dict[str, Any], seconds: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    ran("LATE = 11", names, "11", seconds)  # the cell asserts the state
    assert says in capsys.readouterr().out

"""What the agent has in lesson 2's game, and what is said at its end.

The tools are those that the lesson shows afterwards. Prompt and script are in ``questions.yaml``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Game, Remark, load
from learnkit.course.lessons.reading import results
from learnkit.events.text import count, quoted

#: What the tools say of a file that isn't there.
_NOTHING = "error 2"
#: Oslo's change, and what says in words that it is colder.
_CHANGE, _COLDER = "1.4", ("colder", "cooler", "not warmer", "less warm", "lower", "fell", "-1.4")


#: What Bob's tools say of themselves.
_BOBS = ("Gets data.", "Gets more data.", "Puts data.")


def reworded(*functions: Callable[..., Any]) -> Game:
    """The game with the docstrings of these functions, in the place of Bob's."""
    texts = [inspect.getdoc(function) or "" for function in functions]
    game = load("s02").game
    assert game is not None
    goal = "Once more, with your descriptions of the tools"
    return replace(game, goal=goal, mechanisms=lambda workspace: mechanisms(workspace, texts))


def mechanisms(workspace: Path, texts: Sequence[str] = _BOBS) -> list[lk.Mechanism]:
    """Return Bob's three tools, with these descriptions."""

    def station(name: str, number: Callable[[list[float]], float]) -> str:
        try:
            lines = (workspace / f"stations/{name}.csv").read_text("utf-8").splitlines()[1:]
        except (OSError, ValueError):  # no such file, or no name of one
            return _NOTHING
        return f"{number([float(line.split(',')[1]) for line in lines]):.1f}"

    def get(x: str) -> str:
        return station(x, lambda celsius: celsius[-1])

    def get2(x: str) -> str:
        return station(x, lambda celsius: celsius[-1] - celsius[-3])

    def put(x: str, y: str) -> str:
        number = len([*(workspace / "outbox").glob("*.txt")]) + 1
        (workspace / f"outbox/{number}.txt").write_text(f"To: {y}\n\n{x}\n", "utf-8", "replace")
        return "ok"

    tools: tuple[Callable[..., str], ...] = (get, get2, put)
    described = zip(texts, tools, strict=True)
    return [lk.Toolbox(*(lk.tool(description=text)(one) for text, one in described))]


def judge(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
    """Say what is in the outbox, and how many calls it took."""
    mails = sorted((workspace / "outbox").glob("*.txt"))
    remarks = [_mail(path.read_text("utf-8")) for path in mails]
    if not mails:
        remarks = [Remark(False, "The outbox is empty, and Bob is waiting.")]
    found = results(messages)
    failed = found.count(_NOTHING)
    calls = f"This game took {count(len(found), 'call')}; {failed or 'none'} got “{_NOTHING}”."
    return [*remarks, Remark(None, calls)]


def _mail(mail: str) -> Remark:
    head, _, text = mail.partition("\n\n")
    to = head.removeprefix("To: ").strip()
    what = f"A mail went to {quoted(to)}. It says {quoted(text.strip())}"
    if to.casefold().partition("@")[0] != "bob":
        return Remark(False, f"{what}. Bob got nothing.")
    if _CHANGE in text and any(word in text.casefold() for word in _COLDER):
        return Remark(True, f"{what}, which is right.")
    return Remark(False, f"{what}. In truth Oslo is {_CHANGE} °C colder than yesterday.")

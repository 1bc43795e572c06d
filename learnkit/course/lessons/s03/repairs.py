"""What lesson 3 has its reader write into ``agent.py``: hooks, their text, reminder, kept items."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import learnkit as lk
from learnkit.course.content import Repair, Verdict

_LOOK = lk.use("bash", command="true")


@contextmanager
def _asking(agent: Any, script: list[Any], hooks: dict[str, Any]) -> Iterator[Any]:
    """An agent of the module, on a script, with these hooks alone and texts in the right place."""
    names = ("client", "MODEL", "ROOT", "HOOKS", "user_message")
    before = {name: getattr(agent, name) for name in names}
    client = lk.scripted(script)
    registered = {point: dict(functions) for point, functions in agent.HOOKS.items()}
    registered["before_model"], registered["after_tools"], registered["refuse"] = {}, {}, {}
    for point, function in hooks.items():
        registered[point] = {"probe": function}
    with tempfile.TemporaryDirectory(prefix="learnkit-") as folder:
        settings = (client, client.model, folder, registered, _after_results)
        vars(agent).update(zip(names, settings, strict=True))
        try:
            yield agent.Agent()
        finally:
            vars(agent).update(before)
            client.close()


def _after_results(results: list[Any], texts: list[str]) -> dict[str, Any]:
    return {"role": "user", "content": [*results, *({"type": "text", "text": t} for t in texts)]}


def check_loop(agent: Any) -> Verdict:
    """Count the requests and rounds in which hooks are called; look for what they return."""
    asked, rounds = list[int](), list[Any]()

    def before(one: Any) -> None:
        asked.append(len(one.messages))

    def after(one: Any, calls: Any) -> str:
        rounds.append([call["name"] for call in calls])
        return "a note"

    two = lk.reply(_LOOK, lk.use("read_file", path="none"))
    script = [two, _LOOK, lk.say("Done.")]
    with _asking(agent, script, {"before_model": before, "after_tools": after}) as lead:
        agent.run(lead, "Go.")
        if not asked:
            return "the check sent three requests, and no hook of before_model was called"
        if asked != [1, 3, 5]:
            return (
                "the hooks of before_model should be called once before each of three requests, "
                f"with 1, 3 and 5 messages; they saw {', '.join(map(str, asked))}"
            )
        if not rounds:
            return "two rounds had calls, and no hook of after_tools was called"
        if rounds != [["bash", "read_file"], ["bash"]]:
            return (
                "the hooks of after_tools should be called once a round, with its calls: bash and "
                f"read_file, then bash; they got {rounds}"
            )
        blocks = [message["content"] for message in lead.messages[2::2]]
        if any(sum(one.get("text") == "a note" for one in many) != 1 for many in blocks):
            return "what a hook of after_tools returned did not reach the model with the results"
    return None


def check_message(agent: Any) -> Verdict:
    """Look at the order of results and texts."""
    results = [{"type": "tool_result", "tool_use_id": id, "content": id} for id in ("a", "b")]
    message = agent.user_message([*results], ["first", "second"])
    if not isinstance(message, dict) or message.get("role") != "user":
        return "the model gets no user message"
    blocks = message["content"]
    if not all(isinstance(one, dict) for one in blocks):
        return 'a text is sent as it is; it has to be a block: {"type": "text", "text": "…"}'
    if [one for one in blocks if one["type"] == "tool_result"] != results:
        return "the two results are not there as they were, in their order"
    texts = [one.get("text") for one in blocks if one["type"] == "text"]
    if texts != ["first", "second"]:
        return f"of two texts the model reads {texts}"
    if blocks[:2] != results:
        return "a text comes before a result, which is a 400"
    if agent.user_message([*results], [])["content"] != results:
        return "without a text, something else than the results is sent"
    return None


def check_remind(agent: Any) -> Verdict:
    """Play rounds with and without updates."""
    item = {"id": "1", "text": "test", "status": "in_progress"}
    done = {**item, "status": "completed"}
    look, update = [{"name": "bash"}], [{"name": "todo"}]
    both = [*look, *update]
    for items, calls, wanted, what in (
        ([item], [look] * 7, [3, 6], "the seven rounds after an update"),
        ([item], [look * 3] * 7, [3, 6], "seven rounds of three calls each"),
        (
            [item],
            [look, look, both, look, look, look],
            [6],
            "six rounds with an update in the third",
        ),
        ([], [look] * 8, [], "eight rounds without a list"),
        ([done], [look] * 5, [], "five rounds in which all items are completed"),
    ):
        lead, heard = SimpleNamespace(), list[int]()
        agent.start_todo(lead)
        for number, called in enumerate([update, *calls]):  # the update is round 0
            if update[0] in called:  # for a hook that compares lists
                lead.items = [{**one, "text": f"step {number}"} for one in items]
            text = agent.remind(lead, called)
            if text is not None and not isinstance(text, str):
                return f"it returned {text!r}; a hook returns a text or None"
            if text:
                heard.append(number)
        if heard != wanted:
            return (
                f"in {what}, reminders followed {_rounds(heard)}; "
                f"they should follow {_rounds(wanted)}"
            )
    return None


def _rounds(numbers: list[int]) -> str:
    plural = "s" * (len(numbers) > 1)
    return f"round{plural} {', '.join(map(str, numbers))}" if numbers else "none of them"


def check_updated(agent: Any) -> Verdict:
    """Send updates: some leave an open item out, and some only look like it."""
    phases = [_item("5", "implement", "in_progress"), _item("6", "review")]
    for update, lost, named in (
        ([_item("5a", "the function", "completed")], "two open items", ("implement", "review")),
        (phases[:1], "an open item", ("review",)),
        (phases[1:], "the item in progress", ("implement",)),
        ([], "all", ("implement", "review")),
    ):
        error, _ = _sent(agent, phases, update)
        if error is None:
            return f"it accepted an update that left out {lost}"
        if unnamed := [name for name in named if name not in error]:
            return f"its error doesn't name {unnamed[0]!r}, so the model can't add it: {error}"
        if any(one["text"] in error for one in update if one in phases):
            return f"its error names an item that is there: {error}"
    done = [_item("5", "implement", "completed"), _item("6", "review", "in_progress")]
    renamed = [_item("5", "implement", "in_progress"), _item("6", "Review and test")]
    for before, update, what in (
        ([], phases, "that is the first one"),
        (phases, [phases[1], phases[0]], "that only moved an item"),
        (phases, done, "that completed an item"),
        (done, done[1:], "that left out a completed item"),
        (phases, renamed, "in which an item has its id and another text"),
    ):
        error, items = _sent(agent, before, update)
        if error is not None:
            return f"it refused an update {what}: {error}"
        if items != update:
            return f"it accepted an update {what}, but what it returned isn't that update"
    twice = [_item("1", "implement", "in_progress"), _item("2", "review", "in_progress")]
    if _sent(agent, [], twice)[0] is None:
        return "it accepted two items in progress: `check_items` is gone"
    return None


def _sent(agent: Any, before: list[Any], items: list[Any]) -> tuple[str | None, Any]:
    """The error with which an update is refused, or the new list."""
    try:
        return None, agent.updated([dict(one) for one in before], [dict(one) for one in items])
    except ValueError as error:
        return str(error), None


def _item(id: str, text: str, status: str = "pending") -> dict[str, str]:
    return {"id": id, "text": text, "status": status}


REPAIRS = {
    "agent_loop": Repair(
        check_loop, "Both hooks are called: before each request, and after each round's calls."
    ),
    "user_message": Repair(check_message, "Results first, then what the hooks have to say."),
    "remind": Repair(
        check_remind, "It reminds after three rounds without an update, and only if items are open."
    ),
    "updated": Repair(
        check_updated, "It refused each update that left out an open item, and no other."
    ),
}

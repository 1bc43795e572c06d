"""What lesson 3 has its reader write into ``agent.py``: hook calls, a message, three hooks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import learnkit as lk
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import Cases, asking, first_wrong, short

REPAIRS = Repairs()

_LOOK = lk.use("bash", command="true")


def _after_results(results: list[Any], texts: list[str]) -> dict[str, Any]:
    return {"role": "user", "content": [*results, *({"type": "text", "text": t} for t in texts)]}


@REPAIRS.add("Both hooks are called: before each request, and after each round's calls.")
def check_agent_loop(agent: Any) -> Verdict:
    """Count the requests and rounds in which hooks are called; look for what they return."""
    asked, rounds = list[Any](), list[Any]()

    def before(lead: Any, *more: Any) -> str:
        asked.append((len(lead.messages), *more))
        return "what nobody reads"

    def after(lead: Any, *calls: Any) -> str:
        rounds.append(calls)
        return "a note"

    script = [lk.reply(_LOOK, lk.use("read_file", path="none")), _LOOK, lk.say("Done.")]
    own = {"before_model": {"probe": before}, "after_tools": {"probe": after}, "refuse": {}}
    hooks = {**agent.HOOKS, **own}
    with asking(agent, script, HOOKS=hooks, user_message=_after_results):
        lead = agent.Agent()
        agent.run(lead, "Go.")
    if asked != [(1,), (3,), (5,)]:
        return (
            "the hooks of before_model should be called once before each of three requests, "
            f"with 1, 3 and 5 messages; they saw {', '.join(map(short, asked)) or 'none'}"
        )
    if rounds != [(message["content"],) for message in lead.messages[1:-1:2]]:
        return (
            "the hooks of after_tools should be called once a round, with the agent and its calls; "
            f"after the agent they got {', '.join(map(short, rounds)) or 'nothing'}"
        )
    blocks = [message["content"] for message in lead.messages[2::2]]
    if any(sum(one.get("text") == "a note" for one in many) != 1 for many in blocks):
        return "what a hook of after_tools returned did not reach the model with the results"
    rounds.clear()
    cut = lk.reply(_LOOK, stop_reason="max_tokens")
    with asking(agent, [cut, lk.say("Done.")], HOOKS=hooks, user_message=_after_results):
        agent.run(agent.Agent(), "Go.")
    if not rounds:
        return (
            "after a reply that was cut off, the hooks of after_tools aren't called: their line "
            "belongs below the `if`, not in it"
        )
    return None


@REPAIRS.add("Results first, then what the hooks have to say.")
def check_user_message(agent: Any) -> Verdict:
    """Look at the order of results and texts; several texts may be one block."""
    results = [{"type": "tool_result", "tool_use_id": id, "content": id} for id in ("a", "b")]
    message = agent.user_message([*results], ["first", "second"])
    if message.get("role") != "user":
        return "the model gets no user message"
    blocks = message["content"]
    if not all(isinstance(one, dict) for one in blocks):
        return 'a text is sent as it is; it has to be a block: {"type": "text", "text": "…"}'
    texts = [one.get("text") for one in blocks if one["type"] == "text"]
    if blocks[:2] != results:
        return "a text comes before a result, which is a 400, or a result is not there as it was"
    read = [word for word in ("first", "second") if word in " ".join(texts)]
    if len(read) < 2:
        return f"of the texts 'first' and 'second' the model reads {texts or 'nothing'}"
    if any(one.get("text") == "" for one in agent.user_message([*results], [])["content"]):
        return "without a text from a hook it sends an empty one, which is a 400"
    return None


@REPAIRS.add("It reminds after three rounds without an update, and only if items are open.")
def check_remind(agent: Any) -> Verdict:
    """Play rounds with and without updates."""
    item = {"id": "1", "text": "test", "status": "in_progress"}
    look, update = [{"name": "bash"}], [{"name": "todo"}]

    def heard(items: list[dict[str, str]], calls: list[Any]) -> list[int]:
        lead, reminded = SimpleNamespace(), list[int]()
        agent.start_todo(lead)
        for number, called in enumerate([update, *calls]):  # the update is round 0
            if update[0] in called:  # for a hook that compares lists
                lead.items = [{**one, "text": f"step {number}"} for one in items]
            if (agent.remind(lead, called) or "").strip():
                reminded.append(number)
        return reminded

    third = [look, look, [*look, *update], look, look, look]
    cases: Cases = (
        ("the seven rounds after an update", ([item], [look] * 7), [3, 6]),
        ("seven rounds of three calls each", ([item], [look * 3] * 7), [3, 6]),
        ("six rounds with an update in the third", ([item], third), [6]),
        ("eight rounds without a list", ([], [look] * 8), []),
        ("five rounds with all completed", ([{**item, "status": "completed"}], [look] * 5), []),
    )
    return first_wrong(heard, cases, says="reminders followed rounds {}. They should follow {}")


@REPAIRS.add("It asks once, and names what is open.")
def check_before_stop(agent: Any) -> Verdict:
    """Let an agent stop with open items, stop again, and stop with none."""
    done = [_item("1", "fetch", "completed")]
    some = [*done, _item("2", "write", "in_progress"), _item("3", "test")]

    def asked(*stops: list[Any]) -> list[str]:
        lead, said = SimpleNamespace(asked=False), list[str]()
        for items in stops:
            lead.items = items
            said.append((agent.before_stop(lead) or "").strip())
        return said

    for stops, right, wrong in (
        ((done,), [False], "it asked although all items are completed"),
        (([],), [False], "it asked although there is no list"),
        ((some,), [True], "the run ended although 'write' and 'test' were open: return a text"),
        ((done, some), [False, True], "only a question to this agent counts as `asked`"),
        ((some, some), [True, False], "it asked twice: a model with a good reason never ends"),
    ):
        if [bool(text) for text in asked(*stops)] != right:
            return wrong
    (text,) = asked(some)
    if missing := [name for name in ("write", "test") if name not in text]:
        return f"your text doesn't name {missing[0]!r}, which is open: {text}"
    return f"your text names 'fetch', which is completed: {text}" if "fetch" in text else None


@REPAIRS.add("It refused each update that left out an open item, and no other.")
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
    done = [_item("5", "implement", "completed"), _item("6", "review", "in_progress")]
    renamed = [_item("5", "implement", "in_progress"), _item("6", "Review and test")]
    for before, update, what in (
        ([], phases, "that is the first one"),
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

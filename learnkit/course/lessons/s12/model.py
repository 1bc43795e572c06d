"""Who answers ``learnkit serve s12``: a function of each request, on a real clock.

It plays the same team for the reader's own ``agent.py`` and for ``learnkit chat``. The lesson's
``worktree_merge`` commits and tests by itself; the package's leaves both to the agents.
"""

from __future__ import annotations

import re
from typing import Any

from learnkit.clients.scripted import Reply, reply, say, use

TEAM = "Rename too_hot to above_limit, and test the limit, side by side."
MAIL = "If it is above 30 °C in Beijing, mail me."
PROMPTS = (TEAM, MAIL)
_JOBS = {"alice": "Rename too_hot to above_limit.", "bob": "Write a test of the limit."}
_ROLES = {"alice": "coder", "bob": "tester"}
_LOOK = "Look at the board, and claim the task that suits your role."
_FILES = ("heatwatch/alerts.py", "heatwatch/__main__.py")
_BEGIN = (
    reply(*[use("task_create", subject=job) for job in _JOBS.values()]),
    reply(*[use("worktree_create", name=name, task_id=n) for n, name in enumerate(_JOBS, 1)]),
    reply(*[use("spawn_teammate", name=n, role=_ROLES[n], prompt=_LOOK) for n in _JOBS]),
)
_TEST = "from heatwatch import alerts, parse\n\nassert alerts.too_hot(parse.latest('beijing'))\n"
_WORDS = {"old_text": "too_hot", "new_text": "above_limit"}
_EDITED = "Edited tests/test_limit.py"
_COMMIT = "git add -A && git commit -q -m '{}'"
_CHECK = "PYTHONPATH=. python tests/test_limit.py && echo The test passes."


def script(request: dict[str, Any]) -> Reply:
    """Answer the lead or a teammate, by what it has called and read so far."""
    system = str(request["system"])
    is_chat = any(tool["name"] == "read_inbox" for tool in request["tools"])
    member = re.search(r"You are '?(alice|bob)\b", system)
    messages = request["messages"]
    if is_chat and not member:
        messages = _since_the_prompt(messages)
    blocks = [b for m in messages for b in m["content"] if isinstance(b, dict)]
    calls = [b["name"] for b in blocks if "name" in b]
    refused = [b["content"] for b in blocks if "does not allow" in str(b.get("content"))]
    refused += [b["content"] for b in blocks if is_chat and b.get("is_error")]
    if refused:
        return say(f"I stop here, because a call was refused: {refused[-1]}")
    if member:
        act, commit = {"alice": _alice, "bob": _bob}[member[1]], _COMMIT.format(_JOBS[member[1]])
        return act(str(messages), str(messages[-1]), commit if is_chat else "")
    if messages[0]["content"] == MAIL:
        return _mail(str(messages[-1]))
    if messages[0]["content"] == TEAM:
        results = "\n".join(str(b.get("content")) for b in blocks)
        lead = _lead_in_chat if is_chat else _lead
        return lead(calls, str(messages), re.findall(r"(?m)^\w+Error: .*", results))
    return say(f"I am a function, and know these prompts: {' '.join(PROMPTS)} Try --me.")


def _since_the_prompt(messages: list[Any]) -> list[Any]:
    """The conversation from what the user has said last; mail and results begin with a tag."""
    said = [
        number
        for number, one in enumerate(messages)
        if isinstance(one["content"], str) and not one["content"].startswith("<")
    ]
    return messages[said[-1] :] if said else messages


def _mail(last: str) -> Reply:
    if "written:" in last:
        return say("It's 31.4 °C in Beijing, above 30, so I've sent you a mail.")
    if "31.4" in last:
        return use("bash", command="python -m heatwatch mail me 'Beijing: 31.4 °C'")
    return use("bash", command="python -m heatwatch latest beijing")


def _lead(calls: list[str], read: str, errors: list[str]) -> Reply:
    if step := _led(calls, read):
        return step
    merges = calls.count("worktree_merge")
    if "the tests fail" in read and "send_message" not in calls:
        text = "With alice's branch your test fails: too_hot is above_limit now. Repair it there."
        return use("send_message", to="bob", content=text)
    if merges == len(_JOBS) and "Done: repaired" in read:
        return use("worktree_merge", name="bob")
    if merges and ("the tests fail" not in read or merges > len(_JOBS)):
        return say(" At first: ".join(["Both branches are merged.", *errors[-1:]]))
    return say("I'm waiting for the team.")


def _lead_in_chat(calls: list[str], read: str, errors: list[str]) -> Reply:
    """Its teammates are done with their tasks, so it repairs the test by itself."""
    if step := _led(calls, read):
        return step
    if "I stop here" in read:
        return say("I stop here, because a call of a teammate was refused.")
    if "worktree_merge" not in calls:
        return say("I'm waiting for the team.")
    if "bash" not in calls:
        return use("bash", command=_CHECK)
    if errors and "edit_file" not in calls:
        text = "Each branch was right, and together they fail: the test has the old name."
        return reply(text, use("edit_file", path="tests/test_limit.py", **_WORDS))
    if calls[-1] == "edit_file":
        return use("bash", command=f"{_CHECK} && {_COMMIT.format('Test with the new name.')}")
    return say(" At first: ".join(["Both branches are merged, and the test passes.", *errors[:1]]))


def _led(calls: list[str], read: str) -> Reply | None:
    """What the lead does in both: begin, and merge what was reported."""
    begun = sum(calls.count(one) for one in ("task_create", "spawn_teammate"))
    if begun < 4:
        return _BEGIN[len(calls) // 2]
    reported = "Done: above_limit" in read and "Done: the test" in read
    if reported and "worktree_merge" not in calls:
        return reply(*[use("worktree_merge", name=name) for name in _JOBS])
    return None


def _alice(read: str, last: str, commit: str) -> Reply:
    if "<auto-claimed>" in last:
        return reply(*[use("edit_file", path=path, **_WORDS) for path in _FILES])
    return _done(read, last, 1, commit, "Done: above_limit is the name in both files.")


def _bob(read: str, last: str, commit: str) -> Reply:
    if "<auto-claimed>" in last:
        return use("write_file", path="tests/test_limit.py", content=_TEST)
    if "Repair it there" in last:
        return use("edit_file", path="tests/test_limit.py", **_WORDS)
    if _EDITED in last:
        return say("Done: repaired, and it passes beside alice's rename.")
    return _done(read, last, 2, commit, "Done: the test is written.")


def _done(read: str, last: str, task: int, commit: str, text: str) -> Reply:
    if "[ ] #" in last:  # the board: each chooses, so both get one
        return use("claim_task", task_id=task)
    if "<auto-claimed>" not in read:
        return use("task_list")
    if f"[x] #{task}" in last:
        return say(text)
    if commit and commit not in read:
        return use("bash", command=commit)
    return use("task_update", task_id=task, status="completed")

"""One log in which everything happens that a view can show; the same events each time."""

from __future__ import annotations

from typing import Any

from learnkit.events.log import EventLog

TOOLS = [
    {"name": name, "description": "", "input_schema": {"type": "object"}}
    for name in ("bash", "read_file", "write_file", "task")
]
LONG = "station oslo reports 31.4 degrees at noon; " * 60

Step = tuple[str, str, dict[str, Any]]


def use(id: str, name: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def begins(lane: str, prompt: str, **more: Any) -> list[Step]:
    data = {"prompt": prompt, "system": "Be brief.", "tools": TOOLS, "model": "m", **more}
    return [(lane, "run.started", data), says(lane, 0, "user", prompt)]


def says(lane: str, index: int, role: str, content: Any, **more: Any) -> Step:
    message = {"role": role, "content": content}
    return lane, "message.added", {"index": index, "message": message, **more}


def asks(lane: str, turn: int, messages: int, stop: str = "tool_use", **usage: int) -> list[Step]:
    counted = {"input_tokens": 300 * turn, "output_tokens": 40, **usage}
    reply = {"stop_reason": stop, "usage": counted, "model": "m", "seconds": 1.0}
    return [
        (lane, "model.requested", {"turn": turn, "messages": messages}),
        (lane, "model.replied", {"turn": turn, **reply}),
    ]


def calls(lane: str, id: str, name: str, input: Any, output: str, **ended: Any) -> list[Step]:
    details = {"is_error": False, "seconds": 0.25, "how": "ran", **ended}
    return [
        (lane, "tool.started", {"id": id, "name": name, "input": input}),
        (lane, "tool.ended", {"id": id, "name": name, "output": output, **details}),
    ]


def ends(lane: str, words: str, turns: int, reason: str = "end_turn") -> Step:
    return lane, "run.ended", {"reason": reason, "text": words, "turns": turns}


def item(id: int, words: str, status: str, **more: str) -> dict[str, Any]:
    return {"id": str(id), "text": words, "status": status, **more}


def task(id: int, subject: str, status: str = "pending", *after: int, **more: Any) -> Any:
    return {"id": id, "subject": subject, "status": status, "blockedBy": list(after), **more}


def mail(id: int, sender: str, to: str, words: str, **more: str) -> Step:
    letter = {"id": f"m{id}", "from": sender, "to": to, "content": words, "type": "message"}
    return sender, "mail.sent", {"mail": {**letter, **more}}


def request(id: str, kind: str, state: str = "pending", **more: str) -> dict[str, Any]:
    base = {"id": id, "kind": kind, "sender": "lead", "to": "alice", "content": "please"}
    return {"request": {**base, "state": state, "note": "", **more}}


def tree(name: str, status: str = "active", **more: Any) -> dict[str, Any]:
    return {"tree": {"name": name, "branch": f"work/{name}", "status": status, **more}}


def race(who: str, kind: str, messages: list[str], content: list[str]) -> Step:
    return who, f"race.{kind}", {"texts": messages, "content": content}


ALONE: list[Step] = [
    (
        "lead",
        "skills.listed",
        {
            "catalogue": 80,
            "skills": {"tests": 900, "mail": 400, "dates": 120},
            "preloaded": ["dates"],
            "problems": ["broken/SKILL.md has no name"],
        },
    ),
    *begins("lead", "Which station is the hottest?"),
    ("lead", "tokens.estimated", {"tokens": 280, "threshold": 900}),
    *asks("lead", 1, 1),
    says(
        "lead",
        1,
        "assistant",
        [
            {"type": "thinking", "thinking": "I look first.", "signature": "c2ln"},
            text("I'll look."),
            use("t1", "bash", command="ls stations | wc -l"),
            use("t2", "send_mail", to="me", body="a\nb"),
            use("t3", "write_file", path="x.txt", content="x"),
        ],
    ),
    *calls("lead", "t1", "bash", {"command": "ls stations | wc -l"}, "3\n"),
    *calls("lead", "t2", "send_mail", {"to": "me"}, "no tool", is_error=True, how="unknown"),
    (
        "lead",
        "permission.decided",
        {
            "id": "t3",
            "name": "write_file",
            "decision": "ask",
            "answer": "not there",
            "reason": "outside of src",
        },
    ),
    *calls("lead", "t3", "write_file", {"path": "x.txt"}, "refused", is_error=True, how="refused"),
    says(
        "lead",
        2,
        "user",
        [
            result("t1", "3\n"),
            result("t2", "no tool", is_error=True),
            result("t3", "refused", is_error=True),
            text("<reminder>update the plan</reminder>"),
        ],
    ),
    (
        "lead",
        "todo.updated",
        {
            "items": [
                item(1, "count the stations", "completed"),
                item(2, "read each one", "in_progress", note="oslo first"),
                item(3, "write the mail", "pending"),
            ],
            "done": 1,
            "total": 3,
        },
    ),
    ("lead", "todo.rejected", {"problem": "two items are in progress"}),
    ("lead", "todo.reminded", {"rounds": 3, "text": "update the plan"}),
    *asks("lead", 2, 3, cache_read_input_tokens=400),
    ("lead", "skill.loaded", {"name": "tests", "tokens": 900}),
    ("lead", "skill.read", {"name": "tests", "file": "style.md", "tokens": 200}),
    says("lead", 3, "assistant", [use("t4", "task", prompt="Read oslo."), use("t5", "bash")]),
    ("lead", "tool.started", {"id": "t4", "name": "task", "input": {"prompt": "Read oslo."}}),
    (
        "lead.t4",
        "subagent.started",
        {
            "parent": "lead",
            "call": "t4",
            "prompt": "Read oslo.",
            "description": "oslo",
            "kind": "explore",
        },
    ),
    *begins("lead.t4", "Read oslo."),
    *asks("lead.t4", 1, 1),
    says("lead.t4", 1, "assistant", [use("t41", "read_file", path="oslo.csv")]),
    *calls("lead.t4", "t41", "read_file", {"path": "oslo.csv"}, LONG),
    says("lead.t4", 2, "user", [result("t41", LONG)]),
    *asks("lead.t4", 2, 3, "end_turn"),
    says("lead.t4", 3, "assistant", [text("oslo: 31.4")]),
    ends("lead.t4", "oslo: 31.4", 2),
    (
        "lead.t4",
        "subagent.ended",
        {
            "parent": "lead",
            "call": "t4",
            "reason": "end_turn",
            "turns": 2,
            "tokens": 2100,
            "returned": 6,
        },
    ),
    (
        "lead",
        "tool.ended",
        {
            "id": "t4",
            "name": "task",
            "output": "oslo: 31.4",
            "is_error": False,
            "seconds": 2.0,
            "how": "ran",
        },
    ),
    ("lead", "tool.started", {"id": "t5", "name": "bash", "input": {}}),
    ("lead", "job.started", {"id": "j1", "command": "sleep 60", "limit": 300.0}),
    (
        "lead",
        "tool.ended",
        {"id": "t5", "name": "bash", "output": LONG, "seconds": 0.0, "how": "ran"},
    ),
    says("lead", 4, "user", [result("t4", "oslo: 31.4"), result("t5", LONG)]),
    ("lead", "job.started", {"id": "j2", "command": "pytest -q", "limit": 300.0}),
    (
        "lead",
        "job.ended",
        {
            "id": "j1",
            "command": "sleep 60",
            "status": "completed",
            "code": 0,
            "seconds": 3.0,
            "output": "",
        },
    ),
    (
        "lead",
        "job.ended",
        {
            "id": "j2",
            "command": "pytest -q",
            "status": "failed",
            "code": 1,
            "seconds": 1.5,
            "output": "1 failed",
        },
    ),
    ("lead", "job.delivered", {"ids": ["j1", "j2"], "by": "turn"}),
    *asks("lead", 3, 5, "end_turn", cache_read_input_tokens=700),
    says("lead", 5, "assistant", [text("Oslo is the hottest.")]),
    says("lead", 6, "user", "And which is the coldest?"),
    ("lead", "compaction.cleared", {"results": ["t1", "t5"], "before": 1200, "after": 500}),
    (
        "lead",
        "messages.rewritten",
        {
            "why": "cleared",
            "messages": [
                {"role": "user", "content": "Which station is the hottest?"},
                {"role": "assistant", "content": [use("t4", "task", prompt="Read oslo.")]},
                {"role": "user", "content": [result("t4", "oslo: 31.4")]},
                {"role": "assistant", "content": [text("Oslo is the hottest.")]},
                {"role": "user", "content": "And which is the coldest?"},
            ],
        },
    ),
    ("lead", "compaction.asked", {"focus": "units", "by": "tool"}),
    ("lead", "model.failed", {"turn": 4, "status": 529, "error_type": "overloaded", "message": ""}),
    ("lead", "compaction.failed", {"error": "the summary was empty"}),
    (
        "lead",
        "compaction.summarised",
        {"before": 500, "after": 90, "transcript": "t1.jsonl", "focus": "units"},
    ),
    (
        "lead",
        "messages.rewritten",
        {
            "why": "summarised",
            "messages": [{"role": "user", "content": "Summary: oslo is the hottest."}],
        },
    ),
    *asks("lead", 5, 1, "max_tokens"),
    says("lead", 1, "assistant", [text("Bergen")]),
    ends("lead", "Bergen", 5, "max_tokens"),
    ("lead", "lesson.invented", {}),
]

TOGETHER: list[Step] = [
    *begins("lead", "Ship the feature."),
    (
        "lead",
        "board.opened",
        {
            "tasks": [
                task(1, "parse", "completed", owner="alice"),
                task(2, "transform", "pending", 1, tags=["coder"]),
                task(3, "emit", "failed", 1, owner="bob"),
                task(4, "join both", "pending", 2, 3),
                task(5, "write docs", "pending"),
                task(6, "release", "pending", 1, 4),
                task(7, "say thanks", "completed"),
            ]
        },
    ),
    ("lead", "team.spawned", {"name": "alice", "role": "coder", "prompt": "Begin."}),
    ("lead", "team.spawned", {"name": "bob", "role": "tester", "prompt": "Begin."}),
    ("alice", "run.started", {"prompt": "Begin.", "system": "", "tools": [], "model": "m"}),
    mail(1, "lead", "alice", "phase 1", type="broadcast"),
    mail(2, "alice", "bob", "is -9999 missing?"),
    ("bob", "mail.read", {"ids": ["m2"], "by": "bob"}),
    mail(3, "bob", "alice", "it is"),
    ("alice", "task.started", {"task": task(2, "transform", "in_progress", 1, owner="alice")}),
    ("bob", "team.status", {"name": "bob", "role": "tester", "status": "idle"}),
    (
        "alice",
        "worktree.create",
        tree("parse", task_id=2, base="main"),
    ),
    ("bob", "worktree.create", tree("tests", task_id=5)),
    ("bob", "task.started", {"task": task(5, "write docs", "in_progress", owner="bob")}),
    ("bob", "team.status", {"name": "bob", "role": "tester", "status": "working"}),
    (
        "lead",
        "worktree.commits",
        {
            "commits": [
                {"id": "c5", "parents": ["c3", "c4"], "refs": ["main"], "subject": "merge tests"},
                {"id": "c4", "parents": ["c2"], "refs": ["work/tests"], "subject": "test parse"},
                {"id": "c3", "parents": ["c1"], "refs": ["work/parse"], "subject": "parse -9999"},
                {"id": "c2", "parents": ["c1"], "refs": [], "subject": "fixtures"},
                {"id": "c1", "parents": [], "refs": ["v1"], "subject": "begin"},
            ]
        },
    ),
    ("lead", "worktree.failed", {"tool": "merge", "name": "parse", "problem": "a conflict"}),
    ("lead", "worktree.merge", tree("tests", "merged", task_id=5)),
    ("bob", "task.completed", {"task": task(5, "write docs", "completed", owner="bob")}),
    ("lead", "request.opened", request("r1", "shutdown")),
    mail(4, "lead", "alice", "shut down?", type="shutdown_request", request_id="r1"),
    ("alice", "mail.read", {"ids": ["m1", "m3", "m4"], "by": "alice"}),
    ("alice", "request.answered", request("r1", "shutdown", "rejected", note="in mid-file")),
    mail(5, "alice", "lead", "not yet", type="shutdown_response", request_id="r1"),
    ("alice", "request.opened", request("r2", "plan", sender="alice", to="lead")),
    ("lead", "request.answered", request("r2", "plan", "approved", sender="alice", to="lead")),
    ("lead", "request.opened", request("r3", "shutdown", to="bob")),
    ("lead", "request.expired", request("r3", "shutdown", "expired", to="bob")),
    ("alice", "request.refused", {"tool": "shutdown_response", "problem": "r9 is not known"}),
    ("alice", "task.returned", {"task": task(2, "transform", "pending", 1)}),
    ("bob", "task.refused", {"tool": "task_update", "problem": "task 4 is blocked"}),
    ("alice", "worktree.keep", tree("parse", "kept", task_id=2)),
    ("bob", "worktree.remove", tree("tests", "removed", task_id=5)),
    ("alice", "team.status", {"name": "alice", "role": "coder", "status": "shutdown"}),
    mail(6, "bob", "lead", "all is written"),
    ("lead", "task.deleted", {"task": task(7, "say thanks", "completed")}),
    ends("lead", "Shipped.", 3),
]

RACING: list[Step] = [
    ("alice", "race.started", {"reader": "alice", "writers": ["bob", "carol"], "seed": 17}),
    race("bob", "wrote", ["bob 1"], ["bob 1"]),
    race("alice", "read", ["bob 1"], ["bob 1"]),
    race("carol", "wrote", ["carol 1"], ["bob 1", "carol 1"]),
    race("alice", "emptied", ["bob 1"], []),
    ("alice", "race.lost", {"text": "carol 1", "writer": "carol", "content": []}),
    race("carol", "wrote", ["carol 2"], ["carol 2"]),
    race("alice", "drained", ["carol 2"], []),
    race("alice", "paused", [], []),
    race("alice", "finished", ["carol 2"], []),
    ("alice", "race.ended", {"texts": [], "content": [], "sent": 3, "read": 2}),
]


#: Fields that hold what somebody wrote.
_TEXTS = {"content", "subject", "prompt", "text", "description", "command", "output", "problem"}


def wordy(value: Any, key: str = "") -> Any:
    """The same, with everything that somebody wrote a dozen times as long."""
    if isinstance(value, str):
        return " ".join([value] * 12) if key in _TEXTS else value
    if isinstance(value, dict):
        return {name: wordy(one, name) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(wordy(one, key if isinstance(one, dict) else "") for one in value)
    return value


def log_of(steps: list[Step]) -> EventLog:
    """The steps as a log, half a second apart."""
    log = EventLog()
    for lane, type, data in steps:
        log.append(type, lane=lane, time=len(log) / 2, **data)
    return log

"""A short log for every view, so short that its picture can be read as a whole."""

from __future__ import annotations

from workday import (
    LONG,
    RACING,
    Step,
    asks,
    begins,
    calls,
    item,
    mail,
    request,
    result,
    says,
    task,
    text,
    tree,
    use,
)

LOOK = use("t1", "bash", command="ls")
SUMMARY = [
    text('<summary transcript="t.jsonl">\nOslo.\n</summary>'),
    text("<request>\nWhich one?\n</request>"),
]

#: A short log for every view.
LOGS: dict[str, list[Step]] = {
    "Compaction": [
        *begins("lead", "Which one?"),
        says("lead", 1, "assistant", [LOOK]),
        says("lead", 2, "user", [result("t1", LONG[:400])]),
        says("lead", 3, "assistant", [text("Wait.")]),
        ("lead", "compaction.summarised", {"before": 200, "after": 90, "transcript": "t.jsonl"}),
        (
            "lead",
            "messages.rewritten",
            {
                "why": "summarised",
                "messages": [
                    {"role": "user", "content": SUMMARY},
                    {"role": "assistant", "content": [text("Wait.")]},
                ],
            },
        ),
    ],
    "Contexts": [
        *begins("lead", "Which one?"),
        says("lead", 1, "assistant", [use("t1", "task", prompt="Read oslo.")]),
        (
            "lead.t1",
            "subagent.started",
            {"parent": "lead", "call": "t1", "prompt": "Read oslo.", "description": "oslo"},
        ),
        *begins("lead.t1", "Read oslo."),
        says("lead.t1", 1, "user", [result("t11", LONG[:800])]),
        ("lead.t1", "subagent.ended", {"parent": "lead", "call": "t1", "returned": 6}),
        says("lead", 2, "user", [result("t1", "oslo: 31.4")]),
    ],
    "Dispatch": [
        *begins("lead", "Which one?"),
        *calls("lead", "t1", "bash", {"command": "ls"}, "oslo\nbergen"),
        *calls("lead", "t2", "send_mail", {"to": "me"}, "no tool", is_error=True, how="unknown"),
        ("lead", "tool.started", {"id": "t3", "name": "bash", "input": {"command": "sleep 9"}}),
    ],
    "Messages": [
        *begins("lead", "Which one?"),
        *asks("lead", 1, 1),
        says("lead", 1, "assistant", [text("I look."), LOOK, use("t2", "send_mail", to="me")]),
        *calls("lead", "t1", "bash", {"command": "ls"}, "3"),
        *calls("lead", "t2", "send_mail", {"to": "me"}, "no tool", is_error=True, how="unknown"),
        says(
            "lead",
            2,
            "user",
            [result("t1", "3"), result("t2", "no tool", is_error=True), text("<note>x</note>")],
        ),
        *asks("lead", 2, 3, "end_turn"),
        says("lead", 3, "assistant", [text("Oslo.")]),
    ],
    "Protocol": [
        *begins("lead", "Go."),
        ("alice", "team.spawned", {"name": "alice", "role": "coder", "prompt": "x"}),
        ("lead", "request.opened", request("r1", "shutdown")),
        ("alice", "request.answered", request("r1", "shutdown", "rejected", note="in mid-file")),
        ("alice", "request.opened", request("r2", "plan", sender="alice", to="lead")),
        ("alice", "request.refused", {"tool": "shutdown_response", "problem": "r9 is not known"}),
    ],
    "Schedule": [*RACING[:6], RACING[-1]],
    "Skills": [
        ("lead", "skills.listed", {"catalogue": 80, "skills": {"tests": 900, "mail": 400}}),
        ("lead", "model.requested", {"turn": 1, "messages": 1}),
        ("lead", "skill.loaded", {"name": "tests", "tokens": 900}),
        ("lead", "skill.read", {"name": "tests", "file": "style.md", "tokens": 200}),
        ("lead", "model.requested", {"turn": 2, "messages": 3}),
    ],
    "Tasks": [
        (
            "lead",
            "board.opened",
            {"tasks": [task(1, "parse"), task(2, "emit", "pending", 1), task(3, "write docs")]},
        ),
        ("alice", "task.started", {"task": task(1, "parse", "in_progress", owner="alice")}),
        ("lead", "task.refused", {"tool": "task_claim", "problem": "task 2 is blocked by 1"}),
        ("alice", "task.completed", {"task": task(1, "parse", "completed", owner="alice")}),
        ("bob", "task.started", {"task": task(3, "write docs", "in_progress", owner="bob")}),
        ("lead", "task.created", {"task": task(4, "release")}),
        ("lead", "task.updated", {"task": task(4, "release", "pending", 2)}),
        ("lead", "task.updated", {"task": task(4, "release", "pending", 2, description="more")}),
        ("lead", "task.deleted", {"task": task(4, "release", "pending", 2)}),
    ],
    "Team": [
        *begins("lead", "Go."),
        ("lead", "board.opened", {"tasks": [task(1, "parse"), task(2, "emit", "pending", 1)]}),
        ("lead", "team.spawned", {"name": "alice", "role": "coder", "prompt": "x"}),
        ("alice", "task.started", {"task": task(1, "parse", "in_progress", owner="alice")}),
        ("alice", "team.status", {"name": "alice", "role": "coder", "status": "idle"}),
        ("alice", "task.completed", {"task": task(1, "parse", "completed", owner="alice")}),
        ("alice", "team.status", {"name": "alice", "role": "coder", "status": "shutdown"}),
    ],
    "Timeline": [
        ("lead", "model.requested", {"turn": 1, "messages": 1}),
        ("lead", "model.replied", {"turn": 1, "usage": {}, "stop_reason": "tool_use"}),
        ("lead", "tool.started", {"id": "t1", "name": "background_run", "input": {}}),
        ("lead", "job.started", {"id": "j1", "command": "make all", "limit": 60.0}),
        ("lead", "tool.ended", {"id": "t1", "name": "background_run", "output": "j1"}),
        *asks("lead", 2, 3, "end_turn"),
        ("lead", "job.ended", {"id": "j1", "status": "failed", "code": 1, "output": "no rule"}),
        ("lead", "job.delivered", {"ids": ["j1"], "by": "stop"}),
        *asks("lead", 3, 5, "end_turn"),
    ],
    "Todo": [
        (
            "lead",
            "todo.updated",
            {
                "items": [item(1, "look", "completed"), item(2, "write", "in_progress")],
                "done": 1,
                "total": 2,
                "remind_after": 1,
            },
        ),
        *asks("lead", 1, 1),
        *calls("lead", "t1", "bash", {"command": "ls"}, "oslo"),
        says("lead", 2, "user", [result("t1", "oslo")]),
        *asks("lead", 2, 3),
        *calls("lead", "t2", "bash", {"command": "ls"}, "oslo"),
        ("lead", "todo.reminded", {"rounds": 1, "text": "update the plan"}),
        says("lead", 4, "user", [result("t2", "oslo")]),
        *asks("lead", 3, 5),
    ],
    "Tokens": [
        ("lead", "tokens.estimated", {"tokens": 300, "threshold": 900}),
        *asks("lead", 1, 1),
        *asks("lead", 2, 3, cache_read_input_tokens=250),
        ("lead", "compaction.cleared", {"results": ["t1"], "before": 950, "after": 400}),
        *asks("lead", 3, 5, input_tokens=400),
    ],
    "Traffic": [
        *begins("lead", "Go."),
        ("lead", "team.spawned", {"name": "alice", "role": "coder", "prompt": "x"}),
        mail(1, "lead", "alice", "Begin."),
        ("alice", "mail.read", {"ids": ["m1"], "by": "alice"}),
        mail(2, "alice", "lead", "It is done."),
        ("alice", "team.status", {"name": "alice", "role": "coder", "status": "shutdown"}),
    ],
    "Worktrees": [
        *begins("lead", "Go."),
        ("lead", "worktree.commits", {"commits": [{"id": "c1", "refs": ["main"], "subject": "x"}]}),
        ("lead", "worktree.create", tree("parse")),
        (
            "lead",
            "worktree.commits",
            {"commits": [{"id": "c2", "parents": ["c1"], "refs": ["work/parse"], "subject": "y"}]},
        ),
        ("lead", "worktree.failed", {"tool": "merge", "name": "parse", "problem": "a conflict"}),
        ("lead", "worktree.merge", tree("parse")),
        ("lead", "worktree.remove", tree("parse", "removed")),
    ],
}

"""More logs by hand: situations that the days of ``workday`` don't contain."""

from __future__ import annotations

from typing import Any

from workday import (
    LONG,
    Step,
    asks,
    begins,
    calls,
    ends,
    item,
    mail,
    race,
    request,
    result,
    says,
    task,
    text,
    tree,
    use,
)


def todo(*items: dict[str, Any], **more: Any) -> Step:
    return "lead", "todo.updated", {"items": list(items), "done": 0, "total": len(items), **more}


def works(turn: int, index: int, *results: dict[str, Any], lane: str = "lead") -> list[Step]:
    """A turn that calls ``bash`` once for each result, and what comes back."""
    ids = [one["tool_use_id"] for one in results]
    steps = asks(lane, turn, index)
    steps.append(says(lane, index, "assistant", [use(id, "bash", command="make") for id in ids]))
    for one in results:
        how = {"is_error": True} if one.get("is_error") else {}
        steps += calls(lane, one["tool_use_id"], "bash", {"command": "make"}, one["content"], **how)
    return [*steps, says(lane, index + 1, "user", list(results))]


def job(id: str, command: str, **more: Any) -> Step:
    return "lead", "job.started", {"id": id, "command": command, "limit": 60.0, **more}


def over(id: str, status: str, output: str = "") -> Step:
    return "lead", "job.ended", {"id": id, "status": status, "code": None, "output": output}


def decided(id: str, decision: str, answer: str | None, reason: str | None) -> Step:
    data = {"id": id, "name": "bash", "decision": decision, "answer": answer, "reason": reason}
    return "lead", "permission.decided", data


#: An agent that plans badly and waits for jobs; its context is cut three times.
ALONE_AGAIN: list[Step] = [
    ("lead", "skills.listed", {"catalogue": 9, "skills": {"mail": 30, "tests": 20}}),
    *begins("lead", "Read. " * 20),
    todo(item(1, "look", "pending"), item(2, "write", "pending"), remind_after=2),
    *works(1, 1, result("a1", "Error: no such file")),
    todo(item(1, "look", "pending"), item(2, "write", "pending"), remind_after=2),
    ("lead", "skill.loaded", {"name": "mail", "tokens": 30}),
    ("lead", "skill.loaded", {"name": "mail", "tokens": 30}),
    ("lead", "skill.read", {"name": "mail", "file": "to.md", "tokens": 7}),
    *works(2, 3, result("b1", ""), result("b2", "no", is_error=True), result("b3", LONG)),
    ("lead", "todo.reminded", {"rounds": 2, "text": "update"}),
    ("lead", "tokens.estimated", {"tokens": 700, "threshold": 2000}),
    decided("c1", "allow", None, None),
    decided("c1", "ask", "yes", "writes a file"),
    *works(3, 5, result("c1", "denied", is_error=True), result("c9", "whose?")),
    todo(item(1, "look", "completed"), item(2, "write", "in_progress"), remind_after=2),
    todo(item(1, "look", "completed"), item(2, "write", "in_progress"), remind_after=2),
    *works(4, 7, result("d1", "2 failed")),
    ("lead", "todo.reminded", {"rounds": 2, "text": "update"}),
    *works(5, 9, result("e1", "fine")),
    ("lead", "todo.rejected", {"problem": "an item has no text"}),
    *works(6, 11, result("f1", "fine")),
    todo(item(1, "look", "completed"), item(2, "write", "completed"), remind_after=0),
    says(
        "lead",
        13,
        "assistant",
        [
            {"type": "thinking", "thinking": "hidden " * 9, "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "eA=="},
            {"type": "image", "source": "a picture"},
            text("Wait."),
        ],
    ),
    ("lead", "compaction.cleared", {"results": [], "before": 900, "after": 600}),
    (
        "lead",
        "messages.rewritten",
        {
            "why": "cleared",
            "messages": [
                {"role": "user", "content": "Read. " * 20},
                {"role": "assistant", "content": [use("a1", "bash", command="make")]},
                {"role": "user", "content": [result("a1", "(cleared)")]},
                *[
                    {"role": "user" if n % 2 else "assistant", "content": f"message {n}"}
                    for n in range(3, 13)
                ],
                {"role": "assistant", "content": [text("Wait.")]},
            ],
        },
    ),
    (
        "lead",
        "messages.rewritten",
        {
            "why": "summarised",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        text('<summary transcript="t.jsonl">\nAll is read.\n</summary>'),
                        text("<request>\n" + "Read. " * 20 + "\n</request>"),
                    ],
                },
                {"role": "user", "content": "message 11"},
                {"role": "assistant", "content": "message 12"},
                {"role": "assistant", "content": [text("Wait.")]},
            ],
        },
    ),
    job("j1", "sleep 600; make all", counted=True),
    job("j2", "pytest -q"),
    job("j3", "serve"),
    job("j4", "sleep 1"),
    *asks("lead", 7, 4),
    *calls("lead", "g1", "check_background", {}, "all run"),
    *asks("lead", 8, 4, "end_turn", cache_read_input_tokens=500),
    over("j1", "completed", "\n\nbuilt\nin 9 s"),
    ("lead", "job.delivered", {"ids": ["j1"], "by": "stop"}),
    ("lead", "model.requested", {"turn": 9, "messages": 4, "purpose": "summary"}),
    ("lead", "model.replied", {"turn": 9, "usage": {}, "purpose": "summary"}),
    over("j2", "timeout"),
    over("j3", "stopped", "bye"),
    ("lead", "job.delivered", {"ids": ["j2", "j3", "j9"], "by": "results"}),
    over("j9", "failed"),
    ("lead", "model.requested", {"turn": 10, "messages": 4}),
    (
        "lead",
        "model.failed",
        {"turn": 10, "status": None, "error_type": "connection", "message": "away"},
    ),
    (
        "lead",
        "compaction.summarised",
        {"before": 3000, "after": 1000, "transcript": "", "focus": ""},
    ),
    *asks("lead", 10, 4, "model_context_window_exceeded", input_tokens=2500),
    says("lead", 0, "user", "Something else."),
    ("lead", "tool.started", {"id": "h1", "name": "bash", "input": {"command": "sleep 9"}}),
    ("lead", "tool.started", {"id": "h2", "name": "unheard", "input": None}),
    ("lead", "tool.ended", {"id": "h2", "name": "unheard", "how": "unknown", "is_error": True}),
    ("lead", "skills.listed", {"catalogue": 0, "skills": {}, "problems": ["a has no name"]}),
    (
        "helper",
        "skills.listed",
        {"catalogue": 40, "skills": {"dates": 700}, "preloaded": ["dates"]},
    ),
    *begins("helper", "Help."),
    *asks("helper", 1, 1),
    *works(2, 1, result("i1", "42"), lane="helper"),
    ends("helper", "42", 2, "refusal"),
    ("lead", "run.ended", {"reason": "max_turns", "text": "", "turns": 10}),
    *begins("lead", "And now?"),
]

#: Two runs with the same beginning; the second one is told something else.
FORKED: list[Step] = [
    *[says(lane, 0, "user", "Which one?") for lane in ("as it was", "forked")],
    ("as it was", "messages.rewritten", {"messages": [{"role": "user", "content": "Which one?"}]}),
    says("as it was", 1, "assistant", [use("t1", "bash", command="ls")]),
    says("forked", 1, "assistant", [use("t1", "bash", command="ls")]),
    says("as it was", 2, "user", [result("t1", "oslo")]),
    says("forked", 2, "user", [result("t1", "bergen")]),
    says("as it was", 3, "assistant", [text("Oslo.")]),
    says("forked", 3, "assistant", [use("t2", "bash"), use("t3", "read_file")]),
    *[says("forked", 4 + n, "user", f"more {n}") for n in range(8)],
    says("third", 0, "user", "Nobody sees this."),
    ends("as it was", "Oslo.", 2),
    ends("forked", "", 3, "max_tokens"),
]

#: A team of which one lives elsewhere and is lost; a lead that opens the board a second time.
TOGETHER_AGAIN: list[Step] = [
    *begins("lead", "Go on."),
    (
        "lead",
        "board.opened",
        {
            "tasks": [
                task(1, "parse", "in_progress", owner="alice", tags=["coder", "night"]),
                task(2, "transform", "pending", 1, 9),
                task(
                    3, "read the notes of the year before last, and all the letters", "pending", 1
                ),
                task(8, "sweep", "pending"),
            ]
        },
    ),
    ("lead", "team.spawned", {"name": "alice", "role": "coder", "prompt": "Begin."}),
    ("carol", "team.joined", {"name": "carol", "role": "tester", "where": "machine 7"}),
    ("lead.t1", "run.started", {"prompt": "A subagent.", "tools": [], "model": "m"}),
    ("alice", "task.updated", {"task": task(2, "transform", "pending", 1, 8)}),
    ("alice", "task.updated", {"task": task(2, "transform", "pending")}),
    ("carol", "task.created", {"task": task(10, "greet", "pending")}),
    ("carol", "task.started", {"task": task(8, "sweep", "in_progress", owner="carol")}),
    ("carol", "task.started", {"task": task(10, "greet", "in_progress", owner="carol")}),
    ("lead", "task.refused", {"tool": "task_claim", "problem": "task 3 is blocked by 1"}),
    ("alice", "task.completed", {"task": task(1, "parse", "completed", owner="alice")}),
    (
        "lead",
        "board.opened",
        {
            "tasks": [
                task(1, "parse", "completed", owner="alice"),
                task(2, "transform"),
                task(8, "sweep", "in_progress", owner="carol"),
                task(10, "greet", "in_progress", owner="carol"),
            ]
        },
    ),
    mail(1, "alice", "lead", "", type="shutdown_response", request_id="r1"),
    mail(2, "dave", "carol", "are you there?"),
    mail(3, "lead", "alice", "all hands", type="broadcast"),
    mail(4, "lead", "carol", "all hands", type="broadcast"),
    ("alice", "mail.read", {"ids": ["m3"], "by": "alice"}),
    ("carol", "team.lost", {"name": "carol", "seconds": 90}),
    ("erin", "team.lost", {"name": "erin", "seconds": 5}),
    ("carol", "team.joined", {"name": "carol", "role": "tester", "where": ""}),
    ("carol", "task.failed", {"task": task(8, "sweep", "failed", owner="carol")}),
    ("alice", "team.status", {"name": "alice", "role": "coder", "status": "idle"}),
    ("alice", "team.status", {"name": "alice", "role": "coder", "status": "working"}),
    ("alice", "team.status", {"name": "alice", "role": "coder", "status": "shutdown"}),
    mail(6, "lead", "alice", "thank you"),  # too late, so her lifeline does not go on
    ("alice", "request.opened", request("r1", "plan", sender="alice", to="lead", content="first")),
    (
        "lead",
        "request.answered",
        request("r1", "plan", "changes_requested", sender="alice", to="lead", note="smaller"),
    ),
    ("lead", "request.answered", request("r2", "plan", "rejected", sender="alice", to="lead")),
    ("lead", "request.opened", request("r3", "shutdown", to="carol")),
    ("carol", "request.refused", {"tool": "shutdown_response", "problem": "r3 is not yours"}),
    ("carol", "request.answered", request("r3", "shutdown", "approved", to="carol", note="")),
    ("carol", "request.refused", {"tool": "shutdown_response", "problem": "r3 is approved"}),
    ("lead", "request.opened", request("r4", "shutdown", to="dave")),
    ("lead", "request.expired", request("r4", "shutdown", "expired", to="dave", note="gone")),
    (
        "lead",
        "worktree.commits",
        {
            "commits": [
                {"id": "c2", "parents": ["c1"], "refs": ["main"], "subject": "now"},
                {"id": "c1", "subject": "old"},
            ]
        },
    ),
    ("alice", "worktree.create", tree("one", task_id=2)),
    ("carol", "worktree.create", tree("two", task_id=None)),
    (
        "alice",
        "worktree.commits",
        {
            "commits": [
                {
                    "id": "c4",
                    "parents": ["c2"],
                    "refs": ["work/two"],
                    "subject": "docs",
                    "files": ["docs/a.md"],
                },
                {
                    "id": "c3",
                    "parents": ["c2"],
                    "refs": ["work/one"],
                    "subject": "code",
                    "files": ["src/a.py", "src/b.py"],
                },
                {"id": "c2", "parents": ["c1"], "refs": ["main"], "subject": "now"},
            ]
        },
    ),
    ("lead", "worktree.merge", tree("one", task_id=2)),
    ("lead", "worktree.failed", {"tool": "merge", "name": "two", "problem": "it has changes"}),
    ("lead", "worktree.failed", {"tool": "merge", "name": "two", "problem": "a conflict in a.md"}),
    ("lead", "worktree.failed", {"tool": "remove", "name": "two", "problem": "it is in use"}),
    ("lead", "worktree.failed", {"tool": "remove", "name": "nine", "problem": "no such worktree"}),
    (
        "lead",
        "worktree.commits",
        {
            "commits": [
                {"id": "c5", "parents": ["c2", "c3"], "refs": ["main"], "subject": "merge one"}
            ]
        },
    ),
    (
        "lead",
        "worktree.commits",
        {"commits": [{"id": "c6", "parents": ["c5"], "refs": ["main"], "subject": "fix"}]},
    ),
    ("alice", "worktree.remove", tree("one", "removed", task_id=2)),
    ("carol", "worktree.keep", tree("two", "kept")),
    ("carol", "worktree.remove", tree("two", "removed")),
    ("lead", "model.paused", {"turn": 3, "waits": "alice"}),
    mail(5, "alice", "lead", "too late to be seen"),
]

#: A reader that is asked to read again what it has, and one that leaves some.
RACING_AGAIN: list[Step] = [
    ("zoe", "race.started", {"reader": "zoe", "writers": ["alice", "adam"], "seed": None}),
    ("zoe", "race.lost", {"text": "early", "writer": "adam", "content": []}),
    race("alice", "wrote", ["alice 1"], ["alice 1"]),
    race("adam", "wrote", ["adam 1", "adam 2"], ["alice 1", "adam 1", "adam 2"]),
    race("zoe", "drained", ["alice 1"], ["adam 1", "adam 2"]),
    race("zoe", "paused", [], ["adam 1", "adam 2"]),
    race("adam", "wrote", [f"adam {n}" for n in range(3, 12)], [f"adam {n}" for n in range(1, 12)]),
    ("zoe", "race.repeated", {"text": "alice 1"}),
    race("zoe", "finished", ["alice 1"], []),
    ("zoe", "race.lost", {"text": "adam 2", "writer": "adam", "content": []}),
    ("zoe", "race.lost", {"text": "adam 1", "writer": "adam", "content": []}),
    race("olaf", "wrote", ["olaf 1"], ["olaf 1"]),
    ("zoe", "race.ended", {"texts": ["olaf 1"], "content": ["olaf 1"], "sent": 13, "read": 1}),
]

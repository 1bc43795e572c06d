"""The slider steps over visible changes."""

from __future__ import annotations

from canvases import stops

from learnkit.events.log import EventLog
from learnkit.views import Tasks, Team, Worktrees


def test_an_event_that_changes_nothing_is_no_step() -> None:
    log = EventLog()
    one = {"id": 1, "subject": "x", "status": "pending"}
    log.append("board.opened", tasks=[one])
    tree = {"name": "a", "branch": "wt/a", "task_id": 1, "status": "active"}
    log.append("worktree.create", tree=tree)
    before = [stops(kind(log)) for kind in (Tasks, Team, Worktrees)]
    for type, data in (
        ("message.added", {"index": 0, "message": {"role": "user", "content": "x"}}),
        ("model.requested", {"turn": 1, "messages": 1}),
        ("task.updated", {"task": {**one, "blocks": [2], "description": "more"}}),
        ("mail.sent", {"mail": {"id": "m1", "from": "a", "to": "b", "content": "x"}}),
    ):
        log.append(type, **data)
    assert [stops(kind(log)) for kind in (Tasks, Team, Worktrees)] == before

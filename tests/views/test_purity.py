"""Every view is a pure fold: whatever happens later, an earlier state still shows what it did."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from every_view import VIEWS
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

from learnkit.core.events import EventLog
from learnkit.views import View
from learnkit.views.drawing.static import LIMIT

_STATUSES = ["pending", "in_progress", "completed", "failed"]
words = st.text(max_size=40) | st.sampled_from(["", "<script>", "a\nb\nc\nd", "x" * 400])
ids = st.sampled_from(["t1", "t2", "t 3", "<t>"])
names = st.sampled_from(["bash", "read_file", "<b>", "gone"])
block = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, words),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "s"}, words),
    st.builds(
        lambda id, name, text: {"type": "tool_use", "id": id, "name": name, "input": {"a": text}},
        *(ids, names, words),
    ),
    st.builds(
        lambda id, text, bad: {
            **{"type": "tool_result", "tool_use_id": id},
            **{"content": text, "is_error": bad},
        },
        *(ids, words, st.booleans()),
    ),
    st.builds(lambda kind: {"type": kind, "more": [1]}, words),
)
content = words | st.lists(block, max_size=4)
message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": content}
)
hows = st.sampled_from(["ran", "refused", "unknown", "invalid", "cancelled", "cut", "raised"])
tools = st.lists(st.fixed_dictionaries({"name": names}), max_size=3)


def of(
    type: str, **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.fixed_dictionaries(fields).map(lambda data: (type, data))


numbers = st.lists(st.integers(1, 5), max_size=3)
task = st.fixed_dictionaries(
    {"id": st.integers(1, 5), "subject": words, "status": st.sampled_from([*_STATUSES, "?"])},
    optional={"blockedBy": numbers | words, "owner": names, "tags": st.lists(words, max_size=2)},
)
request = st.fixed_dictionaries(
    {},
    optional={
        "id": ids,
        "kind": st.sampled_from(["shutdown", "plan", "?"]),
        "sender": names,
        "to": names,
        "content": words,
        "state": st.sampled_from(["pending", "approved", "rejected", "changes_requested", "?"]),
        "note": words,
    },
)
event = st.one_of(
    of("race.started", reader=names, writers=st.lists(names, max_size=3), seed=st.integers(0, 9)),
    *(
        of(f"race.{kind}", letters=st.lists(words, max_size=3), content=st.lists(words, max_size=3))
        for kind in ("wrote", "read", "emptied", "finished", "drained", "paused", "ended")
    ),
    of("race.lost", letter=words, writer=names, content=st.just([])),
    of("run.started", prompt=words, system=words, tools=tools, model=words),
    of("message.added", index=st.integers(0, 8) | st.none(), message=message),
    of("messages.rewritten", messages=st.lists(message, max_size=4), why=words),
    of("model.requested", turn=st.integers(1, 9), messages=st.integers(0, 9)),
    of("model.replied", turn=st.integers(1, 9), stop_reason=words, usage=st.just({})),
    of(
        "model.failed", turn=st.integers(1, 9), status=st.just(529), error_type=words, message=words
    ),
    of("tool.started", id=ids, name=names, input=st.dictionaries(words, words, max_size=2)),
    of("tool.ended", id=ids, name=names, is_error=st.booleans(), output=words, how=hows),
    of("permission.decided", id=ids, name=names, decision=words, answer=words, reason=words),
    of(
        "skills.listed",
        catalogue=st.integers(0, 900),
        skills=st.dictionaries(names, st.integers(0, 9000)),
        preloaded=st.lists(names, max_size=2),
        problems=st.lists(words, max_size=2),
    ),
    of(
        "todo.updated",
        items=st.lists(
            st.fixed_dictionaries(
                {
                    "id": ids,
                    "text": words,
                    "status": st.sampled_from(["pending", "completed", "?"]),
                },
                optional={"note": words},
            ),
            max_size=3,
        ),
        done=st.integers(0, 3),
        total=st.integers(0, 3),
    ),
    of("todo.rejected", problem=words),
    of("todo.reminded", rounds=st.integers(1, 9), text=words),
    of("subagent.started", parent=names, call=ids, prompt=words, description=words, kind=words),
    of(
        "subagent.ended",
        parent=names,
        call=ids,
        reason=words,
        turns=st.integers(0, 9),
        tokens=st.integers(0, 9000),
        returned=st.integers(0, 90),
    ),
    of("tokens.estimated", tokens=st.integers(0, 9000), threshold=st.integers(0, 9000)),
    of(
        "compaction.cleared",
        results=st.just([]),
        before=st.integers(0, 9000),
        after=st.integers(0, 900),
    ),
    of(
        "compaction.summarised",
        before=st.integers(0, 9000),
        after=st.integers(0, 900),
        transcript=words,
        focus=words,
    ),
    of("compaction.asked", focus=words, by=st.sampled_from(["tool", "threshold", "?"])),
    of("compaction.failed", error=words),
    of("board.opened", tasks=st.lists(task, max_size=4) | st.just(None)),
    of("task.created", task=task),
    of("task.updated", task=task),
    of("task.started", task=task),
    of("task.completed", task=task, freed=st.lists(st.integers(1, 4), max_size=2)),
    of("task.failed", task=task),
    of("task.returned", task=task),
    of("task.deleted", task=task),
    of("task.refused", tool=names, problem=words),
    of("job.started", id=ids, command=words, limit=st.just(300.0)),
    of(
        "job.ended",
        id=ids,
        status=st.sampled_from(["completed", "failed", "timeout", "stopped", "?"]),
        code=st.sampled_from([0, 1, None]),
        seconds=st.just(1.5),
        output=words,
    ),
    of("job.delivered", ids=st.lists(ids, max_size=2), by=words),
    of("team.spawned", name=names, role=words, prompt=words),
    of("team.status", name=names, role=words, status=st.sampled_from(["working", "idle", "?"])),
    of(
        "mail.sent",
        mail=st.fixed_dictionaries(
            {"from": names, "to": names, "content": words},
            optional={
                "id": ids,
                "type": st.sampled_from(["message", "broadcast", "shutdown_request", "?"]),
                "request_id": ids,
            },
        ),
    ),
    of("mail.read", ids=st.lists(ids, max_size=2), by=names),
    of("request.opened", request=request),
    of("request.answered", request=request),
    of("request.expired", request=request),
    of("request.refused", tool=names, problem=words),
    *(
        of(
            f"worktree.{kind}",
            tree=st.fixed_dictionaries(
                {"name": names},
                optional={
                    "branch": words,
                    "task_id": st.integers(1, 4) | st.none(),
                    "status": st.sampled_from(["active", "kept", "removed", "?"]),
                },
            ),
        )
        for kind in ("create", "merge", "keep", "remove")
    ),
    of("worktree.failed", tool=words, name=names, problem=words),
    of(
        "worktree.commits",
        commits=st.lists(
            st.fixed_dictionaries(
                {"id": ids},
                optional={
                    "parents": st.lists(ids, max_size=3),
                    "refs": st.lists(names, max_size=2),
                    "subject": words,
                },
            ),
            max_size=5,
        ),
    ),
    of("skill.loaded", name=names, tokens=st.integers(0, 9000)),
    of("skill.read", name=names, file=words, tokens=st.integers(0, 900)),
    of("run.ended", reason=words, text=words, turns=st.integers(0, 9)),
    of("lesson.invented"),
)
lanes = st.sampled_from(["lead", "lead.t1", "<alice>"])
logs = st.lists(st.tuples(lanes, event), max_size=25)


def log_of(steps: list[tuple[str, tuple[str, dict[str, Any]]]]) -> EventLog:
    log = EventLog()
    for lane, (type, data) in steps:
        data = {key: value for key, value in data.items() if key != "index" or value is not None}
        log.append(type, lane=lane, time=len(log) / 4, **data)
    return log


@pytest.mark.parametrize("kind", VIEWS)
@settings(max_examples=examples(60))
@given(steps=logs)
def test_the_state_after_k_events_is_the_fold_of_the_first_k(
    kind: type[View[Any]], steps: list[Any]
) -> None:
    log = log_of(steps)
    view = kind(log)
    states, shown = [view.init()], []
    for one in log:
        shown.append((dict(view.frame(states[-1])), view.head(states[-1])))
        states.append(view.step(states[-1], one))
    shown.append((dict(view.frame(states[-1])), view.head(states[-1])))
    for k, (frame, head) in enumerate(shown):
        # After everything that followed, and from a fold of its own: the same.
        assert list(view.frame(states[k]).items()) == list(frame.items())
        assert view.head(states[k]) == head
        fresh = kind(log).at(k)
        assert list(view.frame(fresh).items()) == list(frame.items())
        assert view.head(fresh) == head


@pytest.mark.parametrize("kind", VIEWS)
@settings(max_examples=examples(25))
@given(steps=logs)
def test_every_log_has_a_static_form(kind: type[View[Any]], steps: list[Any]) -> None:
    view = kind(log_of(steps))
    assert len(view.html().encode()) < LIMIT
    assert "\n" not in view.line(view.at())


def test_views_load_no_notebook_library_and_show_nothing_outside_of_one() -> None:
    code = """
import sys
from learnkit.core.events import EventLog
from learnkit import views
log = EventLog()
for view in [getattr(views, name)(log) for name in views.__all__ if name != "View"]:
    with view.live() as same:
        assert same is view
        log.append("run.started", prompt="hi", system="", tools=[], model="m")
    view.html()
heavy = {"anywidget", "ipywidgets", "IPython", "anthropic", "traitlets"}
print(sorted(heavy & set(sys.modules)))
"""
    bare = {key: value for key, value in os.environ.items() if key != "LEARNKIT_STATIC"}
    for environment in (bare, {**bare, "LEARNKIT_STATIC": "1"}):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment
        )
        assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_view_meets_its_player_once_a_public_name_is_used_and_not_before() -> None:
    code = """
import sys
import learnkit as lk
from learnkit.views import Messages
assert Messages.player is None and "learnkit.widget" not in sys.modules
lk.EventLog
assert Messages.player is not None and "anywidget" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)

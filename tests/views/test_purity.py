"""Every view is a pure fold: whatever happens later, an earlier state still shows what it did."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from every_view import VIEWS
from hypothesis import given, note, settings
from hypothesis import strategies as st
from profiles import examples
from random_events import logs

from learnkit.views import View
from learnkit.views.drawing.static import LIMIT

#: Views that take details out of the log by themselves, and trust them. One that reads typed events
#: is taken out of this list, and must then survive logs that were edited by hand.
TRUSTING = {
    *("Compaction", "Contexts", "Messages", "Protocol", "Skills"),
    *("Timeline", "Todo", "Tokens", "Traffic", "Worktrees"),
}


#: Nouns of events that have to do with each other.
STORIES = (
    ("run.", "message", "model.", "tool."),
    ("run.", "message", "model.", "compaction.", "tokens.", "skills.", "skill."),
    ("run.", "team.", "mail.", "task.", "board.", "request.", "worktree."),
    ("race.",),
)
GROUPS = {
    "strange": [kind for kind in VIEWS if kind.__name__ not in TRUSTING],
    "whole": [kind for kind in VIEWS if kind.__name__ in TRUSTING],
}


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
@settings(max_examples=examples(60))
@given(data=st.data())
def test_whatever_is_in_a_log_every_view_is_a_fold_of_it_and_can_be_read(
    group: str, data: st.DataObject
) -> None:
    # One log for all views: making it takes longer than looking at it.
    strange = group == "strange"
    log = data.draw(st.one_of([logs(*some, strange=strange) for some in ((), *STORIES)]))
    for kind in GROUPS[group]:
        note(kind.__name__)
        view = kind(log)
        states = the_state_after_k_events_is_the_fold_of_the_first_k(view)
        the_static_form_is_short(view, states[-1])


def the_state_after_k_events_is_the_fold_of_the_first_k(view: View[Any]) -> list[Any]:
    """Check it for every k, and return the states."""

    def seen(state: Any) -> tuple[list[tuple[str, str]], str]:
        return list(view.frame(state).items()), view.finding(state)

    events = [one for one in view.events if view.wants(one)]
    # Another fold, whose states nobody looks at before their turn.
    again = type(view)(view.events)
    fresh = [again.init()]
    for one in events:
        fresh.append(again.step(fresh[-1], one))
    states, shown = [view.init()], [seen(view.init())]
    for one in events:
        states.append(view.step(states[-1], one))
        shown.append(seen(states[-1]))
    # After everything that followed, and from the other fold: the same.
    for state, other, before in zip(states, fresh, shown, strict=True):
        assert seen(state) == before
        assert seen(other) == before
    assert seen(again.at()) == shown[-1]
    return states


def the_static_form_is_short(view: View[Any], last: Any) -> None:
    assert len(view.html().encode()) < LIMIT
    assert "\n" not in view.line(last)


def test_views_load_no_notebook_library_and_show_nothing_outside_of_one() -> None:
    code = """
import sys
from learnkit.events.log import EventLog
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


def test_a_view_finds_its_player_when_it_is_first_displayed_however_it_was_imported() -> None:
    code = """
import sys
from learnkit.events.log import EventLog
from learnkit.views.messages import Messages
view = Messages(EventLog())
view.html()
assert Messages.player is None and "learnkit.widget" not in sys.modules
assert "lk-tape" in view.embedded()
assert Messages.player is not None and "anywidget" not in sys.modules
"""
    environment = {**os.environ, "LEARNKIT_TAPES": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)

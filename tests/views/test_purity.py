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
from random_events import logs

from learnkit.core.events import EventLog
from learnkit.views import View
from learnkit.views.drawing.static import LIMIT

#: Views that take details out of the log by themselves, and trust them. One that reads typed events
#: is taken out of this list, and must then survive logs that were edited by hand.
TRUSTING = {
    *("Branches", "Compaction", "Contexts", "Messages", "Protocol", "Schedule", "Skills"),
    *("Timeline", "Todo", "Tokens", "Traffic", "Worktrees"),
}


def drawn(data: st.DataObject, kind: type[View[Any]]) -> EventLog:
    log: EventLog = data.draw(logs(strange=kind.__name__ not in TRUSTING))
    return log


@pytest.mark.parametrize("kind", VIEWS)
@settings(max_examples=examples(60))
@given(data=st.data())
def test_the_state_after_k_events_is_the_fold_of_the_first_k(
    kind: type[View[Any]], data: st.DataObject
) -> None:
    log = drawn(data, kind)
    view = kind(log)
    states, shown = [view.init()], []
    for one in log:
        shown.append((dict(view.frame(states[-1])), view.finding(states[-1])))
        states.append(view.step(states[-1], one))
    shown.append((dict(view.frame(states[-1])), view.finding(states[-1])))
    for k, (frame, head) in enumerate(shown):
        # After everything that followed, and from a fold of its own: the same.
        assert list(view.frame(states[k]).items()) == list(frame.items())
        assert view.finding(states[k]) == head
        fresh = kind(log).at(k)
        assert list(view.frame(fresh).items()) == list(frame.items())
        assert view.finding(fresh) == head


@pytest.mark.parametrize("kind", VIEWS)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_every_log_has_a_static_form(kind: type[View[Any]], data: st.DataObject) -> None:
    view = kind(drawn(data, kind))
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


def test_a_view_finds_its_player_when_it_is_first_displayed_however_it_was_imported() -> None:
    code = """
import sys
from learnkit.core.events import EventLog
from learnkit.views.messages import Messages
view = Messages(EventLog())
view.html()
assert Messages.player is None and "learnkit.widget" not in sys.modules
assert "lk-tape" in view.embedded()
assert Messages.player is not None and "anywidget" not in sys.modules
"""
    environment = {**os.environ, "LEARNKIT_TAPES": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)

"""The schedule view: steps in the columns of who took them, and the letter that is lost."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples
from static_page import Page

from learnkit.core.events import EventLog
from learnkit.views.drawing import static, theme
from learnkit.views.schedule import COLUMNS, Schedule

PLAIN = {"p", "strong", "img", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"}
HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(1)> {who} \u202e\x00\ud800' + "W" * 900
)
Step = tuple[str, str, dict[str, Any]]


def log_of(*steps: Step) -> EventLog:
    log = EventLog()
    for lane, type, data in steps:
        log.append(type, lane=lane, time=float(len(log)), **data)
    return log


def did(who: str, type: str, letters: list[str], content: list[str]) -> Step:
    return who, f"race.{type}", {"letters": letters, "content": content}


STARTED: Step = (
    "alice",
    "race.started",
    {"reader": "alice", "writers": ["bob", "carol"], "seed": 17},
)
LOST: Step = ("alice", "race.lost", {"letter": "carol 1", "writer": "carol", "content": []})
STORY = (
    STARTED,
    did("bob", "wrote", ["bob 1"], ["bob 1"]),
    did("alice", "read", ["bob 1"], ["bob 1"]),
    did("carol", "wrote", ["carol 1"], ["bob 1", "carol 1"]),
    did("alice", "emptied", ["bob 1"], []),
    LOST,
    ("alice", "race.ended", {"letters": [], "content": [], "sent": 2, "read": 1}),
)

names = st.sampled_from(["alice", "bob", "<carol>", "dan d", ""])
letters = st.lists(st.sampled_from(["bob 1", "bob 2", "<b> 1", "", HOSTILE]), max_size=12)
anything = st.one_of(letters, st.text(max_size=5), st.none(), st.integers())
step = st.one_of(
    st.tuples(
        names,
        st.sampled_from(["wrote", "read", "emptied", "finished", "drained", "paused", "ended"]).map(
            "race.{}".format
        ),
        st.fixed_dictionaries({}, optional={"letters": anything, "content": anything}),
    ),
    st.tuples(
        names,
        st.just("race.started"),
        st.fixed_dictionaries(
            {},
            optional={"reader": names, "writers": st.lists(names) | st.none(), "seed": anything},
        ),
    ),
    st.tuples(
        names,
        st.just("race.lost"),
        st.fixed_dictionaries({}, optional={"letter": st.sampled_from(["bob 1", "x", HOSTILE])}),
    ),
    st.tuples(names, st.sampled_from(["run.ended", "race.invented"]), st.just({})),
)
logs = st.lists(step, max_size=25).map(lambda steps: log_of(*steps))


def fragments(view: Schedule, k: int | None = None) -> str:
    return "".join(view.frame(view.at(k)).values())


def rows(view: Schedule, k: int | None = None) -> list[str]:
    frame = view.frame(view.at(k))
    return [html for key, html in frame.items() if re.fullmatch(r"steps/\d+", key)]


def test_the_sentence_of_each_step_says_what_happened() -> None:
    view = Schedule(log_of(*STORY))
    assert [view.head(view.at(k)) for k in range(len(STORY) + 1)] == [
        "Nothing has happened yet.",
        "Seed 17 says who goes first: alice, bob and carol.",
        "bob writes bob 1. In the file: bob 1.",
        "alice reads bob 1, and is not done yet.",
        "carol writes carol 1, while alice is in the middle. In the file: bob 1 and carol 1.",
        "alice empties the file. Read before: bob 1.",
        "✗ carol 1 is lost: it came after alice had read, and before the file was emptied.",
        "The end. Still there: nothing. 2 letters sent, 1 lost.",
    ]
    assert str(view) == f"schedule: {view.head(view.at())}"


def test_each_step_stands_in_the_column_of_who_took_it_with_the_file_beside_it() -> None:
    view = Schedule(log_of(*STORY[:5]))
    columns = [re.search(r'step m-\w+" style="grid-column:(\d)"', row) for row in rows(view)]
    assert [found and found[1] for found in columns] == ["2", "1", "3", "1"]
    files = [Page(row.partition('<div class="file">')[2]).text for row in rows(view)]
    assert files == ["bob 1", "bob 1", "bob 1 and carol 1", "empty"]


def test_the_bar_is_there_while_the_reader_is_not_done() -> None:
    view = Schedule(log_of(*STORY))
    assert ['class="bar"' in row for row in rows(view)] == [False, True, True, True, False]


def test_a_lost_letter_is_marked_by_glyph_word_and_colour_where_it_was_written_and_lost() -> None:
    view = Schedule(log_of(*STORY))
    before, after = rows(view, 5), rows(view, 6)
    assert "m-error" not in "".join(before)
    assert ["m-error" in row for row in after] == [False, False, True, True]
    assert f"{theme.ERROR.glyph} writes carol 1" in after[2]
    assert f"{theme.ERROR.glyph} lost: carol 1" in after[3]
    page = Page(view.html())
    assert page.text.count("✗ lost: carol 1") == 1
    assert "text.error" in base64.b64decode(page.src.partition(",")[2]).decode()


def test_what_happens_without_an_emptied_file_is_told_as_it_is() -> None:
    view = Schedule(log_of(STARTED, did("bob", "wrote", ["bob 1"], []), LOST))
    assert "it is not in the inbox any more" in view.head(view.at())
    done = log_of(STARTED, did("alice", "finished", ["bob 1"], ["bob 1", "bob 2"]))
    assert Schedule(done).head(Schedule(done).at()) == (
        "alice is done with bob 1. In the file: bob 1 and bob 2."
    )
    early = Schedule(log_of(LOST))
    assert "carol 1 is lost" in early.head(early.at())


def test_a_new_run_in_the_same_log_begins_with_an_empty_picture() -> None:
    view = Schedule(log_of(*STORY, STARTED))
    assert view.frame(view.at()) == Schedule(log_of(STARTED)).frame(view.at())
    assert not view.at().lost


def test_the_static_form_is_plain_small_and_has_the_same_facts_as_a_table() -> None:
    view = Schedule(log_of(*STORY))
    page = Page(view.html())
    assert set(page.tags) <= PLAIN
    assert page.attributes <= {"alt", "src", "align"}
    assert len(page.alt) >= 40
    for said in ("in the file then", "✗ writes carol 1", "✗ empties", "bob 1 and carol 1", "end"):
        assert said in page.text
    drawn = " ".join("".join(text.itertext()) for text in page.svg().iter())
    for said in ("alice", "carol", "✗ writes carol 1", "✗ lost: carol 1", "1 lost."):
        assert said in drawn


@pytest.mark.parametrize("steps", [0, 1, 40, 200])
def test_it_stays_small_however_long_the_run(steps: int) -> None:
    many = [f"bob {number}" for number in range(steps)]
    events = [did("bob", "wrote", [one], many[: at + 1]) for at, one in enumerate(many)]
    html = Schedule(log_of(STARTED, *events)).html()
    assert len(html.encode()) < static.LIMIT
    if steps == 200:
        assert re.search(r"… 1\d\d earlier", html)


def test_at_most_so_many_columns_are_drawn() -> None:
    events = [did(f"w{n}", "wrote", [f"w{n} 1"], [f"w{n} 1"]) for n in range(30)]
    view = Schedule(log_of(STARTED, *events))
    assert len(view.at().people) == COLUMNS
    assert len(rows(view)) == 30
    assert len(view.html().encode()) < static.LIMIT


def test_hostile_text_is_only_text() -> None:
    data = {"reader": HOSTILE, "writers": [HOSTILE + "2"], "seed": HOSTILE}
    wrote = did(HOSTILE + "2", "wrote", [HOSTILE], [HOSTILE])
    lost = (HOSTILE, "race.lost", {"letter": HOSTILE})
    view = Schedule(log_of((HOSTILE, "race.started", data), wrote, lost))
    page = Page(view.html())
    assert set(page.tags) <= PLAIN
    assert len(view.html().encode()) < static.LIMIT
    page.svg()
    live = Page(fragments(view))
    assert not {"script", "img", "svg"} & set(live.tags)
    assert not {name for name in live.attributes if name.startswith("on")}


@settings(max_examples=examples(80))
@given(log=logs)
def test_the_state_after_k_events_is_the_fold_of_the_first_k(log: EventLog) -> None:
    view = Schedule(log)
    states, shown = [view.init()], []
    for one in log:
        shown.append((dict(view.frame(states[-1])), view.head(states[-1])))
        states.append(view.step(states[-1], one))
    for k, (frame, head) in enumerate(shown):
        assert list(view.frame(states[k]).items()) == list(frame.items())
        assert view.head(states[k]) == head
        fresh = Schedule(log).at(k)
        assert view.frame(fresh) == frame
        assert view.head(fresh) == head


@settings(max_examples=examples(50))
@given(log=logs)
def test_every_log_has_a_static_form(log: EventLog) -> None:
    view = Schedule(log)
    html = view.html()
    assert len(html.encode()) < static.LIMIT
    assert "\n" not in view.line(view.at())
    svg = Page(html).svg()
    height = float(svg.attrib["height"])
    for element in svg.iter():
        if element.tag.endswith("text"):
            assert 10 < float(element.attrib["y"]) < height - 5
            assert 0 < float(element.attrib["x"]) < static.WIDTH

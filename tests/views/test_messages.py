"""The message array view, step by step."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from canvases import said
from workday import use

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import EventLog
from learnkit.views import Messages
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE


def test_a_request_carries_all_rows_above_it(story: EventLog) -> None:
    view = Messages(story)
    state = array = view.at()
    messages = [event.data["message"] for event in story if event.type == "message.added"]
    first, second = array.requests
    assert first.tokens == first.new == array.system_tokens + estimate_tokens(messages[:1])
    assert second.tokens == array.system_tokens + estimate_tokens(messages[:3])
    assert second.new == estimate_tokens(messages[1:3])
    rows = ["ruler", "system", "0", "request 1", "1", "2", "request 3", "3"]
    assert list(view.frame(state)) == rows
    on_top = view.frame(state)["ruler"]
    assert f'class="fresh" style="--n:{second.new}"' in on_top
    assert on_top.index("request 1") < on_top.index("request 2")
    canvas = view.draw(state, WIDE, 48)
    lengths = [canvas[f"request {n} {part}"] for n, part in ((1, "new"), (2, "bar"))]
    assert [one.mark for one in lengths] == ["fresh", "cached"]
    assert lengths[0].width == pytest.approx(lengths[1].width, abs=0.2), "on one scale"
    assert canvas["system bar"].width > 1
    assert lengths[0].y < lengths[1].y < canvas["index 0"].y, "together, as a staircase"
    assert canvas["request 1"].y < canvas["index 1"].y < canvas["request 2"].y
    assert "Request 2 carries" in view.facts(state, 1)
    assert "Request 1 carries" not in view.facts(state, 1)


def test_a_number_stands_at_the_end_of_its_bar(story: EventLog) -> None:
    view = Messages(story)
    canvas = view.draw(view.at(), WIDE, 48)
    ends = {one.key[:-4]: one.x + one.width for one in canvas.shapes if one.key.endswith(" bar")}
    assert ends
    for key, end in ends.items():
        fresh = canvas[f"{key} new"].width if f"{key} new" in canvas else 0
        assert canvas[f"{key} size"].x == pytest.approx(end + fresh + 6, abs=0.3), key
    assert re.search(r"</u><b>≈ \d+</b></span>", view.frame(view.at())["0"])


def test_of_many_requests_the_last_few_stand_on_top(run: Callable[..., Any]) -> None:
    one = run()
    one.start("go")
    for turn in range(8):
        one.add("model.requested", turn=turn, messages=turn + 1)
        one.say("assistant", f"{turn}")
    view = Messages(one.log)
    shown = re.findall(r"request \d", view.frame(view.at())["ruler"])
    assert shown == [f"request {number}" for number in (4, 5, 6, 7, 8)]


def test_an_agent_of_another_name_than_lead_has_its_own_picture() -> None:
    agent = lk.Agent(lk.scripted([lk.say("Hello.")]), name="reader")
    agent.run("Hi.")
    view = Messages(agent.events)
    assert "Request 1 carries 1 message." in view.line(view.at())


def test_a_request_for_a_summary_carries_other_messages(story: EventLog) -> None:
    view = Messages(story)
    before = view.at()
    story.append("model.requested", turn=3, messages=1, purpose="summary")
    assert view.frame(view.at()) == view.frame(before)


def test_a_rewritten_array_keeps_only_requests_whose_rows_still_stand(story: EventLog) -> None:
    view = Messages(story)
    messages = [event.data["message"] for event in story if event.type == "message.added"]
    short = [messages[0], {"role": "assistant", "content": "short"}]
    story.append("messages.rewritten", messages=short, why="a test")
    array = view.at()
    assert [one.messages for one in array.requests] == [1]
    story.append("model.requested", turn=3, messages=2)
    last = view.at().requests[-1]
    assert (last.number, last.new) == (3, estimate_tokens(short[1:]))


def test_a_call_and_its_result_show_the_id_they_share(story: EventLog) -> None:
    view = Messages(story)
    frame = view.frame(view.at())
    for id in ("t1", "t2"):
        chip = f'<span class="id" title="{id}">id {id}</span>'
        for key in ("1", "2"):
            assert chip in frame[key]
            assert frame[key].count(f'data-pair="lead/{id}"') == 1
    lanes = [re.findall(r'style="--p:(\d)"', frame[key]) for key in ("1", "2")]
    assert lanes == [["0", "1"], ["0", "1"]], "each half of a line is in the lane of the other"
    assert [frame["2"].count(kind) for kind in ("m-error", "m-injected")] == [1, 1]
    canvas = view.draw(view.at(), WIDE, 48)
    assert canvas["pair 2 0"].y == pytest.approx(canvas["box 1 2"].y + 12, abs=1)


@pytest.mark.parametrize(
    ("text", "fails", "word"),
    [
        ("There is no tool 'readding'. The tools are: stations, reading.", True, "failed"),
        ("KeyError: 'mars'", True, "failed"),
        ("error 2", True, "failed"),
        ("no such file\n[exit code 2]", True, "completed"),  # the tool ran to its end
        ("31.4 °C", False, "completed"),
        ("There was no error 2", False, "completed"),
        ("[exit code 0]", False, "completed"),
        ("Errors are handled in parse.py", False, "completed"),
    ],
)
def test_a_failure_that_is_not_marked_as_one_is_told_apart(
    text: str, fails: bool, word: str, run: Callable[..., Any]
) -> None:
    one = run()
    one.say("assistant", [use("t1", "reading")])
    one.say("user", [{"type": "tool_result", "tool_use_id": "t1", "content": text}])
    view = Messages(one.log)
    frame = view.frame(view.at())
    assert ("is_error is not set" in frame["1"]) is fails
    told = theme.UNMARKED if fails else theme.RESULT
    assert view.draw(view.at(), WIDE, 48)["box 1 0"].mark == told.key
    assert f"m-{told.key}" in frame["1"]
    reads = "the result reads as a failure" if fails else "calls reading and gets the result."
    assert reads in view.finding(view.at())
    assert "m-error" not in frame["1"], "it is what the model was told"
    assert "✗" not in frame["1"]
    assert told.word == "result"
    stands = {"completed": theme.DONE, "failed": theme.FAILED}
    assert [key for key, mark in stands.items() if mark.label in frame["0"]] == [word]


def test_a_result_to_no_call_is_marked_and_a_long_id_shown_by_its_end(
    run: Callable[..., Any],
) -> None:
    one = run()
    one.say("assistant", [use("toolu_01A09q90qw90a1f3", "reading")])
    one.say("user", [{"type": "tool_result", "tool_use_id": "tl", "content": "31.4"}])
    view = Messages(one.log)
    assert "no call has this id" in view.frame(view.at())["1"]
    chip = '<span class="id" title="toolu_01A09q90qw90a1f3">id a1f3</span>'
    assert chip in view.frame(view.at())["0"]
    assert said(view) == "The model calls reading. 1 without a result."


def test_a_call_shows_how_it_stands_until_its_result_is_there(story: EventLog) -> None:
    view = Messages(story)
    stands = [theme.PENDING, theme.WORKING, theme.DONE, theme.DONE, theme.DONE]
    for k, mark in zip(range(5, 10), stands, strict=True):
        assert f">{mark.label}<" in view.frame(view.at(k))["1"], k
    assert "failed" in view.frame(view.at(9))["1"]


def test_text_that_the_harness_injects_is_not_the_persons(run: Callable[..., Any]) -> None:
    one = run()
    one.start("first")
    one.say("assistant", "ok")
    one.say("user", "<background-results>done</background-results>")
    one.say("assistant", "ok")
    one.start("second")
    view = Messages(one.log)
    kinds = ["user", "assistant", "injected", "assistant", "user"]
    for place, kind in enumerate(kinds):
        assert f'class="msg {kind}"' in view.frame(view.at())[f"{place}"]
    text = "<background-results>done</background-results>"
    one.add("messages.rewritten", messages=[{"role": "user", "content": text}], why="shorter")
    moved = Messages(one.log)
    assert 'class="msg injected"' in moved.frame(moved.at())["0"], "also at another place"


def test_compaction_keeps_the_cards_that_stay(run: Callable[..., Any]) -> None:
    one = run()
    one.start("first")
    for number in range(4):
        one.say("assistant", f"answer {number}")
        one.say("user", f"question {number}")
    before = Messages(one.log).at()
    first, last = ({"role": "user", "content": text} for text in ("first", "question 3"))
    summary = {"role": "user", "content": "<summary>short</summary>"}
    one.add("messages.rewritten", messages=[first, summary, last], why="over the threshold")
    view = Messages(one.log)
    state = view.step(before, one.log[-1])
    frame = view.frame(state)
    assert list(frame)[2:] == ["0", "1", "2"]
    assert frame["0"] is view.frame(before)["0"]
    assert 'class="msg injected"' in frame["1"]
    assert state.tokens == estimate_tokens([first, summary, last])
    one.add("messages.rewritten", messages=[summary, first], why="over it again")
    assert 'class="msg user"' in view.frame(view.at())["1"], "the prompt is put back"


def test_a_message_takes_the_place_of_all_from_its_index_on(run: Callable[..., Any]) -> None:
    one = run()
    one.say("assistant", [use("t1", "reading")])
    for text in ("dropped", "31.4"):
        one.index = 1
        one.say("user", [{"type": "tool_result", "tool_use_id": "t1", "content": text}])
    view = Messages(one.log)
    assert [card.index for card in view.at().cards] == [0, 1]
    frame = view.frame(view.at())
    assert "completed" in frame["0"], "drawn again when its result came"
    assert "31.4" in frame["1"]
    assert "dropped" not in frame["1"]

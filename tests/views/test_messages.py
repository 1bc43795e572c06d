"""The message array view, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from canvases import said
from workday import use

from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import EventLog
from learnkit.views import Messages
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE


def told(view: Messages, k: int) -> str:
    """What the player says at the k-th step, which changes the picture."""
    old, state = view.at(k - 1), view.at(k)
    assert view.frame(old) != view.frame(state)
    return view.told(state, old, view.events[k - 1])


def test_a_request_carries_all_rows_above_it(story: EventLog) -> None:
    view = Messages(story)
    state = view.at()
    array = state.arrays["lead"]
    messages = [event.data["message"] for event in story if event.type == "message.added"]
    first, second = array.requests
    assert first.tokens == first.new == array.system_tokens + estimate_tokens(messages[:1])
    assert second.tokens == array.system_tokens + estimate_tokens(messages[:3])
    assert second.new == estimate_tokens(messages[1:3])
    keys = [key for key in view.frame(state) if key.startswith("lead/")]
    rows = ["summary", "system", "0", "request 1", "1", "2", "request 3", "3"]
    assert keys == [f"lead/{row}" for row in rows]
    assert f'class="fresh" style="--n:{second.new}"' in view.frame(state)["lead/request 3"]
    canvas = view.draw(state, WIDE, 48)
    lengths = [canvas[f"request lead {n} {part}"] for n, part in ((1, "new"), (2, "bar"))]
    assert [one.mark for one in lengths] == ["fresh", "cached"]
    assert lengths[0].width == pytest.approx(lengths[1].width, abs=0.2), "on one scale"
    assert canvas["system lead bar"].width > 1
    assert lengths[0].y < canvas["index lead 1"].y < lengths[1].y


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
    array = view.at().arrays["lead"]
    assert [one.messages for one in array.requests] == [1]
    story.append("model.requested", turn=3, messages=2)
    last = view.at().arrays["lead"].requests[-1]
    assert (last.number, last.new) == (3, estimate_tokens(short[1:]))


def test_a_call_and_its_result_show_the_id_they_share(story: EventLog) -> None:
    view = Messages(story)
    frame = view.frame(view.at())
    for id in ("t1", "t2"):
        chip = f'<span class="id" title="{id}">id {id}</span>'
        for key in ("lead/1", "lead/2"):
            assert chip in frame[key]
            assert frame[key].count(f'data-pair="lead/{id}"') == 1
    assert [frame["lead/2"].count(kind) for kind in ("m-error", "m-injected")] == [1, 1]
    canvas = view.draw(view.at(), WIDE, 48)
    assert [canvas[f"id lead {card}"].lines for card in ("1 2", "2 0")] == [("id t1",)] * 2
    assert canvas["pair lead 2 0"].y == pytest.approx(canvas["box lead 1 2"].y + 13, abs=1)


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
    assert ("is_error is not set" in frame["lead/1"]) is fails
    assert ("✗" in view.draw(view.at(), WIDE, 48)["box lead 1 0"].lines[0]) is fails
    assert "m-error" not in frame["lead/1"], "it is what the model was told"
    stands = {"completed": theme.DONE, "failed": theme.FAILED}
    assert [key for key, mark in stands.items() if mark.label in frame["lead/0"]] == [word]


def test_a_result_to_no_call_is_marked_and_a_long_id_shown_by_its_end(
    run: Callable[..., Any],
) -> None:
    one = run()
    one.say("assistant", [use("toolu_01A09q90qw90a1f3", "reading")])
    one.say("user", [{"type": "tool_result", "tool_use_id": "tl", "content": "31.4"}])
    view = Messages(one.log)
    assert "no call has this id" in view.frame(view.at())["lead/1"]
    chip = '<span class="id" title="toolu_01A09q90qw90a1f3">id a1f3</span>'
    assert chip in view.frame(view.at())["lead/0"]
    assert said(view) == "2 messages: 1 call. 1 without a result."


def test_a_call_shows_how_it_stands_until_its_result_is_there(story: EventLog) -> None:
    view = Messages(story)
    stands = [theme.PENDING, theme.WORKING, theme.DONE, theme.DONE, theme.DONE]
    for k, mark in zip(range(5, 10), stands, strict=True):
        assert f">{mark.label}<" in view.frame(view.at(k))["lead/1"], k
    assert "failed" in view.frame(view.at(9))["lead/1"]


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
        assert f'class="msg {kind}"' in view.frame(view.at())[f"lead/{place}"]
    assert "The harness injects it. Message 2 enters" in told(view, 4)


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
    assert [key for key in frame if key.startswith("lead/")][2:] == ["lead/0", "lead/1", "lead/2"]
    assert frame["lead/0"] is view.frame(before)["lead/0"]
    assert 'class="msg injected"' in frame["lead/1"]
    assert view.told(state, before, one.log[-1]) == (
        "The array is rewritten and has 3 messages now: over the threshold."
    )
    assert state.arrays["lead"].tokens == estimate_tokens([first, summary, last])
    one.add("messages.rewritten", messages=[summary, first], why="over it again")
    assert 'class="msg user"' in view.frame(view.at())["lead/1"], "the prompt is put back"


def test_a_message_takes_the_place_of_all_from_its_index_on(run: Callable[..., Any]) -> None:
    one = run()
    one.say("assistant", [use("t1", "reading")])
    for text in ("dropped", "31.4"):
        one.index = 1
        one.say("user", [{"type": "tool_result", "tool_use_id": "t1", "content": text}])
    view = Messages(one.log)
    assert [card.index for card in view.at().arrays["lead"].cards] == [0, 1]
    frame = view.frame(view.at())
    assert "completed" in frame["lead/0"], "drawn again when its result came"
    assert "31.4" in frame["lead/1"]
    assert "dropped" not in frame["lead/1"]
    assert "Message 1 brings back" in told(view, 3)

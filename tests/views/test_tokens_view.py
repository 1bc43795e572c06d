"""Tokens over turns, and the array before and after: what compaction did, in lengths."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from canvases import drawn, stops

import learnkit as lk
from learnkit.core.token_count import estimate_tokens
from learnkit.views import Compaction, Tokens
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import NARROW, WIDE, Canvas
from learnkit.views.drawing.plot import short
from learnkit.views.tokens import HEIGHT


@lk.tool
def read(day: int) -> str:
    """Read a day."""
    return f"day {day}: " + "31 degrees. " * 100


def ran(
    folder: Path, compaction: lk.Compaction | None, days: int = 14, thinking: bool = True
) -> Any:
    count = iter(range(1, days + 1))

    def answer(request: dict[str, Any]) -> Any:
        if "tools" not in request:
            return lk.say("We decided on °C.")
        day = next(count, None)
        if day is None:
            return lk.say("done")
        return lk.reply(lk.use("read", day=day), thinking="on" if thinking else None)

    mechanisms = [lk.Toolbox(read), *([compaction] if compaction else [])]
    agent = lk.Agent(lk.scripted(answer), mechanisms)
    agent.run("Read.")
    return agent


@pytest.fixture
def cleared(tmp_path: Path) -> Any:
    return ran(tmp_path, lk.Compaction(4_000, transcripts=tmp_path))


@pytest.fixture
def summarised(tmp_path: Path) -> Any:
    return ran(tmp_path, lk.Compaction(3_000, 99, tmp_path))


def columns(canvas: Canvas) -> list[tuple[float, float]]:
    """The height of each column that comes from the cache, and that is new; from left to right."""
    new = [one for one in canvas.shapes if one.key.startswith("new ")]
    assert [one.x for one in new] == sorted(one.x for one in new)
    cached = {}
    if "cached" in canvas:
        for x, y in re.findall(r"M([\d.]+) (-[\d.]+)h", canvas["cached"].path):
            cached[float(x)] = -float(y)
    return [(cached.get(one.x, 0), one.height) for one in new]


def test_without_compaction_each_request_is_longer_than_the_one_before(tmp_path: Path) -> None:
    view = Tokens(ran(tmp_path, None).events)
    heights = [round(sum(both)) for both in columns(drawn(view))]
    assert heights == sorted(heights)
    assert len(heights) == 15
    assert view.because(view.at()).startswith("Nothing was compacted.")


def test_what_was_before_a_rewriting_counts_no_more_and_what_it_cleared_stays_cleared() -> None:
    log = lk.EventLog()
    texts = ["long " * 99] * 3
    for number in range(4):
        messages = [{"role": "user", "content": text} for text in texts]
        log.append("messages.rewritten", messages=messages, why="a test")
        texts[number % 3] = "short"
    state = Compaction(log).at()
    assert [one.fate for one in state.before] == ["earlier", "earlier", "cleared"]
    log = lk.EventLog()
    log.append("tokens.estimated", tokens=9_000, threshold=10_000)
    log.append("messages.rewritten", messages=messages, why="a test")
    for lane in ("lead.1", "lead"):  # the lead's alone are drawn
        log.append("model.replied", lane=lane, turn=1, stop_reason="end_turn", usage={})
    (request,) = Tokens(log).at().requests
    assert request.tokens == estimate_tokens(messages)


def test_a_length_is_an_estimate_until_the_api_has_counted() -> None:
    log = lk.EventLog()
    system, tools = "Be brief. " * 30, [{"name": "read", "description": "Read a day. " * 20}]
    message = {"role": "user", "content": "Read."}
    log.append("run.started", prompt="Read.", system=system, tools=tools, model="m")
    log.append("message.added", index=0, message=message)
    log.append("model.replied", turn=1, usage={})
    parts = [estimate_tokens(one) for one in (system, tools, message)]
    (one,) = Tokens(log).at().requests
    assert (one.tokens, one.counted) == (sum(parts), False)
    log.append("model.replied", turn=9, usage={"input_tokens": 5}, purpose="summary")
    log.append("model.replied", turn=2, usage={"input_tokens": 5, "cache_read_input_tokens": 95})
    _, two = Tokens(log).at().requests
    assert (two.tokens, two.cached, two.counted) == (100, 95, True)


def test_the_request_for_a_summary_is_no_request_of_the_conversation(summarised: Any) -> None:
    view = Tokens(summarised.events)
    state = view.at()
    assert len(state.requests) == summarised.turns
    assert [one.layer for one in state.shortened] == ["summarised"]
    saved = state.shortened[0].before - state.shortened[0].after
    longest = max(one.tokens for one in state.requests)
    assert longest <= 3_000 < state.shortened[0].before
    canvas, place = drawn(view), state.shortened[0].place
    cut, first = canvas["cut 0"], canvas[f"new {place}"]
    assert cut.y < first.y
    assert first.x < cut.x < first.x + first.width, "the arrow ends at the request that it made"
    assert cut.y + float(re.findall(r"V([\d.]+)", cut.path)[0]) == pytest.approx(first.y, abs=4)
    ghost, limit = canvas["before"], canvas["threshold"].y
    assert ghost.y + float(re.findall(r"v(-[\d.]+)", ghost.path)[0]) < limit < first.y
    assert abs(canvas["cut 0 is 0"].x - cut.x) < 30, "its label stands at it"
    assert view.finding(state) == "The messages passed 3,000 tokens once, and were compacted."
    assert view.because(state).startswith(
        f"1 compaction removes ≈{short(saved)} tokens. "
        f"The longest of {summarised.turns} requests has ≈{short(longest)} tokens."
    )


@pytest.mark.slow
def test_each_of_sixty_turns_is_a_step_and_has_a_column(tmp_path: Path) -> None:
    agent = lk.Agent(
        lk.scripted([*[lk.use("read", day=n) for n in range(61)], lk.say("x")]),
        [lk.Toolbox(read), lk.Compaction(6_000, transcripts=tmp_path)],
        max_turns=80,
    )
    agent.run("Read.")
    view = Tokens(agent.events)
    assert stops(view) >= 62
    assert len(columns(drawn(view))) == len(view.at().requests) == 62
    html = view.html()
    assert len(html.encode()) < 20_000
    (data,) = re.findall(r'base64,([^"]+)"', html)
    assert base64.b64decode(data).count(b'class="bar k-fresh"') == 62 + 1  # and the legend


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_of_many_requests_a_column_is_the_longest_of_some(width: float) -> None:
    log = lk.EventLog()
    for number in range(1_000):
        log.append("model.replied", turn=number, usage={"input_tokens": 100 + number % 7})
    log.append("run.ended", reason="end_turn", turns=1_000)
    canvas = drawn(Tokens(log), width=width)
    assert 60 < len(columns(canvas)) < 250
    assert "a column is the longest of" in canvas["group"].lines[0]
    assert max(one.x + one.width for one in canvas.shapes) <= width
    assert len(Tokens(log).html().encode()) < 20_000


def length(canvas: Canvas, begins: str) -> float:
    """The length of all bars whose keys begin so."""
    return sum(one.width + 1 for one in canvas.shapes if one.key.startswith(begins))


def rewritten(agent: Any) -> int:
    return 1 + next(i for i, e in enumerate(agent.events) if e.type == "messages.rewritten")


def test_what_was_cleared_is_dashed_and_what_stays_is_filled(cleared: Any) -> None:
    view = Compaction(cleared.events)
    state = view.at(rewritten(cleared))
    canvas = view.draw(state, WIDE, 60)
    fates = [one.fate for one in state.before]
    assert fates[0] == "kept"
    assert "shorter" in fates
    place = fates.index("cleared")
    gone, stays = canvas[f"was {place}"], canvas[f"is {place}"]
    assert (gone.style, gone.mark, stays.mark) == ("d", "", "result")
    assert (gone.x, gone.y) == (stays.x, stays.y)
    assert gone.width / stays.width == pytest.approx(
        state.before[place].tokens / state.after[place].tokens, rel=0.05
    )
    for width in (WIDE, NARROW):
        bars = view.draw(state, width, 60).shapes
        for name, half in (("before", state.before), ("after", state.after)):
            kinds = {one.mark for one in bars if one.key.startswith(f"half {name} ") and one.mark}
            assert kinds == {*([theme.SYSTEM.key] * bool(state.head)), *(one.key for one in half)}
    assert canvas[f"what {place}"].lines[0].startswith("⊘ cleared: ")
    assert "was 0" not in canvas
    assert "is 0" in canvas


def test_what_became_a_summary_is_gone_and_the_summary_stands_after_it(summarised: Any) -> None:
    view = Compaction(summarised.events)
    state = view.at(rewritten(summarised))
    assert [one.fate for one in state.after] == ["summary", "carried", "kept", "kept"]
    assert {one.fate for one in state.before[1:-2]} == {"summarised"}
    canvas = view.draw(state, WIDE, 60)
    last = len(state.before) - 3
    assert "is 1" not in canvas
    assert canvas["what made 0"].lines[0].startswith("Σ summary: ")
    assert canvas[f"what {last}"].y < canvas["what made 0"].y < canvas[f"what {last + 1}"].y
    assert f"{last} of {last + 3} messages become a summary" in view.because(state)
    shown = [one for key in state.rows for one in canvas[f"what {key[0]}"].lines]
    assert not [line for line in shown if re.search("[<{]", line)], "no tag, and no JSON"
    halves = [length(canvas, f"half {name} ") for name in ("before", "after")]
    assert halves[1] + canvas["gone"].width == pytest.approx(halves[0], rel=0.05)
    both = [state.head + sum(one.tokens for one in half) for half in (state.before, state.after)]
    assert halves[0] / halves[1] == pytest.approx(both[0] / both[1], rel=0.05)


@pytest.mark.parametrize("days", [14, 28])  # one summary, and summaries of a summary
def test_the_request_that_code_puts_back_is_drawn_as_kept(tmp_path: Path, days: int) -> None:
    agent = ran(tmp_path, lk.Compaction(3_000, 99, tmp_path), days=days)
    times = [event.type for event in agent.events].count("messages.rewritten")
    assert (times > 1) == (days > 14)
    view = Compaction(agent.events)
    state, canvas = view.at(), drawn(view)
    place = [one.fate for one in state.before].index("carried")
    assert canvas[f"what {place}"].lines == ("= put back: Read.",)
    assert f"was {place}" not in canvas
    assert canvas[f"is {place}"].mark == "user"
    assert [key for key, *_ in state.rows if "made" in key] == ["made 0"]  # the summary alone
    assert "the request is put back word for word" in view.because(state)
    (*_, last) = (event.data for event in agent.events if event.type == "messages.rewritten")
    put_back = sum(one.tokens for one in state.after[:2])
    assert put_back == estimate_tokens(last["messages"][0])  # no token is counted twice, or lost


@pytest.mark.parametrize(("put_back", "fate"), [(True, "carried"), (False, "summarised")])
def test_only_a_request_that_is_put_back_is_drawn_as_kept(put_back: bool, fate: str) -> None:
    log, asked = lk.EventLog(), "Write. " * 40
    for number, text in enumerate(("Read.", asked, asked)):  # said twice: the last one is meant
        log.append("message.added", index=number, message={"role": "user", "content": text})
    said = ["<summary>\nDone.\n</summary>", *[f"<request>\n{asked}\n</request>"] * put_back]
    blocks = [{"type": "text", "text": text} for text in said]
    log.append("messages.rewritten", messages=[{"role": "user", "content": blocks}], why="")
    view = Compaction(log)
    assert [one.fate for one in view.at().before] == ["summarised", "summarised", fate]
    assert ("is put back word for word" in view.because(view.at())) == put_back


def test_before_a_clearing_and_a_summary_stands_what_was_there_before_both() -> None:
    log = lk.EventLog()
    log.append("model.replied", turn=1, usage={"input_tokens": 9_000})
    log.append("compaction.cleared", before=9_000, after=6_000, results=3)
    log.append("compaction.summarised", before=6_000, after=1_000)
    view = Tokens(log)
    path = drawn(view)["before"].path
    assert f"v-{HEIGHT * 9_000 / view.at().scale:.1f}" in path

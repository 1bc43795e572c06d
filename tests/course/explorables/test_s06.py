"""Lesson 6's explorable: the saw-tooth and the bill are what a real run of Compaction has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.lessons.s06 import explorable
from learnkit.course.lessons.s06.daily_logs import write_logs
from learnkit.mechanisms.compaction import plan
from learnkit.views.drawing.display import WIDE

ASKED = "Read the logs in logs/ one after the other, and tell me the highest value of all days."


@pytest.fixture(params=[0, 1_500, 4_000, 5_500, 6_000])
def least(request: pytest.FixtureRequest) -> int:
    """Every turn, in batches, the cheapest, one summary, and summaries only."""
    number: int = request.param
    return number


def real(least: int, folder: Path) -> lk.EventLog:
    """The same session, run by the package; a summary has 1,600 characters."""
    write_logs(folder, explorable.FILES)
    reads = (
        lk.use("read_file", path=f"logs/day_{day:02}.txt") for day in range(1, explorable.FILES + 1)
    )

    def answer(request: dict[str, Any]) -> Any:
        if "<conversation>" in str(request["messages"][0]["content"]):
            return lk.say("s" * 1_600)
        return next(reads, None) or lk.say(
            "All the logs are read now. The highest value is 46.4 °C, in cairo."
        )

    compaction = lk.Compaction(explorable.THRESHOLD, explorable.KEEP, folder / ".transcripts")
    agent = lk.Agent(lk.scripted(answer), [lk.CodingTools(folder), compaction], max_turns=50)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "CLEAR_AT", 0)
        patch.setattr(plan, "CLEAR_LEAST", least / explorable.THRESHOLD)
        agent.run(ASKED)
    return agent.events


def test_every_request_is_as_long_and_as_cached_as_in_a_real_run(
    least: int, tmp_path: Path
) -> None:
    events = real(least, tmp_path)
    replies = [event.data for event in events if event.type == "model.replied"]
    ledger = [
        (
            data["usage"]["cache_read_input_tokens"],
            data["usage"]["cache_creation_input_tokens"] + data["usage"]["input_tokens"],
            data["usage"]["output_tokens"],
        )
        for data in replies
    ]
    session = explorable.session(least)
    assert len(session) == len(ledger)
    for one, (cached, new, written) in zip(session, ledger, strict=True):
        assert one.cached == cached
        if one.before == "summarised":  # its text is estimated
            assert (one.new, one.written) == (pytest.approx(new, rel=0.005), written)
        else:
            assert (one.new, one.written) == (new, written)
    kinds = [event.type.removeprefix("compaction.") for event in events]
    for kind in ("cleared", "summarised"):
        assert [one.before for one in session].count(kind) == kinds.count(kind)


def test_the_finding_names_both_costs_and_the_end_is_not_the_best() -> None:
    said = {least: explorable.draw(WIDE, least) for least in explorable.LEAST}
    best = explorable.cheapest()
    assert explorable.LEAST[0] < best < explorable.LEAST[-1]
    assert said[0].finding == "Clearing every turn costs $24.58 for a hundred sessions."
    assert said[0].because.startswith("Each of 33 clearings changes an early message")
    assert said[best].because == (
        "Only 2 clearings break the cache, and the conversation never needs a summary. "
        "The cheapest choice, 4,000, costs $13.76; clearing every turn, $24.58."
    )
    assert said[best].finding == (
        "Clearing at least 4,000 tokens at a time is the cheapest choice: $13.76."
    )
    assert said[6_000].finding == (
        "Clearing never frees 6,000 tokens here. Summaries alone cost $20.20."
    )
    for least, answer in said.items():
        assert f"${sum(explorable.bill(least)):.2f}" in answer.finding

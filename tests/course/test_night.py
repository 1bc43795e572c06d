"""The capstone: each hour is decided by what its lesson built, and read from what is left."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from learnkit.course.games.night import card
from learnkit.course.games.night.fault import PARTS, Fault, Harness, Outcome
from learnkit.course.games.night.night import (
    BUDGET,
    CONVERSATION,
    FAULTS,
    REQUESTS,
    Night,
    play,
    standing_costs,
)
from learnkit.course.games.night.panel import NightPanel

#: The part that each hour was made for; the loop itself for the first.
DECIDES = dict(zip([fault.hour for fault in FAULTS], [None, *PARTS], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.lesson)
def test_an_hour_is_decided_by_the_part_of_its_lesson(fault: Fault, tmp_path: Path) -> None:
    part = DECIDES[fault.hour]
    assert part is None or part in fault.parts
    threads = threading.active_count()
    (tmp_path / "with").mkdir()
    with_it = fault.play(Harness(frozenset(fault.parts)), tmp_path / "with")
    assert with_it.survived, with_it.why
    if part is not None:
        (tmp_path / "without").mkdir()
        rest = frozenset(fault.parts) - {part}
        rest -= {"protocols", "autonomy"} if part == "team" else set()
        without = fault.play(Harness(rest), tmp_path / "without")
        assert not without.survived, without.why
        assert without.why != with_it.why
        assert without.requests > 0 < without.tokens
    assert threading.active_count() == threads


@pytest.mark.slow
def test_the_bare_loop_survives_one_hour_and_everything_survives_all() -> None:
    bare, all = play(()), play(PARTS)
    assert [one.survived for one in bare.outcomes] == [True, *[False] * 11]
    assert all.survived == 12
    assert bare.tokens < BUDGET < all.tokens
    assert bare.headline == "1 of 12 hours survived, within the budget"
    assert all.headline == "12 of 12 hours survived, but over the budget"
    for night, parts in ((bare, ()), (all, PARTS)):  # the page forecasts on which side each ends
        each = sum(standing_costs()[part] for part in parts)
        least, most = (many * (each + CONVERSATION) for many in REQUESTS)
        assert least < night.tokens < most
        assert (least > BUDGET) == (most > BUDGET) == (night.tokens > BUDGET)


@pytest.mark.slow
def test_a_part_costs_its_prompt_and_tools_in_every_request(tmp_path: Path) -> None:
    costs = standing_costs()
    assert set(costs) == set(PARTS)
    assert min(costs.values()) > 0
    both, *each = (play(parts).outcomes for parts in (["tools", "todo"], ["tools"], ["todo"]))
    for fault, here, tools, todo in zip(FAULTS, both, *each, strict=True):
        # An hour that has no use for a part pays for it in each request all the same.
        idle, rest = ("tools", todo) if "todo" in fault.parts else ("todo", tools)
        assert here.tokens - rest.tokens == costs[idle] * here.requests > 0
        if fault.parts == ("todo",):  # where it is used, its requests have it already
            assert fault.play(Harness(frozenset({"todo"})), tmp_path).tokens == todo.tokens


def test_what_a_class_says_is_escaped() -> None:
    outcome = Outcome(False, "<script>alert(1)</script>", 1, 1)
    night = Night((outcome,) * 12)
    shown = card.night_card(night).html
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


class Panel(NightPanel):
    """A panel that keeps what it sends to the page."""

    def send(self, content: Any, buffers: Any = None) -> None:
        self.sent = [*getattr(self, "sent", []), content]


@pytest.mark.slow
def test_the_panel_plays_what_the_page_asks_for() -> None:
    panel = Panel()
    for asked in ({"play": ["tools"]}, {"play": "all"}, "play"):
        panel._heard(panel, asked, [])
    *hours, last = panel.sent
    assert [one["passed"]["survived"] for one in hours] == [True, True, *[False] * 10]
    assert [one["passed"]["lesson"] for one in hours] == [*range(1, 13)]
    assert last["over"]["head"] == "2 of 12 hours survived, within the budget"


def test_the_panel_says_that_an_hour_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise FileNotFoundError("there is no git")

    monkeypatch.setattr("learnkit.course.games.night.panel.play", fail)
    panel = Panel()
    panel.play(["tools"])
    assert panel.sent[-1]["over"]["head"].endswith("raised FileNotFoundError: there is no git")


@pytest.mark.slow
def test_the_choice_that_the_lesson_knows_survives_nine_within_the_budget() -> None:
    night = play(set(PARTS) - {"team", "protocols", "autonomy"})
    assert night.survived == 9
    assert night.tokens <= BUDGET

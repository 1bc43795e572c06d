"""The capstone: each hour is decided by what its lesson built, and read from what is left."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.games.night import card
from learnkit.course.games.night.fault import NEEDS, PARTS, Fault, Harness, Outcome
from learnkit.course.games.night.night import BUDGET, FAULTS, Night, play, standing_costs
from learnkit.course.games.night.panel import NightPanel
from learnkit.errors import UsageError

#: The part that each hour was made for; the loop itself for the first.
DECIDES = dict(zip([fault.hour for fault in FAULTS], [None, *PARTS], strict=True))


class MyTodo(lk.Todo):
    """A learner's list."""


class Broken(lk.Todo):
    """A learner's list that fails."""

    def after_tools(self, agent: Any, calls: Any) -> str | None:
        raise ZeroDivisionError("division by zero")


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
    assert "1 of 12 faults survived with 0 parts" in bare.finding
    assert "over the budget" in all.finding


@pytest.mark.slow
def test_a_part_costs_its_prompt_and_tools_in_every_request() -> None:
    costs = standing_costs()
    assert set(costs) == set(PARTS)
    assert min(costs.values()) > 0
    without, having = play(["tools"]), play(["tools", "todo"])
    idle = [fault for fault in FAULTS if "todo" not in fault.parts]
    requests = [one.requests for f, one in zip(FAULTS, having.outcomes, strict=True) if f in idle]
    (detour,) = [place for place, fault in enumerate(FAULTS) if "todo" in fault.parts]
    other = having.outcomes[detour].tokens - without.outcomes[detour].tokens
    more = having.outcomes[detour].requests - without.outcomes[detour].requests
    expected = costs["todo"] * sum(requests) + other + more * costs["tools"]
    assert having.tokens - without.tokens == expected


@pytest.mark.slow
def test_a_class_of_the_learners_takes_the_place_of_ours() -> None:
    night = play(["todo"], {"todo": MyTodo})
    assert night.survived == 2
    assert night.lines == 2


@pytest.mark.parametrize(
    ("parts", "said"),
    [(["todos"], "there is no part 'todos'"), (["autonomy", "team"], "autonomy needs tasks")],
)
def test_a_harness_that_cannot_be_is_refused(parts: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        play(parts)


def test_what_a_class_says_is_escaped() -> None:
    outcome = Outcome(False, "<script>alert(1)</script>", 1, 1)
    night = Night(Harness(frozenset()), (outcome,) * 12, 12, 0)
    html = card.night_card(night).html
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_night_says_what_the_rest_of_its_budget_would_have_paid_for() -> None:
    costs, outcomes = standing_costs(), (Outcome(True, "", 10, 0),) * 12

    def unused(left: int, *parts: str) -> str:
        return Night(Harness(frozenset(parts)), outcomes, BUDGET - left, 0).unused

    cheap, dear = sorted(set(costs) - set(NEEDS), key=costs.__getitem__)[:2]
    assert unused(120 * costs[cheap] - 1) == ""
    assert unused(-1) == ""
    said = unused(120 * costs[cheap])
    assert said.endswith(
        f"{120 * costs[cheap]:,} tokens left over would have paid for one more of these: {cheap}."
    )
    assert unused(120 * costs[dear] - 1, cheap) == ""
    # What needs another part is offered only beside it.
    assert "protocols" not in unused(BUDGET)
    assert "protocols" in unused(BUDGET, "team")


@pytest.mark.slow
def test_the_panel_plays_what_is_ticked() -> None:
    nights: list[Night] = []
    panel = NightPanel({}, nights.append)
    rules = panel.box.children[0].value
    assert all(fault.title in rules for fault in FAULTS)
    panel.boxes["protocols"].value = True
    assert panel.start.disabled  # it needs a team
    assert "start yet: protocols needs team." in panel._sum.value
    panel.boxes["protocols"].value = False
    panel.boxes["tools"].value = True
    panel.start.click()
    assert [night.survived for night in nights] == [2]
    assert "2 of 12 faults survived" in panel._shown.value


@pytest.mark.slow
def test_an_error_in_a_class_of_the_learners_is_said_and_the_panel_goes_on() -> None:
    nights: list[Night] = []
    panel = NightPanel({"todo": Broken}, nights.append)
    panel.boxes["todo"].value = True
    panel.start.click()
    assert "At 00:00 the harness raised ZeroDivisionError: division by zero" in panel._shown.value
    assert not nights
    assert not panel.start.disabled
    panel.boxes["todo"].value = False
    panel.start.click()
    assert [night.survived for night in nights] == [1]


@pytest.mark.slow
def test_the_lab_shows_the_rules_and_plays_with_given_parts(tmp_path: Path) -> None:
    lab = lk.lesson("s12")
    try:
        rules = lab.night()
        assert card.HONEST.split(".")[0] in rules.html
        assert all(fault.title in rules.html for fault in FAULTS)
        assert lab.night([]).text.startswith("1 of 12 faults survived")
    finally:
        lab.close()


@pytest.mark.slow
def test_the_choice_that_the_lesson_knows_survives_nine_within_the_budget() -> None:
    night = play(set(PARTS) - {"team", "protocols", "autonomy"})
    assert night.survived == 9
    assert night.tokens <= BUDGET

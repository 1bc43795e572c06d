"""The lessons' trials: effects that follow from lengths, the same every time."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import pytest

from learnkit.course.trials import DAYS, FEATURE, STATIONS, Trial, drift, overflow, pollution

SEEDS = range(30)


def mean(trials: list[Trial], name: str) -> float:
    return statistics.fmean(getattr(trial, name) for trial in trials)


def test_a_list_prevents_forgetting_and_costs_tokens() -> None:
    off, on = drift(SEEDS)
    assert mean(on, "completed") > mean(off, "completed") + 0.2
    assert mean(on, "forgotten") < mean(off, "forgotten") / 3
    assert mean(on, "tokens") > mean(off, "tokens")


def test_a_list_gains_nothing_when_the_work_is_short() -> None:
    off, on = drift(SEEDS, output=800)
    assert mean(off, "completed") == mean(on, "completed") == 1
    assert mean(on, "turns") > mean(off, "turns")


@pytest.mark.slow
def test_subagents_keep_findings_apart() -> None:
    off, on = pollution(SEEDS)
    assert mean(off, "forgotten") > 1
    assert mean(off, "mixed_up") > 0
    assert all(trial.completed for trial in on)
    assert mean(on, "longest") < mean(off, "longest") / 2


@pytest.mark.slow
def test_with_compaction_long_work_is_finished() -> None:
    off, on = overflow(range(12))
    assert not any(trial.completed for trial in off)
    assert all(trial.completed for trial in on)
    assert mean(off, "forgotten") > len(DAYS) / 3


def test_in_a_window_that_holds_everything_nothing_goes_wrong() -> None:
    for trials in (drift, pollution, overflow):
        off, _ = trials(range(3), window=100_000)
        assert all(trial.completed and not trial.repeated for trial in off)
    assert len(FEATURE) == 5


@pytest.mark.parametrize("trials", [drift, pollution, overflow])
def test_the_same_seeds_give_the_same_trials_and_leave_nothing_behind(
    trials: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # other tests have the common one
    assert callable(trials)
    off, on = trials(iter(range(4)))
    assert (off, on) == trials(range(4))
    assert all(one.tokens <= one.turns * one.longest for one in [*off, *on])
    if trials is pollution:  # each station's subagent asks twice, and three work at a time
        assert {one.turns for one in on} == {2 * len(STATIONS) + -(-len(STATIONS) // 3) + 1}
    assert list(tmp_path.iterdir()) == []


def test_the_length_of_a_temporary_path_counts_no_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = overflow(range(1))
    longer = tmp_path / ("long" * 20)
    longer.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(longer))
    assert overflow(range(1)) == here

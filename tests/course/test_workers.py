"""The simulated race of lesson 7 loses tasks only if nothing holds the lock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from learnkit.course.agent_file.source import Source
from learnkit.course.lessons.s07.board_race import tasks_lost

NO_LOCK = """
@contextmanager
def locked(name):
    (ROOT / name).mkdir(exist_ok=True)
    yield ROOT / name
"""


A_FOLDER_AS_LOCK = """
@contextmanager
def locked(name):
    (ROOT / name).mkdir(exist_ok=True)
    while True:
        try:
            (ROOT / name / "held").mkdir()
            break
        except FileExistsError:
            pass
    try:
        yield ROOT / name
    finally:
        (ROOT / name / "held").rmdir()
"""


@pytest.mark.slow
def test_the_simulated_race_loses_by_its_gap_unless_a_lock_is_held_during_it() -> None:
    agent = SimpleNamespace(__source__=Source.reference("s07"))  # its own lock is flock
    boards = {"no lock": NO_LOCK, "its own": "", "a folder": A_FOLDER_AS_LOCK}
    options = {"workers": 4, "each": 3, "think": 1}
    lost = [tasks_lost(agent, boards, 4, gap=gap, **options) for gap in (0, 0.1, 1)]
    assert lost[1] == tasks_lost(agent, boards, 4, gap=0.1, **options)
    assert all(one[lock] == [0] * 4 for one in lost for lock in ("its own", "a folder"))
    few, some, many = (one["no lock"] for one in lost)
    assert few == [0] * 4 < some < many
    assert len({*some, *many}) > 2  # each run has its own pauses
    agent.__source__ = agent.__source__.changed(NO_LOCK)  # as a learner has it who repairs nothing
    assert tasks_lost(agent, boards, 4, gap=1, **options)["its own"] == many

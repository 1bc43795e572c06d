"""Random teams: whatever they do, and whoever dies when, what was promised holds.

A few here; ``SOAK_SECONDS=600`` goes on with others for so long, from the seed ``SOAK_START`` on.
"""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import simulated
from simulated import simulate

import learnkit as lk
from learnkit.backends import tracker
from learnkit.backends.files.mailbox import Inbox
from learnkit.mechanisms.autonomy import Autonomy
from learnkit.mechanisms.teams.delivery import Delivery

pytestmark = pytest.mark.slow


START, SECONDS = (int(os.environ.get(f"SOAK_{one}", "0")) for one in ("START", "SECONDS"))
#: Has failed once.
FAILED = 1_008_999


@pytest.mark.parametrize(("few", "real"), [(10, False), (4, True)], ids=["virtual", "wall"])
def test_random_teams_keep_what_was_promised(few: int, real: bool) -> None:
    """On the wall clock threads decide who is first: another run of a seed may pass there."""
    end = time.monotonic() + SECONDS
    for number, seed in enumerate(itertools.chain([FAILED], itertools.count(START))):
        if number > few and time.monotonic() > end:
            break
        with tempfile.TemporaryDirectory() as folder:
            simulate(seed, Path(folder), real=real)


def test_a_thread_that_the_run_leaves_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    own = threading.Thread(target=over.wait, name="left over")
    monkeypatch.setattr(simulated, "_arm", lambda run, plan: own.start())
    with pytest.raises(AssertionError, match=r"a thread is left: .*left over"):
        simulate(7, tmp_path)
    over.set()
    own.join()


def test_the_same_seed_gives_the_same_log_to_the_byte(tmp_path: Path) -> None:
    logs = [str(list(simulate(5, tmp_path / str(n)).lead.events)) for n in range(3)]
    assert len(logs[0]) > 10_000
    assert len(set(logs)) == 1


# That the checks bite: with a fault of one line, a few seeds are enough.


def believe(self: Delivery) -> None:
    """Keep the transcript, but treat everything as safe."""
    self._unsafe = []
    keep(self)


keep = Delivery.keep


def forgets(self: Inbox) -> list[Any]:
    """Give what was taken before once more."""
    self._seen = set()
    return take(self)


take = Inbox.take


def anybody(requests: list[Any], id: str) -> Any:
    """Find a request, and say that it is pending, whatever it is."""
    return replace(find(requests, id), state="pending")


find = tracker._find


@pytest.mark.parametrize(
    ("target", "name", "fault", "says", "seeds"),
    [
        (Delivery, "keep", believe, "told 0 times", (13, 46, 48, 89)),
        (Inbox, "take", forgets, r"told \d times", range(3)),
        (tracker, "_find", anybody, "has no end, or two", range(3)),
        (Autonomy, "_give_back", lambda self, name, by: None, "still held|not done", range(10)),
    ],
)
def test_a_fault_is_found_and_its_seed_is_named(
    tmp_path: Path, monkeypatch: Any, target: Any, name: str, fault: Any, says: str, seeds: Any
) -> None:
    monkeypatch.setattr(target, name, fault)
    found = []
    for seed in seeds:
        try:
            simulate(seed, tmp_path / str(seed))
        except (AssertionError, lk.LearnkitError) as error:
            found.append(str(error))
            if re.search(says, found[-1]):
                (note,) = error.__notes__
                said, _, file = note.partition(", log: ")
                assert said == f"seed {seed}"
                assert any(event.type == "run.started" for event in lk.EventLog.load(file))
                return
    raise AssertionError(found)

"""How much is tried: a few examples of a property while you work, more in the gate, most at night.

``pytest --hypothesis-profile=gate`` is what the gate runs, and ``thorough`` what runs every night.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

#: Examples of a property by profile.
MOST = {"fast": 10, "gate": 50, "thorough": 100}

# No deadline and no complaint about slow data: neither says anything on a loaded machine. In CI
# the examples are the same every time; elsewhere, and at night, they vary, and find what CI cannot.
for _name, _examples in MOST.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize="CI" in os.environ and _name != "thorough",
        suppress_health_check=[HealthCheck.too_slow],
    )


def load(config: pytest.Config) -> None:
    """Load the profile that the command line names, or the fast one."""
    settings.load_profile(config.getoption("--hypothesis-profile") or "fast")


def examples(thorough: int) -> int:
    """The number of examples of a property that needs another number than most."""
    profile = settings.get_current_profile_name()
    return thorough if profile == "thorough" else min(thorough, MOST[profile])


def mostly_slow(rows: Iterable[Any], fast: int) -> list[Any]:
    """Rows of parameters: the first ``fast`` are for the fast tier, the others are slow."""
    return [
        row if place < fast else pytest.param(row, marks=pytest.mark.slow)
        for place, row in enumerate(rows)
    ]

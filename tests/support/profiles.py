"""How much is tried: a few examples of a property while you work, many in the gate.

``pytest --hypothesis-profile=thorough`` is what the gate runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

#: Examples of a property in the fast tier.
FEW = 20

# No deadline and no complaint about slow data: neither says anything on a loaded machine. In CI
# the examples are the same every time; elsewhere they vary, and find what CI cannot.
for _name, _examples in (("fast", FEW), ("thorough", 100)):
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize="CI" in os.environ,
        suppress_health_check=[HealthCheck.too_slow],
    )


def load(config: pytest.Config) -> None:
    """Load the profile that the command line names, or the fast one."""
    settings.load_profile(config.getoption("--hypothesis-profile") or "fast")


def examples(thorough: int) -> int:
    """The number of examples of a property that needs another number than most.

    Args:
        thorough: in the gate; in the fast tier it is at most ``FEW``.
    """
    return thorough if settings.get_current_profile_name() == "thorough" else min(thorough, FEW)


def mostly_slow(rows: Iterable[Any], fast: int) -> list[Any]:
    """Rows of parameters: the first ``fast`` are for the fast tier, the others are slow."""
    return [
        row if place < fast else pytest.param(row, marks=pytest.mark.slow)
        for place, row in enumerate(rows)
    ]

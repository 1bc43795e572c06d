"""The catalogue: its ids are the SDK's, and nobody else writes one."""

from __future__ import annotations

from typing import get_args

import anthropic.types
import pytest

from learnkit.core.catalog import (
    MODELS,
    THINKING_TYPES,
    ModelSpec,
)


def test_every_id_is_one_the_sdk_lists() -> None:
    literal, _ = get_args(anthropic.types.Model)
    assert set(MODELS) <= set(get_args(literal))
    assert all(id == spec.id for id, spec in MODELS.items())


@pytest.mark.parametrize("spec", MODELS.values(), ids=lambda spec: spec.id)
def test_the_facts_of_a_model_fit_together(spec: ModelSpec) -> None:
    assert 0 < spec.max_output < spec.window
    assert spec.accepts <= set(THINKING_TYPES)
    assert "adaptive" in spec.accepts
    assert spec.preserved_thinking or not spec.always_thinks

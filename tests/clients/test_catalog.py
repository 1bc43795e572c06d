"""The catalogue: its ids are the SDK's, and nobody else writes one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import anthropic.types
import pytest

import learnkit
from learnkit.core.catalog import (
    DEFAULT_MODEL,
    MODELS,
    THINKING_TYPES,
    ModelSpec,
    model_spec,
)
from learnkit.errors import UsageError


def test_every_id_is_one_the_sdk_lists() -> None:
    literal, _ = get_args(anthropic.types.Model)
    assert set(MODELS) <= set(get_args(literal))
    assert all(id == spec.id for id, spec in MODELS.items())


@pytest.mark.parametrize("spec", MODELS.values(), ids=lambda spec: spec.id)
def test_the_facts_of_a_model_fit_together(spec: ModelSpec) -> None:
    assert 0 < spec.max_output < spec.window
    assert spec.accepts <= set(THINKING_TYPES)
    assert ("adaptive" in spec.accepts) == (spec.thinking != "manual")
    assert ("disabled" in spec.accepts) == (spec.thinking != "always")
    assert not (spec.prefill and spec.system_messages)
    assert spec.preserved_thinking or spec.thinking != "always"


def test_the_catalogue_spans_the_generations() -> None:
    default = model_spec(DEFAULT_MODEL)
    assert default.thinking == "always"
    assert default.preserved_thinking
    kinds: dict[str, Any] = {spec.thinking: spec for spec in MODELS.values()}
    assert set(kinds) == {"always", "adaptive", "manual"}
    assert any(spec.prefill for spec in MODELS.values())


def test_an_unknown_id_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match=rf"'nonesuch'.*{DEFAULT_MODEL}"):
        model_spec("nonesuch")


def test_no_other_module_writes_a_model_id() -> None:
    root = Path(learnkit.__file__).parent
    id = re.compile(r"claude-[a-z]+-\d")
    writers = [p.name for p in root.rglob("*.py") if id.search(p.read_text(encoding="utf-8"))]
    assert writers == ["catalog.py"]

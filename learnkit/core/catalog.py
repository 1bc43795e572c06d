"""The models learnkit knows: the only place in the project where a model id is written.

The offline client needs a few facts about a model to answer as the API would: how much it may
write, how long a prompt may be, how it thinks. The ids are among those that SDK 2.11 lists; the SDK
states no limits, so the numbers come from the vendor's public model pages (October 2026). None of
them was measured here, and what the pages leave open is marked as an assumption.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from learnkit.errors import UsageError

#: Every value that ``thinking.type`` may have in a request.
THINKING_TYPES = ("adaptive", "enabled", "disabled", "between_tools")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What the contract has to know about one model.

    Attributes:
        id: the name used in requests.
        max_output: largest ``max_tokens``, in tokens.
        window: longest prompt, in tokens.
        thinking: ``always`` (on, whatever is asked), ``adaptive`` (the model decides; can be
            switched off) or ``manual`` (off unless a budget is given).
        accepts: the values of ``thinking.type`` that do not get a 400.
        prefill: a conversation may end with a half-written assistant message.
        system_messages: messages of role ``system`` may stand inside the conversation.
        preserved_thinking: a returned thinking block is bound to everything before it.
    """

    id: str
    max_output: int
    window: int
    thinking: Literal["always", "adaptive", "manual"]
    accepts: frozenset[str]
    prefill: bool
    system_messages: bool
    preserved_thinking: bool


def _always(id: str, *also: str) -> ModelSpec:
    """A model of the current line-up that thinks on every request."""
    accepts = frozenset({"adaptive", *also})
    return ModelSpec(id, 128_000, 1_000_000, "always", accepts, False, True, True)


def _adaptive(id: str, *also: str, system: bool, preserved: bool = False) -> ModelSpec:
    """A model, from 4.6 on, that decides by itself and can be told not to think."""
    accepts = frozenset({"adaptive", "disabled", *also})
    return ModelSpec(id, 128_000, 1_000_000, "adaptive", accepts, False, system, preserved)


def _manual(id: str) -> ModelSpec:
    """A model from before 4.6: prefill, and thinking only with a budget."""
    accepts = frozenset({"enabled", "disabled"})
    return ModelSpec(id, 64_000, 200_000, "manual", accepts, True, False, False)


#: Model id -> what is known about it.
MODELS: dict[str, ModelSpec] = {
    spec.id: spec
    for spec in (
        _always("claude-opus-5-5"),
        _always("claude-fable-5-1"),
        # It refuses "disabled"; "between_tools" is its nearest thing to off.
        _always("claude-sonnet-5-5", "between_tools"),
        _adaptive("claude-haiku-5-5", system=True, preserved=True),
        # Assumption: it takes system messages, as the Opus models before and after it do.
        _adaptive("claude-opus-5", system=True),
        # Assumption: it does not take them; only third parties say so.
        _adaptive("claude-sonnet-5", system=False),
        _adaptive("claude-opus-4-8", system=True),
        # A budget is deprecated here (the SDK warns) but still accepted.
        _adaptive("claude-opus-4-6", "enabled", system=False),
        _manual("claude-haiku-4-5"),
        _manual("claude-opus-4-5"),
    )
}

#: What an agent uses by default.
DEFAULT_MODEL = "claude-opus-5-5"


def model_spec(id: str) -> ModelSpec:
    """Look a model up.

    Args:
        id: the model's id, as in a request.

    Raises:
        UsageError: if the id is not in the catalogue; the message lists those that are.
    """
    try:
        return MODELS[id]
    except KeyError:
        known = ", ".join(MODELS)
        raise UsageError(
            f"no model {id!r} in learnkit's catalogue: use one of {known}, "
            "or add it to learnkit/core/catalog.py"
        ) from None

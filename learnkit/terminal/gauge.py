"""What stands above the input when nothing goes on: model, mode, place, context and cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from learnkit.events.text import columns, count, one_line

if TYPE_CHECKING:
    from learnkit.core.agent import Agent


def gauge(agent: Agent, workspace: Path) -> tuple[str, list[str]]:
    """The place of an agent; and how full its context is, what it has cost, and its turns."""
    from learnkit.core.usage import Usage

    used = Usage.of(agent.events)
    cost = f"${used.cost:,.2f}" if used.cost is not None and used.requests else ""
    return _place(workspace), [*filter(None, (_context(agent), cost, count(used.requests, "turn")))]


def _context(agent: Agent) -> str:
    """What the next request will have: of the model's window, if that is known."""
    from learnkit.core.catalog import MODELS
    from learnkit.core.token_count import estimate_tokens, sent

    own = [event for event in agent.events if event.lane == agent.name]
    known = [event for event in own if event.type in ("messages.rewritten", "model.replied")]
    usage = known[-1].data.get("usage", {}) if known else {}  # a rewritten one has none
    tokens = sent(usage) + int(usage.get("output_tokens") or 0)
    about = "≈" if usage.get("simulated") or not tokens else ""
    if not tokens:
        tokens = sum(map(estimate_tokens, (agent.system, agent.specs, agent.messages)))
    model = MODELS.get(agent.model)
    return f"{about}{100 * tokens / model.window:.0f} %" if model else f"{about}{tokens:,} tokens"


def _place(workspace: Path) -> str:
    """The folder's name, and the branch that is checked out there."""
    folder = workspace.resolve()
    for one in (folder, *folder.parents):
        git = one / ".git"
        try:
            if git.is_file():  # a worktree's
                git = one / git.read_text().removeprefix("gitdir:").strip()
            head = (git / "HEAD").read_text().strip()
        except (OSError, ValueError):
            continue
        branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
        return f"{folder.name} ({one_line(branch, 30)})"
    return folder.name or str(folder)


def fitted(first: list[str], place: str, rest: list[str], width: int) -> list[str]:
    """All of it on one line, or on two of which the second has what changes."""
    whole = " · ".join([*first, place, *rest])
    if columns(whole) <= width:
        return [whole]
    room = width - columns(" · ".join(["", *rest]))
    return [" · ".join(first), " · ".join([one_line(place, max(8, room)), *rest])]

"""What the agent has in lesson 2's game; prompt and script are in ``questions.yaml``."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Return bash and the tools for files.

    Args:
        workspace: the folder of the game.
    """
    return [lk.CodingTools(workspace)]

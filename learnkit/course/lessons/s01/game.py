"""What the agent has in lesson 1's game; prompt and script are in ``questions.yaml``."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Return the one tool of this lesson: bash in the workspace.

    Args:
        workspace: the folder of the game.
    """
    return [lk.Toolbox(lk.CodingTools(workspace).bash)]

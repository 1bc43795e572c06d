"""What the agent has in lesson 3's game; prompt and script are in ``questions.yaml``."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Return bash, files and the list; twice the script lets two rounds pass, so a reminder comes.

    Args:
        workspace: the folder of the game.
    """
    return [lk.CodingTools(workspace), lk.Todo(remind_after=2)]

"""What the agent has in lesson 8's game; prompt and script are in ``questions.yaml``."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Return the tools for files and commands, and jobs that end after a minute."""
    return [lk.CodingTools(workspace), lk.Background(workspace=workspace, limit=60)]

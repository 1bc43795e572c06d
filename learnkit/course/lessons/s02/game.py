"""What the agent has in lesson 2's game; prompt and script are in ``questions.yaml``."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Bash and the tools for files."""
    return [lk.CodingTools(workspace)]

"""What the agent has in lesson 6's game; prompt and script are in ``questions.yaml``."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk
from learnkit.course.lessons.s06.daily_logs import write_logs


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Write four logs, and return tools with a threshold that is passed after the third read.

    Args:
        workspace: the folder of the game.
    """
    write_logs(workspace, days=4)
    transcripts = workspace / ".transcripts"
    return [lk.CodingTools(workspace), lk.Compaction(1_700, keep=60, transcripts=transcripts)]

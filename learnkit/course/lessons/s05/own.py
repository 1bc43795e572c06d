"""The runs of lesson 5 that a model made, as they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from learnkit.clients.recordings.recording import Recording
from learnkit.course import files as course_files


def own_runs() -> dict[str, Sequence[Mapping[str, Any]]]:
    """The messages of each run, in their order."""
    recording = Recording.load(course_files.recordings() / "model" / "s05.yaml")
    return {name: recording.messages(name) for name in recording.scenarios}

"""The runs that a model made of lesson 2's task."""

from __future__ import annotations

from typing import Any

from learnkit.clients.recordings.recording import Recording
from learnkit.course import files as course_files


def own_runs() -> dict[str, list[dict[str, Any]]]:
    """The messages of each run that a model made, in their order."""
    recording = Recording.load(course_files.recordings() / "model" / "s02.yaml")
    return {name: recording.messages(name) for name in recording.scenarios}

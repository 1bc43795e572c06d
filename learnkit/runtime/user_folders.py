"""Where a user keeps what is their own: settings that they write, and state that we write."""

from __future__ import annotations

import os
from pathlib import Path


def config_folder() -> Path:
    """The user's settings, instructions, agents and commands."""
    return _folder("XDG_CONFIG_HOME", ".config")


def state_folder() -> Path:
    """What is kept between sessions, outside of any workspace."""
    return _folder("XDG_STATE_HOME", ".local/state")


def _folder(variable: str, default: str) -> Path:
    given = os.environ.get(variable, "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / default) / "learnkit"

"""The environment of a command: what an allow-list passes on, and fixed settings; never a key."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_PASSED = ("PATH", "HOME", "TERM", "TMPDIR", "USER")
_FIXED = {
    "LC_ALL": "C.UTF-8",  # decides over LANG and every other LC_ name
    "PYTHONDONTWRITEBYTECODE": "1",
    # One author, one date, one branch name and no configuration of the user's: hashes repeat.
    "GIT_AUTHOR_NAME": "learnkit",
    "GIT_AUTHOR_EMAIL": "learnkit@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00+00:00",
    "GIT_COMMITTER_NAME": "learnkit",
    "GIT_COMMITTER_EMAIL": "learnkit@example.org",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00+00:00",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "init.defaultBranch",
    "GIT_CONFIG_VALUE_0": "main",
}


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The variables that a command gets.

    Args:
        extra: more variables, or other values.
    """
    env = {name: os.environ[name] for name in _PASSED if name in os.environ} | _FIXED
    python = str(Path(sys.executable).parent)  # `python` is the one that runs the notebook
    env["PATH"] = os.pathsep.join((python, env.get("PATH", os.defpath)))
    return env | dict(extra)

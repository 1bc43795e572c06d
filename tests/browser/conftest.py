"""Where the browser tests put their pictures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that LEARNKIT_SHOTS names, or a throw-away one."""
    asked = os.environ.get("LEARNKIT_SHOTS")
    folder = Path(asked) if asked else tmp_path_factory.mktemp("shots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder

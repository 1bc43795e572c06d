"""The address of the project's repository, as ``Repository`` in ``pyproject.toml`` states it."""

from __future__ import annotations

from importlib import metadata


def address() -> str:
    """Return the repository's address, which Binder's links are made from, too."""
    lines = metadata.metadata("learnkit").get_all("Project-URL") or []
    found: dict[str, str] = dict(line.split(", ") for line in lines)
    return found["Repository"]

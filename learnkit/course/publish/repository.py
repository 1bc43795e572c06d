"""The address of the project's repository, as ``Repository`` in ``pyproject.toml`` states it."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.errors import UsageError

#: The form of an address; Binder needs the owner and the name.
_ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")


def address(checkout: Path | None = None) -> str:
    """Return the repository's address, from ``pyproject.toml`` or the installed metadata."""
    if found := checkout or course_files.checkout():
        declared = found / "pyproject.toml"
        urls = tomllib.loads(declared.read_text("utf-8"))["project"]["urls"]
        return _checked(urls.get("Repository", ""), declared.name)
    listed = metadata.metadata("learnkit").get_all("Project-URL") or []
    pairs = (line.partition(", ") for line in listed)
    urls = {label: url for label, _, url in pairs}
    return _checked(urls.get("Repository", ""), "the package's metadata")


def _checked(found: str, where: str) -> str:
    if not _ADDRESS.fullmatch(found):
        raise UsageError(
            f"{where}: the URL called Repository is {found!r}; "
            "it must be https://github.com/OWNER/NAME, because Binder's links are made from it"
        )
    return found

"""What the tests of the repository itself read: its files, its requirements, its lessons."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[Path]:
    """The files that git has or would take: not those that .gitignore leaves out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def pyproject() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def requirements(*extras: str) -> list[Requirement]:
    """The dependencies of learnkit with these extras, those that name learnkit itself left out."""
    project = pyproject()["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    parsed = [Requirement(line) for line in lines]
    return [requirement for requirement in parsed if requirement.name != project["name"]]


def pins() -> dict[str, str]:
    """Package -> version, from constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def lessons() -> list[Path]:
    """The lessons' notebooks, in order."""
    return sorted((ROOT / "notebooks").glob("s[0-9][0-9]_*.ipynb"))

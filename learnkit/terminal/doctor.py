"""What works on this machine: the checks behind ``learnkit doctor``."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from urllib.parse import urlsplit

from learnkit.course import files as course_files
from learnkit.errors import UsageError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked.

    Attributes:
        what: its name.
        works: whether it can be used.
        found: its version or state; never a secret.
        purpose: what it is for, and what to do if it is missing; empty if that is nothing.
        needed: whether learnkit needs it for everything.
    """

    what: str
    works: bool
    found: str
    purpose: str = ""
    needed: bool = False


def examine() -> list[Finding]:
    """Check everything that learnkit can use."""
    from learnkit.clients.connect import model_setting

    version = ".".join(map(str, sys.version_info[:3]))
    key = "set" if os.environ.get("ANTHROPIC_API_KEY") else "not set"
    chosen = "LEARNKIT_MODEL" if os.environ.get("LEARNKIT_MODEL") else "the default"
    return [
        Finding("Python", True, version, "runs everything; 3.11 or newer", needed=True),
        *(_git(), _course(), _copies(), _jupyterlab(), _sandbox()),
        Finding("ANTHROPIC_API_KEY", key == "set", key, "only for mode live; lessons need none"),
        _server(),
        Finding("model", True, f"{model_setting()} ({chosen})", "mode live and record"),
    ]


def _git() -> Finding:
    path = shutil.which("git")
    found = "not found"
    if path:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        found = done.stdout.strip().removeprefix("git version ") or "does not start"
    works = found[:1].isdigit()
    return Finding("git", works, found, "the example project and lesson 12", needed=True)


def _course() -> Finding:
    purpose = "lessons, recordings and skills; if they are missing, install learnkit again"
    try:
        place = str(course_files.root())
    except UsageError:
        return Finding("course", False, "missing", purpose, needed=True)
    kind = "a clone" if course_files.checkout() else "the installed package"
    return Finding("course", True, f"{kind}: {place}", purpose, needed=True)


def _copies() -> Finding:
    from learnkit.course.progress import is_copy, working_copy

    place = working_copy()
    found = str(place) if is_copy(place) else f"not yet; it will be {place}"
    purpose = "your copies of the lessons, and your progress; learnkit lab makes it"
    return Finding("working copy", is_copy(place), found, purpose)


def _jupyterlab() -> Finding:
    there = importlib.util.find_spec("jupyterlab") is not None
    found = metadata.version("jupyterlab") if there else "not installed"
    return Finding("JupyterLab", there, found, "opens the lessons; pip install 'learnkit[lab]'")


def _sandbox() -> Finding:
    from learnkit.runtime.shell import BwrapShell

    works = BwrapShell.available()
    found = "works" if works else "not here"
    return Finding("bubblewrap", works, found, "lesson 2: a sandbox (Linux; package bubblewrap)")


def _server() -> Finding:
    address = os.environ.get("ANTHROPIC_BASE_URL", "")
    try:
        host = urlsplit(address).netloc.rpartition("@")[2]  # an address may contain a password
    except ValueError:
        host = ""
    found = host or ("set, but no address" if address else "not set: the API's own")
    works = bool(host or not address)
    return Finding("ANTHROPIC_BASE_URL", works, found, "mode live with a compatible server")

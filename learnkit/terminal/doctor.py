"""What works on this machine: the checks behind ``learnkit doctor``."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from importlib import metadata
from urllib.parse import urlsplit

from learnkit.course import files as course_files
from learnkit.errors import UsageError

#: Servers of the Messages API on this machine: their usual port, a path that only they answer with
#: JSON that has a key, and what they leave out, as docs/live.md says with the sources.
SERVERS = {
    "Ollama": (11434, "/api/version", "version", "tool_choice, prompt cache, PDFs"),
    "LM Studio": (1234, "/api/v1/models", "models", "prompt cache, PDFs; tools as the model can"),
    "llama.cpp": (8080, "/props", "total_slots", "prompt cache, PDFs; tools need --jinja"),
    "vLLM": (8000, "/version", "version", "PDFs; tools need --enable-auto-tool-choice"),
}
#: Seconds that such a server may take.
PATIENCE = 0.5


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
    here = [_python(), _git(), _course(), _copies(), _jupyterlab(), _sandbox()]
    return [*here, _key(), _server(), _model(), *map(_local, SERVERS)]


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    return Finding("Python", good, found, "runs everything; 3.11 or newer", needed=True)


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

    try:
        works = BwrapShell.available()
    except (UsageError, OSError):
        works = False
    found = "works" if works else "not here"
    return Finding("bubblewrap", works, found, "lesson 2: a sandbox (Linux; package bubblewrap)")


def _key() -> Finding:
    there = bool(os.environ.get("ANTHROPIC_API_KEY"))
    found = "set" if there else "not set"
    return Finding("ANTHROPIC_API_KEY", there, found, "only for mode live; lessons need none")


def _server() -> Finding:
    address = os.environ.get("ANTHROPIC_BASE_URL", "")
    try:
        host = urlsplit(address).netloc.rpartition("@")[2]  # an address may contain a password
    except ValueError:
        host = ""
    found = host or ("set, but no address" if address else "not set: the API's own")
    works = bool(host or not address)
    return Finding("ANTHROPIC_BASE_URL", works, found, "mode live with a compatible server")


def _model() -> Finding:
    from learnkit.clients.connect import model_setting

    chosen = "LEARNKIT_MODEL" if os.environ.get("LEARNKIT_MODEL") else "the default"
    return Finding("model", True, f"{model_setting()} ({chosen})", "mode live and record")


def _local(name: str) -> Finding:
    """Whether a server of this name answers where it usually does."""
    port, path, key, left_out = SERVERS[name]
    address = f"http://127.0.0.1:{port}"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{address}{path}", timeout=PATIENCE) as answer:
            there = key in json.loads(answer.read(100_000))
    except (OSError, ValueError, TypeError):  # nobody, or another program
        there = False
    found = f"answers at {address}" if there else f"not at {address}"
    purpose = f"set ANTHROPIC_BASE_URL={address}, any key, LEARNKIT_MODEL; leaves out: {left_out}"
    return Finding(name, there, found, purpose if there else "a model on this machine")

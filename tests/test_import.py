"""``import learnkit`` is cheap, and a name costs only what stands behind it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import learnkit

HEAVY = (
    "anthropic",
    "ipywidgets",
    "anywidget",
    "pydantic",
    "yaml",
    "IPython",
)
#: What a script may touch before it talks to a model.
LIGHT = ("Agent", "EventLog", "TaskBoard", "Mailbox", "SystemClock", "VirtualClock")


def heavy_after(code: str) -> list[str]:
    """The heavy packages that a fresh Python has loaded after some code."""
    ask = f"{code}\nimport json, sys\nprint(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    run = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded: list[str] = json.loads(run.stdout)
    return loaded


def test_import_loads_no_module_of_its_own() -> None:
    code = (
        "import sys, learnkit\nassert [m for m in sys.modules if m.startswith('learnkit.')] == []"
    )
    assert heavy_after(code) == []


def test_light_names_load_nothing_heavy() -> None:
    code = f"import learnkit\nfor name in {LIGHT}:\n    getattr(learnkit, name)"
    assert heavy_after(code) == []


def test_every_public_name_resolves_and_is_cached() -> None:
    for name in learnkit.__all__:
        value = getattr(learnkit, name)
        assert learnkit.__dict__[name] is value
    assert set(learnkit.__all__) <= set(dir(learnkit))


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = learnkit.no_such_name


@pytest.mark.slow
def test_public_names_stay_themselves_once_every_module_is_imported() -> None:
    code = """
import importlib, pkgutil, learnkit
before = {name: getattr(learnkit, name) for name in learnkit.__all__}
for info in pkgutil.walk_packages(learnkit.__path__, 'learnkit.'):
    if not info.name.endswith('.__main__'):
        importlib.import_module(info.name)
changed = [name for name, value in before.items() if getattr(learnkit, name) is not value]
assert changed == [], changed
"""
    assert "anthropic" in heavy_after(code)

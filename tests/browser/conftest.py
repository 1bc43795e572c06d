"""What browser tests share: the course as `learnkit lab` serves it, and a place for pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Page
from project import lessons


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pictures go."""
    return lab.pictures(tmp_path_factory)


@pytest.fixture(scope="module")
def course(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """What the README's first command ends in, with a workbook of its own.

    A module's ENVIRONMENT, if it has one, holds environment variables for it.
    """
    work, scratch = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("lab")
    command = [str(Path(sys.executable).with_name("learnkit")), "lab"]
    env = {"LEARNKIT_WORKBOOK": str(work), **getattr(request.module, "ENVIRONMENT", {})}
    with lab.lab(work, scratch, command, **env) as url:
        copies = {path.name for path in work.glob("*.ipynb")}
        assert copies == {*(path.name for path in lessons()), "start.ipynb", "glossary.ipynb"}
        yield url


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``server``: each module writes notebooks of its own into it."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def server(notebooks: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A plain JupyterLab for notebooks that are not the course's: starting one takes seconds."""
    with lab.lab(notebooks, tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A browser's page for the tests of a module."""
    with lab.browser(1200, 1000) as one:
        yield one

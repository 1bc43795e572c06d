"""What browser tests share: the course as `learnkit lab` serves it, and a place for pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Page, Request
from project import lessons

COPIES = {*(path.name for path in lessons()), "start.ipynb", "glossary.ipynb"}


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pictures go."""
    return lab.pictures(tmp_path_factory)


@pytest.fixture(scope="session", autouse=True)
def one_chromium() -> Iterator[None]:
    """One process for all modules; each module's page has a context of its own."""
    with lab.chromium_for_all():
        yield


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``server``: each module writes notebooks of its own into it."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="session")
def server(notebooks: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the README's first command ends in. One for all modules: starting it takes seconds."""
    command = [str(Path(sys.executable).with_name("learnkit")), "lab"]
    scratch = tmp_path_factory.mktemp("lab")
    with lab.lab(notebooks, scratch, command, LEARNKIT_WORKBOOK=str(notebooks)) as url:
        yield url


@pytest.fixture(scope="session")
def copies(notebooks: Path, server: str) -> dict[Path, bytes]:
    """The working copies that the command has made."""
    made = {path: path.read_bytes() for path in notebooks.iterdir() if path.name in COPIES}
    assert {path.name for path in made} == COPIES
    return made


@pytest.fixture(scope="module")
def course(notebooks: Path, server: str, copies: dict[Path, bytes]) -> str:
    """The course as nobody has touched it: new working copies, no progress, no kernel."""
    for path, content in copies.items():
        path.write_bytes(content)
    (notebooks / "progress.json").unlink(missing_ok=True)
    lab.shut_kernels(server)
    return server


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A browser's page for the tests of a module."""
    with lab.browser(1200, 1000) as one:
        yield one


@pytest.fixture
def loaded(page: Page) -> Iterator[list[str]]:
    """What the page asks for."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith("data:"):
            asked.append(request.url)

    page.on("request", note)
    yield asked
    page.remove_listener("request", note)

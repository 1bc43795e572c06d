"""The promises of ``backends/interface.py``, kept by every backend that needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from memory_backend import MemoryBackend

from learnkit.backends.connect import open_backend
from learnkit.backends.files.backend import FilesBackend
from learnkit.backends.interface import Backend
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.testing import BackendTests


class Now:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)


class ByHand(BackendTests):
    """A backend whose clock is set by hand."""

    now: Now

    def let_pass(self, seconds: float) -> None:
        self.now.seconds += seconds


class TestMemory(ByHand):
    @pytest.fixture
    def backend(self) -> Backend:
        self.now = Now()
        return MemoryBackend(self.now)


class TestFiles(ByHand):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        self.now = Now()
        return FilesBackend(tmp_path, self.now)

    def again(self, backend: Backend) -> Backend:
        assert isinstance(backend, FilesBackend)
        return FilesBackend(backend.root, self.now)


@pytest.mark.slow  # test_sql compares a database with files
class TestSqlite(ByHand):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[Backend]:
        self.now, self.url = Now(), f"sqlite:///{tmp_path / 'team.db'}"
        with closing(self._opened()) as backend:
            yield backend

    def again(self, backend: Backend) -> Backend:
        return self._opened()

    def _opened(self) -> Backend:
        clock = VirtualClock()
        clock.now = self.now  # type: ignore[method-assign]
        return open_backend(self.url, clock=clock, create=True)

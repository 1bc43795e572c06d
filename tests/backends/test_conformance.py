"""The promises of ``backends/interface.py``, kept by every backend that needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from learnkit.backends.connect import open_backend
from learnkit.backends.files.backend import FilesBackend
from learnkit.backends.interface import Backend
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.testing import BackendTests


class ByHand(BackendTests):
    """A backend whose clock is set by hand."""

    clock: VirtualClock

    def let_pass(self, seconds: float) -> None:
        self.clock.sleep(seconds)


class TestFiles(ByHand):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        self.clock = VirtualClock()
        return FilesBackend(tmp_path, self.clock.now)

    def again(self, backend: Backend) -> Backend:
        assert isinstance(backend, FilesBackend)
        return FilesBackend(backend.root, self.clock.now)


@pytest.mark.slow  # test_sql compares a database with files
class TestSqlite(ByHand):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[Backend]:
        self.clock, self.url = VirtualClock(), f"sqlite:///{tmp_path / 'team.db'}"
        with closing(self._opened()) as backend:
            yield backend

    def again(self, backend: Backend) -> Backend:
        return self._opened()

    def _opened(self) -> Backend:
        return open_backend(self.url, clock=self.clock, create=True)

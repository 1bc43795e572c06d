"""PostgreSQL keeps the promises of ``backends/interface.py``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from learnkit.backends.connect import open_backend
from learnkit.backends.interface import Backend
from learnkit.testing import BackendTests


class TestPostgres(BackendTests):
    @pytest.fixture
    def backend(self, address: str) -> Iterator[Backend]:
        self.address = address
        with closing(open_backend(address, create=True)) as backend:
            yield backend

    def again(self, backend: Backend) -> Backend:
        return open_backend(self.address)

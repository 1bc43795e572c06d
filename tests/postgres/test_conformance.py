"""PostgreSQL keeps the promises of ``backends/interface.py``."""

from __future__ import annotations

import pytest
from conformance.promises import BackendTests


class TestPostgres(BackendTests):
    @pytest.fixture
    def url(self, address: str) -> str:
        return address

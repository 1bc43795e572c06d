"""The promises of ``backends/interface.py``, kept by every backend that needs no server."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance.promises import BackendTests


class TestFiles(BackendTests):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"files:{tmp_path / 'team'}"


@pytest.mark.slow  # test_sql and tests/postgres have the same code
class TestSqlite(BackendTests):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'team.db'}"

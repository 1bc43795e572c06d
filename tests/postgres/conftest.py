"""A PostgreSQL server for the tests in this folder, and an empty place in it for each of them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from postgres import Cluster, plain

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server of this run's own."""
    cluster = Cluster()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty schema, on the server that LEARNKIT_TEST_POSTGRES names or on our own."""
    given = os.environ.get("LEARNKIT_TEST_POSTGRES", "")
    with schema(given or request.getfixturevalue("cluster").url()) as address:
        yield address


@pytest.fixture
def own_address(cluster: Cluster) -> Iterator[str]:
    """An empty schema on our own server, which a test may stop."""
    with schema(cluster.url()) as address:
        yield address


@contextmanager
def schema(base: str) -> Iterator[str]:
    """An address whose tables are apart from all others on a server."""
    name = f"learnkit_test_{os.getpid()}_{next(_NUMBERS)}"
    with plain(base) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield f"{base}{'&' if '?' in base else '?'}options=-csearch_path%3D{name}"
    with plain(base) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")

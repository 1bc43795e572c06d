"""A test for each promise of a backend."""

import pytest

pytest.register_assert_rewrite("conformance.boards", "conformance.promises")

"""A part of the tests that take long, and another one with each commit: ``--share 1/4``.

The gate's slow tests, browser tests and rehearsals of lessons together take longer than anybody
waits for a gate. So ``.ci/run`` takes a twelfth of them, chosen by the commit; a stage that
is run by its name, the workflows on GitHub and every night's run take them all.
"""

from __future__ import annotations

import argparse
import re
from typing import NamedTuple
from zlib import crc32

import pytest
from executed import Again

_LESSON = re.compile(r"(?<![a-z0-9])s(\d\d)(?![a-z0-9])")


class Share(NamedTuple):
    """One of several parts.

    Attributes:
        part: which of them, from 0.
        parts: how many there are.
    """

    part: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read ``PART/PARTS``."""
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if found is None or int(found[1]) >= int(found[2]):
            raise argparse.ArgumentTypeError(f"{text!r} is no share: write 0/4, 1/4, 2/4 or 3/4")
        return cls(int(found[1]), int(found[2]))

    def has(self, name: str) -> bool:
        """Whether a test that takes long belongs to this part.

        A lesson's tests stay together, since opening it costs most, and so do those of a module
        in the browser, which share a page.
        """
        if lesson := _LESSON.search(name):
            return int(lesson[1]) % self.parts == self.part
        group = name.partition("::")[0] if name.startswith("tests/browser/") else name
        return crc32(group.encode()) % self.parts == self.part


def takes_long(item: pytest.Item) -> bool:
    """Whether a test is one of those that are divided."""
    slow = item.get_closest_marker("slow") is not None
    return slow or isinstance(item, Again) or item.nodeid.startswith("tests/browser/")

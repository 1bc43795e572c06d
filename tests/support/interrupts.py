"""Ctrl-C at any line: a real SIGINT, just before the main thread runs its n-th line of ours."""

from __future__ import annotations

import dis
import linecache
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Self

import learnkit

OURS = tuple(
    str(Path(learnkit.__file__).parent / part) + "/"
    for part in ("core", "mechanisms", "runtime", "backends")
)


class InterruptAt:
    """Sends a SIGINT, or several, while the block runs; the same number is the same moment again.

    Attributes:
        lines: how many lines the main thread has run.
        where: the place of the last interrupt; empty if the block was over before the first.
        places: where each line is, and as which it was run.
    """

    def __init__(self, *at: int) -> None:
        self._at, self.lines, self.where = sorted(filter(None, at)), 0, ""
        self.places: dict[tuple[str, int], list[int]] = {}

    def __enter__(self) -> Self:
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        return self._line if frame.f_code.co_filename.startswith(OURS) else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if event == "line":
            self.lines += 1
            place = (frame.f_code.co_filename, frame.f_lineno)
            self.places.setdefault(place, []).append(self.lines)
            if self._at and self._at[0] <= self.lines and not _is_between(frame):
                del self._at[0]
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                signal.raise_signal(signal.SIGINT)
        return self._line


def _is_between(frame: FrameType) -> bool:
    """Whether no signal can come at a line: Python looks for one after a call or a jump back.

    A ``try:`` or a ``return`` in it does nothing, and may belong to no block. A with statement that
    is about to end names its line once more, before the call that lets the lock go.
    """
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if operation == "NOP":
        return True
    return line.lstrip().startswith("with ") and operation in ("LOAD_CONST", "PUSH_EXC_INFO")

"""Processes that die by kill -9, at a chosen point of what they do.

``at_every_step`` runs a function in forked processes. The first is killed at its first operation on
the file system, the next at its second, and so on, until one lives to the end. ``while_writing``
lets the kernel kill it after so many bytes of a file.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial

_STEPS = ("open", "os.rename", "os.remove", "os.chmod", "os.utime", "os.mkdir", "fcntl.flock")


def at_every_step(act: Callable[[], object], most: int = 200) -> Iterator[int]:
    """Yield the number of the step at which a process has just died; ends when one has not."""
    for step in range(1, most):
        if not _dies(partial(_arm, step), act):
            return
        yield step
    raise AssertionError(f"it was not done after {most} steps")


def while_writing(act: Callable[[], object], size: int) -> bool:
    """Whether the process died when it came to byte ``size`` of a file."""
    return _dies(lambda: _limit(size), act)


def _dies(prepare: Callable[[], object], act: Callable[[], object]) -> bool:
    with warnings.catch_warnings():  # pytest's workers have threads; the child uses none of them
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            prepare()
            act()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return True
    assert status == 0, f"the process ended with {status}"
    return False


def _arm(step: int) -> None:
    left = step

    def count(event: str, _: object) -> None:
        nonlocal left
        if event in _STEPS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def _limit(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it otherwise
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

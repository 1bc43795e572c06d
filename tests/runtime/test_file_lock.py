"""The lock of threads and processes: who holds it, who waits, and what frees it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from learnkit.runtime.file_lock import held, is_free

_LIMIT = 60.0  # seconds that a test waits for what must happen


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "deep" / ".lock"


def in_a_thread(lock: Path) -> bool:
    """Whether another thread finds the lock free."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(is_free(lock)))
    thread.start()
    thread.join(_LIMIT)
    return found[0]


def test_a_block_that_raises_frees_it(lock: Path) -> None:
    def fail() -> None:
        with held(lock), held(lock):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        fail()
    assert in_a_thread(lock)
    with held(lock) as taken:
        assert taken


def test_a_link_in_its_place_is_refused(lock: Path) -> None:
    lock.parent.mkdir()
    lock.symlink_to(lock.parent.parent / "elsewhere")
    with pytest.raises(OSError, match=r"\.lock"), held(lock):
        pass
    assert not (lock.parent.parent / "elsewhere").exists()


def test_who_waits_for_a_file_that_is_removed_holds_the_new_one(lock: Path) -> None:
    asked, has, end = (threading.Event() for _ in range(3))

    def wait() -> None:
        asked.set()
        with held(lock):
            has.set()
            assert end.wait(_LIMIT)

    waiting = threading.Thread(target=wait)
    with held(lock):
        waiting.start()
        assert asked.wait(_LIMIT)
        assert not has.wait(0.05), "two hold it"
        lock.unlink()
    assert has.wait(_LIMIT)
    assert not is_free(lock)
    end.set()
    waiting.join(_LIMIT)
    assert is_free(lock)


def test_a_child_that_was_forked_meanwhile_does_not_keep_it(lock: Path) -> None:
    end, told = os.pipe()
    with held(lock):
        with (
            warnings.catch_warnings()
        ):  # pytest's workers have threads; the child uses none of them
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.close(told)
            os.read(end, 1)
            os._exit(0)
    try:
        assert is_free(lock)
    finally:
        os.close(told)
        os.waitpid(child, 0)
        os.close(end)


_HOLDER = """
import signal, sys
from learnkit.runtime.file_lock import held
signal.signal(signal.SIGINT, signal.default_int_handler)  # CI's shell ignores it
print("asks", flush=True)
with held(sys.argv[1]):
    print("holds", flush=True)
    sys.stdin.read()
"""


def holder(lock: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "asks\n"
    return process


def test_a_process_that_is_killed_frees_it_and_the_next_one_has_it(lock: Path) -> None:
    first = holder(lock)
    assert first.stdout is not None
    assert first.stdout.readline() == "holds\n"
    assert not is_free(lock)
    second = holder(lock)
    first.kill()
    assert second.stdout is not None
    assert second.stdout.readline() == "holds\n"
    assert not is_free(lock)
    second.communicate()
    first.communicate()
    assert second.returncode == 0
    assert is_free(lock)


def test_ctrl_c_ends_the_wait(lock: Path) -> None:
    with held(lock):
        waiting = holder(lock)
        waiting.send_signal(signal.SIGINT)
        said, error = waiting.communicate(timeout=_LIMIT)
    assert said == ""
    assert "KeyboardInterrupt" in error
    assert is_free(lock)

"""What holds for every test and every notebook: the same surroundings on every machine.

The only place that sets LEARNKIT_STATIC, blocks the network and moves Jupyter's folders, because
``pytest --nbval notebooks`` loads no other conftest. All of it goes through the environment, so
that xdist workers, kernels and their children have it too.
"""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import executed
import forked_kernels
import nbval.kernel
import netblock
import overtaken
import profiles
import pytest
import share
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import local_provisioner

SUPPORT = Path(netblock.__file__).resolve().parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the gate adds to the README's command."""
    parser.addoption(
        "--rehearse",
        action="store_true",
        help="run each scenario of a lesson twice more: at once, and after the later ones",
    )
    parser.addoption(
        "--share",
        type=share.Share.parse,
        metavar="PART/PARTS",
        help="of the tests that take long, only this part, such as 1/4",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment that the tests, the workers and the kernels inherit."""
    profiles.load(config)
    temporary = tempfile.TemporaryDirectory(prefix="lk-", ignore_cleanup_errors=True)
    config.add_cleanup(temporary.cleanup)
    scratch = Path(temporary.name)

    # A key on this machine must neither be used nor change a result.
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        del os.environ[name]
    os.environ.pop("LEARNKIT_BACKEND", None)  # nor may a server that somebody's team is on
    os.environ.pop("VIRTUAL_ENV", None)  # IPython would warn of another one that is activated
    # `python` is ours in a lesson's commands, as in `learnkit lab`: many systems have none.
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    os.environ["PATH"] = os.pathsep.join(programs)
    os.environ["LEARNKIT_STATIC"] = "1"
    os.environ["LEARNKIT_REPRODUCIBLE"] = "1"  # commits without a name and a date of this machine
    os.environ["LEARNKIT_WORKBOOK"] = str(scratch / "workbook")  # nobody's progress is touched

    # One's own Jupyter settings, extensions and history stay out, and stay as they are.
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        folder = scratch / name.lower()
        folder.mkdir()
        os.environ[name] = str(folder)

    # A shell's background jobs ignore interrupts, and so would the tests that send one.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    os.environ[netblock.SWITCH] = "1"
    before = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if str(SUPPORT) not in before:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(SUPPORT), *before])
    netblock.block()
    if seed := os.environ.get(overtaken.SWITCH):
        overtaken.begin(seed)

    nbval.kernel.KernelManager = SocketFileKernelManager
    if sys.platform == "linux":
        local_provisioner.launch_kernel = forked_kernels.launch  # type: ignore[assignment]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[Any, Any, Any]:
    """Keep the garbage collector from the SDK and the test modules: a tenth of a run's time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[Any, Any, Any]:
    """Give every notebook that nbval runs the rules that read its run."""
    found = yield
    return [executed.LessonFile.of(one, file_path, parent) for one in found]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that take long and belong to another share."""
    if (mine := config.getoption("--share")) is None:
        return
    others = [one for one in items if share.takes_long(one) and not mine.has(one.nodeid)]
    config.hook.pytest_deselected(items=others)
    items[:] = [one for one in items if one not in set(others)]


class SocketFileKernelManager(KernelManager):
    """nbval's kernel manager, over socket files instead of TCP ports.

    Jupyter picks five free ports, lets them go, and the kernel binds them a second or more
    later. What binds a port meanwhile, such as the other worker's kernel or a test's server,
    takes it away; the kernel then dies at its start and nbval loses the whole notebook. Linux
    picks from about 14,000 ports: with two workers that is a run of the course in a hundred or so.
    Socket files have names of their own, and nothing to lose them to. nbval passes no
    configuration on to the manager, hence a subclass.
    """

    _numbers = itertools.count(1)

    def __init__(self, **kwargs: Any) -> None:
        # The full name, of which a socket's is made, must stay under 100 characters.
        name = f"k{os.getpid()}-{next(self._numbers)}.json"
        connection_file = str(Path(os.environ["JUPYTER_RUNTIME_DIR"]) / name)
        super().__init__(transport="ipc", connection_file=connection_file, **kwargs)


@pytest.fixture
def no_thread_is_left() -> Iterator[None]:
    """Every thread that the test has started is gone soon after it."""
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + 5
    while left := [one for one in threading.enumerate() if one not in before]:
        assert time.monotonic() < end, left
        time.sleep(0.01)

"""Tests and notebooks cannot reach the network: not here, not in a child, not in a kernel."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import nbval.kernel
import netblock
import pytest
from nbval.kernel import CURRENT_ENV_KERNEL_NAME

# An address and a name that the operating system refuses by itself, so that even with the block
# broken this file sends nothing.
NOWHERE = "255.255.255.255"
CONNECT = f"import socket; socket.socket().connect(('{NOWHERE}', 80))"


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.8.8.8", b"::1", "::ffff:127.0.0.1", None, ""]
)
def test_this_machine_is_recognised(host: object) -> None:
    assert netblock.is_loopback(host)


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "192.0.2.1", "2001:db8::1", "localhost.example", b"192.0.2.1"]
)
def test_everything_else_is_not_this_machine(host: object) -> None:
    assert not netblock.is_loopback(host)


def attempts() -> dict[str, Callable[[], object]]:
    datagram = (b"hello", (NOWHERE, 9))
    return {
        "connect": lambda: socket.socket().connect((NOWHERE, 80)),
        "connect_ex": lambda: socket.socket().connect_ex((NOWHERE, 80)),
        "create_connection": lambda: socket.create_connection((NOWHERE, 80)),
        "sendto": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(*datagram),
        "sendmsg": lambda: socket.socket(type=socket.SOCK_DGRAM).sendmsg(
            [b""], [], 0, (NOWHERE, 9)
        ),
        "getaddrinfo": lambda: socket.getaddrinfo(NOWHERE, 80),
        "gethostbyname": lambda: socket.gethostbyname(NOWHERE),
    }


@pytest.mark.parametrize("name", attempts())
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_in_this_process(name: str) -> None:
    with pytest.raises(netblock.NetworkBlocked, match=r"without a network .*127\.0\.0\.1"):
        attempts()[name]()


def test_loopback_and_unix_sockets_work(tmp_path: Path) -> None:
    for family, address in (
        (socket.AF_INET, ("127.0.0.1", 0)),
        (socket.AF_UNIX, str(tmp_path / "s")),
    ):
        with socket.socket(family) as server, socket.socket(family) as client:
            server.bind(address)
            server.listen()
            client.connect(server.getsockname())
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"hello")
                assert client.recv(5) == b"hello"
    assert socket.getaddrinfo("localhost", 80)


@pytest.mark.slow
def test_in_a_kernel_and_its_child_as_nbval_starts_them() -> None:
    manager, client = nbval.kernel.start_new_kernel(kernel_name=CURRENT_ENV_KERNEL_NAME)
    said: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        said.append(str(message["content"].get("text", "")))

    def run(code: str) -> dict[str, Any]:
        return dict(client.execute_interactive(code, timeout=60, output_hook=hear)["content"])

    try:
        assert manager.transport == "ipc"  # see SocketFileKernelManager in conftest.py
        assert run(CONNECT)["ename"] == "NetworkBlocked"
        child = f"subprocess.run([sys.executable, '-c', {CONNECT!r}], capture_output=True)"
        assert run(f"import subprocess, sys; print({child}.stderr.decode())")["status"] == "ok"
        assert "NetworkBlocked" in "".join(said)
        assert run("import os; assert os.environ['LEARNKIT_STATIC'] == '1'")["status"] == "ok"
        key = "assert not [name for name in os.environ if name.startswith('ANTHROPIC_')]"
        assert run(key)["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_the_settings_reach_a_run_of_only_the_notebooks(tmp_path: Path) -> None:
    """The root conftest.py holds for any notebook below it, with a key in the environment too."""
    root = Path(netblock.__file__).parents[2]
    shutil.copy(root / "conftest.py", tmp_path)
    shutil.copy(root / "pyproject.toml", tmp_path)
    shutil.copytree(root / "tests" / "support", tmp_path / "tests" / "support")
    notebook = nbformat.v4.new_notebook()
    names = ("ANTHROPIC_API_KEY", "LEARNKIT_STATIC")
    code = f"import os\nprint([os.environ.get(name) for name in {names}])"
    printed = nbformat.v4.new_output("stream", name="stdout", text="[None, '1']\n")
    notebook.cells = [
        nbformat.v4.new_code_cell(code, execution_count=1, outputs=[printed]),
        nbformat.v4.new_code_cell(
            f"try:\n    {CONNECT}\nexcept PermissionError as error:\n"
            "    assert 'without a network' in str(error)",
            execution_count=2,
        ),
    ]
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks" / "s00.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-n0", "-q", "notebooks"]
    environment = os.environ | {"ANTHROPIC_API_KEY": "not-a-key"}
    del environment["LEARNKIT_STATIC"], environment["PYTHONPATH"]
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout

"""The sandbox, with real bubblewrap. Collected only where bubblewrap can make sandboxes."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

import pytest
from processes import gone
from threads import beside, once

from learnkit.errors import UsageError
from learnkit.mechanisms.coding import CodingTools
from learnkit.runtime.shell import BwrapShell, LocalShell, ShellResult


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def test_it_runs_commands_like_the_local_shell(workspace: Path) -> None:
    command = "echo hi; echo there >&2; pwd; python -c 'print(6 * 7)'; exit 3"
    assert BwrapShell().run(command, workspace) == LocalShell().run(command, workspace)


def test_only_the_workspace_is_writable(workspace: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    places = [beside, Path.home(), Path("/etc"), Path("/usr"), Path("/var"), Path(sys.prefix)]
    command = "touch inside; " + "; ".join(f"touch {one}/made-by-test && echo oh" for one in places)
    result = BwrapShell().run(command, workspace)
    assert "oh" not in result.output.split()
    assert (workspace / "inside").exists()
    assert not any((place / "made-by-test").exists() for place in places)


def test_further_folders_can_be_made_writable(workspace: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    result = BwrapShell(writable=[repo]).run(f"echo hi >{repo}/file", workspace)
    assert result == ShellResult("", 0)
    assert (repo / "file").read_text() == "hi\n"


def test_a_writable_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no folder .*missing"):
        BwrapShell(writable=[tmp_path / "missing"])


def test_a_link_out_of_the_workspace_cannot_be_written_through(
    workspace: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("old\n")
    (workspace / "link").symlink_to(outside)
    (workspace / "system").symlink_to("/etc/made-by-test")
    result = BwrapShell().run("echo new >link; echo new >system", workspace)
    assert result.code != 0
    assert outside.read_text() == "old\n"
    assert not Path("/etc/made-by-test").exists()


def test_the_read_only_root_cannot_be_made_writable(workspace: Path) -> None:
    command = "mount -o remount,rw / ; umount /tmp; touch /etc/made-by-test && echo oh"
    result = BwrapShell().run(command, workspace)
    assert "oh" not in result.output.split()
    assert not Path("/etc/made-by-test").exists()


def test_it_has_no_privileges(workspace: Path) -> None:
    output = BwrapShell().run("grep CapEff /proc/self/status", workspace).output
    assert int(output.split()[1], 16) == 0


def test_tmp_is_private_and_does_not_last(workspace: Path) -> None:
    shell = BwrapShell()
    name = f"/tmp/learnkit-test-{os.getpid()}"
    assert shell.run(f"echo mine >{name}; cat {name}", workspace).output == "mine\n"
    assert not Path(name).exists()
    assert shell.run(f"cat {name}", workspace).code == 1


def test_there_is_no_network(workspace: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        assert LocalShell().run(connect, workspace).output == "connected\n"
        assert "connected" not in BwrapShell().run(connect, workspace).output.split()


def test_the_sockets_in_run_are_out_of_reach(workspace: Path) -> None:
    assert BwrapShell().run("find /run -type s", workspace) == ShellResult("", 0)


def test_other_processes_are_invisible(workspace: Path) -> None:
    # So the keys in the environment of the process that runs us are out of reach as well.
    output = BwrapShell().run(f"ls -d /proc/{os.getpid()}; echo /proc/[0-9]*", workspace).output
    assert len(output.splitlines()[-1].split()) <= 4


def test_keys_are_not_passed_on(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hidden-value")
    output = BwrapShell().run("env; cat /proc/*/environ", workspace).output
    assert "hidden-value" not in output
    assert "TMPDIR=/tmp" in output


@pytest.mark.parametrize(
    "escape", ["sleep 300 &", "setsid sleep 300 &", "env -i setsid sleep 300 >/dev/null 2>&1 &"]
)
@pytest.mark.parametrize(("then", "timed_out"), [("echo done", False), ("sleep 300", True)])
def test_nothing_stays_behind(workspace: Path, escape: str, then: str, timed_out: bool) -> None:
    # They are found by a name in their arguments, because an environment can be emptied.
    name = f"mark-{os.urandom(6).hex()}"
    command = escape.replace("sleep 300", f"bash -c 'sleep 300; : {name}'")
    command = f"{command} {then}"
    result = BwrapShell().run(command, workspace, timeout=0.5 if timed_out else 60)
    assert result.timed_out == timed_out
    assert gone(name)


def test_stop_ends_it(workspace: Path) -> None:
    stop = threading.Event()
    with beside(once((workspace / "begun").exists, stop.set)):
        result = BwrapShell().run("echo hi; touch begun; sleep 300", workspace, stop=stop)
    assert result == ShellResult("hi\n", None, stopped=True)


def test_the_root_is_refused_as_a_workspace() -> None:
    with pytest.raises(UsageError, match="whole machine"):
        BwrapShell().run("true", "/")


def test_without_bubblewrap_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not BwrapShell.available()
    with pytest.raises(UsageError, match="apt install bubblewrap"):
        BwrapShell()


def test_where_sandboxes_are_forbidden_the_error_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UsageError, match=r"may not make sandboxes .*uid map"):
        BwrapShell()


def test_the_coding_tools_work_in_it(workspace: Path) -> None:
    tools = {tool.name: tool for tool in CodingTools(workspace, shell=BwrapShell()).tools}
    tools["write_file"].run(None, {"path": "hello.py", "content": "print('Hello World')\n"})
    assert tools["bash"].run(None, {"command": "python /workspace/hello.py; pwd"}) == (
        "Hello World\n/workspace"
    )

"""Check an MCP server over stdio as a client would, in both generations of the protocol.

    python probe.py [--call TOOL JSON] [--timeout SECONDS] -- COMMAND [ARGUMENT ...]

Starts the server once for each generation, asks for its tools, and tries what clients get wrong or
servers forget. Prints one line a check; exits 1 if one failed, 2 if the server does not start.
A tool runs only if you name it with --call.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import threading
from typing import Any

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
INFO = {"name": "probe", "version": "1"}


class Silence(Exception):
    """The server did not answer as a server should."""


class Server:
    """A server process, asked one request at a time."""

    def __init__(self, command: list[str], timeout: float, modern: bool) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.timeout, self.modern, self.number = timeout, modern, 0
        self.stray: list[str] = []
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, message: dict[str, Any]) -> None:
        """Send a message without waiting."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Silence(
                "the server has closed its input; run it by hand and read stderr"
            ) from None

    def ask(self, method: str, params: dict[str, Any] | None = None, version: str = MODERN) -> Any:
        """Send a request; return its answer, ``{"result": …}`` or ``{"error": …}``."""
        self.number += 1
        params = dict(params or {})
        if self.modern:
            about = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": INFO}
            params["_meta"] = {META + key: value for key, value in about.items()}
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=self.timeout)
            except queue.Empty:
                raise Silence(f"no answer to {method} within {self.timeout:g} s") from None
            if not line:
                raise Silence(f"the server ended during {method}; run it by hand and read stderr")
            try:
                answer = json.loads(line)
            except ValueError:
                self.stray.append(line.decode(errors="replace").strip()[:80])
                continue
            if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0":
                self.stray.append(line.decode(errors="replace").strip()[:80])
            elif "method" not in answer:  # else a notification, which a server may send
                if answer.get("id") != self.number:
                    wrong = f"id {answer.get('id')!r} where {self.number} was asked"
                    raise Silence(f"the answer to {method} has {wrong}")
                return answer

    def close(self) -> bool:
        """Close its input; whether it ended by itself."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
            self.process.wait(self.timeout)
        except (subprocess.TimeoutExpired, OSError):
            self.process.kill()
            self.process.wait()
            return False
        return True


class Report:
    """Lines of checks, and how many failed."""

    def __init__(self) -> None:
        self.failed = 0

    def line(self, right: bool, what: str, why: object = "") -> bool:
        """Print a check; ``why`` is shown if it failed."""
        self.failed += not right
        print(f"{'ok  ' if right else 'FAIL'} {what}{'' if right or not why else f': {why}'}")
        return right


def check_modern(server: Server, report: Report) -> bool:
    """Discovery and versions of 2026-07-28; False if the server does not speak it."""
    answer = server.ask("server/discover")
    found = answer.get("result", {})
    if MODERN not in found.get("supportedVersions", []):
        print(f"--   the server does not speak {MODERN} ({answer.get('error', 'no such version')})")
        return False
    report.line("tools" in found.get("capabilities", {}), "discovery names the tools capability")
    report.line(found.get("resultType") == "complete", "results have resultType", found)
    error = server.ask("tools/list", version="1900-01-01").get("error", {})
    report.line(error.get("code") == -32022, "an unknown version is refused with -32022", error)
    return True


def check_legacy(server: Server, report: Report) -> bool:
    """The handshake of 2025-11-25; False if the server does not speak it."""
    about = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": INFO}
    answer = server.ask("initialize", about)
    found = answer.get("result", {})
    if "protocolVersion" not in found:
        print(f"--   the server does not answer initialize ({answer.get('error')})")
        return False
    report.line("tools" in found.get("capabilities", {}), "initialize names the tools capability")
    report.line(bool(found.get("serverInfo", {}).get("name")), "initialize names the server")
    server.send({"method": "notifications/initialized"})
    return True


def check_tools(server: Server, report: Report) -> None:
    """The list of tools, and how wrong requests are answered."""
    tools = server.ask("tools/list").get("result", {}).get("tools", [])
    report.line(bool(tools), f"tools/list gives {len(tools)} tools")
    names = [str(tool.get("name")) for tool in tools]
    report.line(len(set(names)) == len(names), "tool names are unique", names)
    for tool, name in zip(tools, names, strict=True):
        schema = tool.get("inputSchema")
        right = re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", name) is not None
        report.line(right, f"{name}: the name has allowed characters")
        words = len(str(tool.get("description", "")).split())
        report.line(words >= 5, f"{name}: the description says something", f"{words} words")
        if not report.line(
            isinstance(schema, dict) and schema.get("type") == "object",
            f"{name}: inputSchema is an object",
            schema,
        ):
            continue
        bare = [k for k, v in schema.get("properties", {}).items() if not v.get("description")]
        report.line(not bare, f"{name}: every parameter is described", ", ".join(bare))
        wrong = {"name": name, "arguments": {"no-such-argument": 1}}
        if schema.get("additionalProperties") is False or schema.get("required"):
            answer = server.ask("tools/call", wrong)
            told = answer.get("result", {}).get("isError") is True
            report.line(told, f"{name}: wrong arguments are a result with isError", answer)
    error = server.ask("tools/call", {"name": "no-such-tool", "arguments": {}}).get("error", {})
    report.line(error.get("code") == -32602, "an unknown tool is refused with -32602", error)
    error = server.ask("no/such/method").get("error", {})
    report.line(error.get("code") == -32601, "an unknown method is refused with -32601", error)


def probe(command: list[str], timeout: float, call: list[str] | None) -> int:
    """Check a server in both generations; return how many checks failed."""
    report, spoken = Report(), 0
    for modern, check in ((True, check_modern), (False, check_legacy)):
        print(f"-- {MODERN if modern else LEGACY}")
        server = Server(command, timeout, modern)
        try:
            if check(server, report):
                spoken += 1
                check_tools(server, report)
                if call:
                    wanted = {"name": call[0], "arguments": json.loads(call[1])}
                    answer = server.ask("tools/call", wanted)
                    report.line("result" in answer, f"{call[0]} was called", answer)
                    print(json.dumps(answer, indent=2, ensure_ascii=False))
        except Silence as silence:
            report.line(False, str(silence))
        report.line(server.close(), "it ends when its input is closed")
        report.line(not server.stray, "stdout carries only JSON-RPC messages", server.stray)
    report.line(spoken > 0, "it speaks a version of the protocol")
    return report.failed


def main() -> int:
    """Run the probe from the command line."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--call", nargs=2, metavar=("TOOL", "JSON"), help="a tool to run")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds to wait for an answer")
    parser.add_argument("command", nargs="+", help="the server, after --")
    arguments = parser.parse_args()
    try:
        failed = probe(arguments.command, arguments.timeout, arguments.call)
        print(f"{failed} checks failed" if failed else "all checks passed", flush=True)
    except BrokenPipeError:  # the report's reader has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        print(f"cannot start {arguments.command[0]!r}: {error}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"the arguments for --call are no JSON: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

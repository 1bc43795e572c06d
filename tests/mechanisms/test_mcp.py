"""MCP: tools of servers that are processes; one that dies, hangs or lies costs a result."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import learnkit as lk

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"
HERE = [sys.executable, str(SERVER)]


def ran(mcp: lk.Mcp, *script: Any) -> tuple[lk.Agent, list[tuple[bool, str]]]:
    with lk.Agent(lk.scripted([*script, lk.say("done")]), [mcp]) as agent:
        agent.run("go")
    ends = [e.data for e in agent.events if e.type == "tool.ended"]
    return agent, [(end["is_error"], end["output"]) for end in ends]


OTHERS: set[psutil.Process] = set()


@pytest.fixture(autouse=True)
def others() -> None:
    """What this process has started before, such as a notebook's kernels."""
    OTHERS.update(psutil.Process().children(recursive=True))


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children(recursive=True) if one not in OTHERS]


def test_a_call_goes_to_the_server_and_its_text_is_framed() -> None:
    mcp = lk.Mcp({"weather": HERE})
    agent, [(failed, text), (refused, wrong), (raised, why)] = ran(
        mcp,
        lk.use("mcp__weather__latest", city="Beijing"),
        lk.use("mcp__weather__latest", town="Beijing"),
        lk.use("mcp__weather__fail"),
    )
    assert not failed
    assert text.startswith('<mcp server="weather">\n31.4 in Beijing < /mcp>')
    assert refused
    assert "Field required" in wrong
    assert raised
    assert "Error executing tool fail" in why
    spec = agent.specs[0]
    assert spec["description"].startswith(
        "From the MCP server weather, in its own words: The latest"
    )
    assert "</mcp>" not in spec["description"]
    assert "text from outside" in agent.system
    assert children() == [], "the server outlived the agent"


def test_a_server_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x" * 20)
    _, [(_, text)] = ran(lk.Mcp({"weather": HERE}), lk.use("mcp__weather__environment"))
    assert "PATH" in text
    assert "ANTHROPIC" not in text


def test_a_server_that_ends_is_a_failed_call_and_is_started_again() -> None:
    agent, results = ran(
        lk.Mcp({"weather": HERE}),
        lk.use("mcp__weather__end"),
        lk.use("mcp__weather__latest", city="Oslo"),
    )
    assert results[0][0]
    assert "the MCP server weather failed" in results[0][1]
    assert not results[1][0]
    assert "31.4 in Oslo" in results[1][1]
    assert [e.data["server"] for e in agent.events if e.type == "mcp.failed"] == ["weather"]


def test_a_server_that_hangs_or_floods_costs_no_more_than_the_limit() -> None:
    mcp = lk.Mcp({"weather": HERE}, limit=3)
    began = time.monotonic()
    _, [(hung, why), (_, flood)] = ran(
        mcp, lk.use("mcp__weather__hang"), lk.use("mcp__weather__big")
    )
    assert hung
    assert "no answer in 3 s" in why
    assert len(flood) < 60_000
    assert time.monotonic() - began < 25
    assert children() == []


def test_an_interrupt_ends_the_waiting() -> None:
    mcp = lk.Mcp({"weather": HERE}, limit=30)
    agent = lk.Agent(lk.scripted([lk.use("mcp__weather__hang"), lk.say("x")]), [mcp])
    with agent:
        threading.Timer(0.5, agent.stop.set).start()
        began = time.monotonic()
        assert agent.run("go").reason == "cancelled"
        assert time.monotonic() - began < 5
    assert children() == []


def test_what_does_not_start_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    quits = [sys.executable, "-c", "print('I am no server')"]
    mcp = lk.Mcp({"gone": [str(tmp_path / "no")], "quits": quits, "weather": HERE}, limit=5)
    agent, [(failed, _)] = ran(mcp, lk.use("mcp__weather__latest", city="Rome"))
    assert not failed
    why = {e.data["server"]: e.data["error"] for e in agent.events if e.type == "mcp.failed"}
    assert why.keys() == {"gone", "quits"}
    assert "No such file" in why["gone"]
    assert "TaskGroup" not in str(why), "the reason, not the group that it came in"


def test_many_tools_are_sent_only_after_a_search() -> None:
    sent: list[set[str]] = []
    script = iter([lk.use("mcp_search", words="wall number77"), lk.use("mcp__weather__tool_77")])

    def model(request: dict[str, Any]) -> Any:
        sent.append({tool["name"] for tool in request["tools"]})
        return next(script, lk.say("done"))

    with lk.Agent(lk.scripted(model), [lk.Mcp({"weather": [*HERE, "200"]})]) as agent:
        agent.run("go")
    assert sent[0] == {"mcp_search"}
    assert "mcp__weather__tool_77" in sent[1]
    assert len(sent[1]) <= 11
    assert [e.data["is_error"] for e in agent.events if e.type == "tool.ended"] == [False, False]


LIAR = """
import json, sys
TOOLS = [
    {"name": "a", "inputSchema": {"type": "object", "anyOf": []}},
    {"name": "b c", "description": "x" * 90_000, "inputSchema": {"type": "object"}},
    {"name": "b_c", "inputSchema": {"type": "object"}},
    {"name": "d", "inputSchema": {"type": "object", "properties": {"p" * 30_000: {}}}},
]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, error = asked["method"], None
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "liar", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    else:
        error = {"code": -32601, "message": "no"}
    answer = {"error": error} if error else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


def test_a_server_that_lies_about_itself_is_offered_only_as_far_as_it_can_be() -> None:
    agent, [(failed, why)] = ran(
        lk.Mcp({"liar": [sys.executable, "-c", LIAR]}, limit=10), lk.use("mcp__liar__b_c")
    )
    assert [spec["name"] for spec in agent.specs] == ["mcp__liar__b_c"]
    assert len(json.dumps(agent.specs)) < 2_000
    (connected,) = (e.data for e in agent.events if e.type == "mcp.connected")
    assert len(connected["problems"]) == 3
    assert failed
    assert "failed" in why


@pytest.fixture
def address() -> Iterator[str]:
    """The server over HTTP, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = (
        f"import sys; sys.path.insert(0, {str(SERVER.parent)!r})\n"
        f"from mcp_server import server; server.run('streamable-http', port={port})"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def test_a_server_over_http(address: str) -> None:
    _, [(failed, text)] = ran(
        lk.Mcp({"weather": address}), lk.use("mcp__weather__latest", city="Cairo")
    )
    assert not failed
    assert "31.4 in Cairo" in text


def test_servers_that_cannot_be_named() -> None:
    for wrong in ({"a b": HERE}, {"a": "python server.py"}, {"a": []}):
        with pytest.raises(lk.UsageError):
            lk.Mcp(wrong)  # type: ignore[arg-type]

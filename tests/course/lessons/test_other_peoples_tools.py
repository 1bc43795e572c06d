"""Lesson b3's two ends of a pipe, each with the official SDK at the other end."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from project import ROOT

import learnkit as lk
from learnkit.course import files
from learnkit.course.agent_file.source import Source
from learnkit.course.lessons.b3.explorable import LISTED, SEARCHED, TOOL, bill

pytestmark = pytest.mark.slow

SERVER = ROOT / "tests" / "support" / "mcp_server.py"


def harbour() -> str:
    """The program that the lesson's cell holds."""
    book = json.loads(files.notebook("b3").read_text("utf-8"))
    names: dict[str, Any] = {}
    (source,) = (
        "".join(c["source"]) for c in book["cells"] if c["source"][0] == 'HARBOUR = """\\\n'
    )
    exec(source, names)
    return str(names["HARBOUR"])


def test_the_officials_client_calls_the_lessons_server(tmp_path: Path) -> None:
    (tmp_path / "harbour.py").write_text(harbour())

    async def asked() -> tuple[list[str], str]:
        started = StdioServerParameters(command=sys.executable, args=[str(tmp_path / "harbour.py")])
        async with Client(stdio_client(started), read_timeout_seconds=20) as client:
            tools = (await client.list_tools()).tools
            result = await client.call_tool("sea", {"place": "Lima"})
            return [tool.name for tool in tools], result.content[0].text  # type: ignore[union-attr]

    assert asyncio.run(asked()) == (["sea"], "Lima: 17.9 °C")


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The file as it is after the lesson; what it has started ends with the test."""
    module = ModuleType("agent")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "offline")
    code = compile(str(Source.reference("b3")), "agent.py", "exec", dont_inherit=True)
    exec(code, module.__dict__)
    module.ROOT = tmp_path  # type: ignore[attr-defined]
    yield module
    module.end()


def test_the_lessons_client_calls_the_officials_server(agent: Any) -> None:
    agent.SERVERS = {"weather": [sys.executable, str(SERVER)]}
    agent.POLICY["mcp"] = "allow"
    lead = agent.Agent()
    assert {"mcp__weather__latest", "read_file"} <= {*lead.tools}
    assert "mcp__weather__latest" not in agent.Agent("child", groups=("read",)).tools

    def called(name: str, **given: Any) -> dict[str, Any]:
        call = {"id": "1", "name": f"mcp__weather__{name}", "input": given}
        result: dict[str, Any] = agent.run_call(lead, call)
        return result

    assert called("latest", city="Oslo")["content"].startswith("31.4 in Oslo")
    assert called("fail")["is_error"]
    for _again in range(2):
        assert called("end")["content"] == "RuntimeError: weather has ended"


#: It says what it was handed, among lines that are no answers.
TALKS = """\
import json, os, sys
for line in sys.stdin:
    id, said = json.loads(line)["id"], json.dumps([os.getcwd(), "A_TOKEN" in os.environ])
    result = {
        "tools": [{"name": "say", "inputSchema": {}}], "content": [{"type": "text", "text": said}]
    }
    print("[info] got a line", 5, [], sep="\\n")
    print(json.dumps({"id": id, "result": result}), flush=True)
"""


def test_a_log_on_stdout_is_no_answer_and_a_server_is_handed_no_key(
    agent: Any, tmp_path: Path
) -> None:
    (tmp_path / "talks.py").write_text(TALKS)
    agent.ENV["A_TOKEN"] = "secret"
    agent.SERVERS = {"talks": [sys.executable, str(tmp_path / "talks.py")]}
    agent.POLICY["mcp"] = "allow"
    call = {"id": "1", "name": "mcp__talks__say", "input": {"agent": "no name for our agent"}}
    assert json.loads(agent.run_call(agent.Agent(), call)["content"]) == ["/", False]


def test_the_text_says_from_how_many_tools_on_searching_pays() -> None:
    text = files.notebook("b3").read_text("utf-8")
    one, three = (
        max(n for n in range(200) if bill(n, times, LISTED) <= bill(n, times, SEARCHED))
        for times in (1, 3)
    )
    assert f"up to {one} with one search, and up to {three} with three" in text


def test_a_tool_of_the_explorable_is_as_long_as_real_ones() -> None:
    sizes = [lk.estimate_tokens(spec) for spec in lk.full_agent(lk.scripted([])).specs]
    assert min(sizes) < TOOL < max(sizes)
